"""River's learners on the streams that change, measured once: they take minutes, so their figures are stored.

`python -m reproduce.benchmarks.peers` measures them anew and writes `peers.toml`.
"""

from __future__ import annotations

import argparse
import os
import tomllib
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from reproduce.benchmarks.drift_streams import EXAMPLES, SEED, WIDTHS, WINDOW, Pairs, concepts, generate

STORED = Path(__file__).with_suffix(".toml")
TREES = 10


class Peer(NamedTuple):
    """Mistakes in each window of a stream, and seconds of processor that the stream took."""

    mistakes: list[int]
    seconds: float

    @property
    def error(self) -> float:
        """The share of mistakes."""
        return sum(self.mistakes) / (WINDOW * len(self.mistakes))


def models(classes: int) -> dict[str, Callable[[], Any]]:
    """Return constructors of the learners, at their defaults but for the number of trees and the seed.

    They are logistic regression behind a scaler, of several classes one against the rest, the Hoeffding adaptive tree,
    and the adaptive random forest.
    """
    from river import forest, linear_model, multiclass, preprocessing, tree

    def linear() -> Any:
        one: Any = linear_model.LogisticRegression()
        return preprocessing.StandardScaler() | (multiclass.OneVsRestClassifier(one) if classes > 2 else one)

    return {
        "linear": linear,
        "HAT": lambda: tree.HoeffdingAdaptiveTreeClassifier(seed=SEED),
        "ARF": lambda: forest.ARFClassifier(n_models=TREES, seed=SEED),
    }


def windowed_mistakes(model: Any, pairs: Pairs) -> list[int]:
    """Mistakes of a model of River in each window, every example predicted before it is learnt."""
    found = [0] * (len(pairs) // WINDOW)
    for number, (x, y) in enumerate(pairs):
        found[number // WINDOW] += model.predict_one(x) != y
        model.learn_one(x, y)
    return found


def load_stored() -> tuple[str, dict[str, dict[str, Peer]]]:
    """River's version, and what its learners did: by the stream, as `SEA, abrupt`, and the name of the learner."""
    told = tomllib.loads(STORED.read_text())
    return told["river"], {
        stream: {name: Peer(**figures) for name, figures in found.items()} for stream, found in told["streams"].items()
    }


def main() -> None:
    """Measure, and write the file; what is measured is printed as it comes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=STORED)
    given = parser.parse_args()
    lines = [
        "# By `python -m reproduce.benchmarks.peers`: mistakes in each window, seconds of processor of a stream.",
        f'river = "{version("river")}"',
        f"examples = {EXAMPLES}",
        f"window = {WINDOW}",
    ]
    for stream in concepts():
        for change in WIDTHS:
            lines += ["", f'[streams."{stream}, {change}"]']
            pairs = generate(stream, change)
            for name, make in models(len({y for _, y in pairs})).items():
                begun = os.times().user
                found = windowed_mistakes(make(), pairs)
                lines.append(f"{name} = {{ mistakes = {found}, seconds = {os.times().user - begun:.1f} }}")
                print(stream, change, name, sum(found) / len(pairs), flush=True)
    given.output.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
