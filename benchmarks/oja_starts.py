"""Where Oja's sketch begins, without the diagonal: at random, at the first features, or at what another sketch found.

Frequent Directions learn the first 2m examples, and Oja's directions begin at theirs. Square loss, one pass in the
order of the file, the best of the steps 2^-16 to 2^10 and of both rates of turning. Errors; those of Frequent
Directions for the whole pass beside them.

`--left` prints how much of a random start is left after some examples, of `son-oja` at its defaults: the part of the
directions' squared length that no feature has yet.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from default_sets import sets

from ouzel.model.model import Model
from ouzel.sketches.spectral.oja import vectors
from ouzel.sketches.spectral.starting_directions import start_given
from ouzel.streams.block import Block
from reproduce.provenance import DataFolder
from reproduce.sketched_newton.runs import CURVATURE, PRINTED, best_pass
from reproduce.sketched_newton.sets import names_and_blocks

SIZE = 10
STEPS = [2.0**k for k in range(-16, 11)]
SETS = "australian", "breast-cancer", "diabetes", "heart", "ijcnn1", "mushrooms", "splice"
LEFT = ["ijcnn1", "mushrooms", "rcv1_binary_sample", "20news"]
PLAIN = {"sketch_size": SIZE, "diagonal": False}


def model_of(learner: str, step: float, **settings: Any) -> Model:
    """A model as those of the paper's experiments."""
    given = {"loss": "squared", "curvature": CURVATURE, "largest": 1.0, **PRINTED, "learning_rate": step}
    return Model(learner, task="classification", classes=[-1, 1], standardize=False, **{**given, **PLAIN, **settings})


def error_from_directions(block: Block, step: float, by_mass: bool) -> float:
    """The error of a pass that begins at the directions of Frequent Directions after 2m examples."""
    first = model_of("son-fd", step)
    first.learn(block.slice(0, 2 * SIZE))
    found = first.module.directions(first.states[0])
    model = model_of("son-oja", step, by_mass=by_mass)
    rows = block.slice(0, block.rows)
    model.learn(rows.slice(0, 1)._replace(values=np.zeros_like(rows.slice(0, 1).values)))  # which makes its state
    used = np.flatnonzero(np.abs(found).max(axis=0, initial=0.0) > 0.0)
    basis = np.linalg.qr(found[:, used].T)[0].T
    sketch = model.states[0].sketch
    room = sketch.pool.shape[0]
    vectors = np.zeros((room, len(used)))
    vectors[: min(room, len(basis))] = basis[:room]
    sketch.table[:], sketch.counts[:] = 0.0, 0.0
    start_given(sketch, used.astype(np.uint32), vectors)
    margins = model.learn(block).margins
    return float(np.mean(~(margins * block.labels > 0.0)))


def print_left(folder: Path) -> None:
    """Print which part of a random start is left after 1, 10, ... examples."""
    counts = [10**k for k in range(5)]
    print("| set | " + " | ".join(f"{count:,}" for count in counts) + " |\n| --- " + "| ---: " * len(counts) + "|")
    for one in sets(folder, LEFT):
        labels = (one.block.labels > one.block.labels.min()).astype(float)
        block, model = one.block._replace(labels=labels), Model("son-oja", classes=[0, 1])
        parts: list[float] = []
        learnt = 0
        for count in counts:
            model.learn(block.slice(learnt, min(count, block.rows)))
            learnt = min(count, block.rows)
            state: Any = model.states[0]
            parts.append(1.0 - float((vectors(state.sketch) ** 2).sum()) / SIZE)
        print(f"| {one.name} | " + " | ".join(f"{part:.2g}" for part in parts) + " |", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default="../shared/data")
    parser.add_argument("--left", action="store_true")
    given = parser.parse_args()
    if given.left:
        print_left(Path(given.data))
        return
    data = DataFolder(Path(given.data))
    print(
        "| set | m = 0 | random | first-seen | by Frequent Directions | Frequent Directions |\n"
        + "| --- "
        + "| ---: " * 5
        + "|"
    )
    for name, block in names_and_blocks(data, SETS, ()):
        none = best_pass("son-oja", STEPS, block, sketch_size=0, diagonal=False).error
        rates = [{"by_mass": False}, {"by_mass": True}]
        starts = [
            min(best_pass("son-oja", STEPS, block, start=start, **PLAIN, **rate).error for rate in rates)
            for start in ("random", "first-seen")
        ]
        found = min(error_from_directions(block, step, rate["by_mass"]) for step in STEPS for rate in rates)
        other = best_pass("son-fd", STEPS, block, **PLAIN).error
        print(f"| {name} | " + " | ".join(f"{error:.4f}" for error in (none, *starts, found, other)) + " |", flush=True)


if __name__ == "__main__":
    main()
