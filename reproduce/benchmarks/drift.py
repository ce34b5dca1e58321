"""Streams that change: eight generators of River, and its seven series with annotated change points."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ouzel.model.model import Model
from ouzel.plotting.axes import Line
from ouzel.streams.memory import blocks_from
from reproduce.benchmarks import change_points
from reproduce.benchmarks.drift_streams import EXAMPLES, WIDTHS, WINDOW, Pairs, concepts, generate
from reproduce.benchmarks.peers import load_stored
from reproduce.benchmarks.plots import draw_grid
from reproduce.benchmarks.river_sets import river_datasets
from reproduce.provenance import DataFolder
from reproduce.writing import listed, markdown_table, write_report

NAME = "drift"
HALF_LIFE = 1000.0
DEFAULT, FORGETS = "Ouzel", f"Ouzel, half-life {HALF_LIFE:g}"
PEERS = {"linear": "River linear", "HAT": "River HAT", "ARF": "River ARF"}
QUICK = ("SEA", "Sine")


def default_errors(pairs: Pairs, forget: float) -> np.ndarray:
    """The share of mistakes in each window by the default, every example predicted before it is learnt."""
    labels = sorted({y for _, y in pairs})
    model = Model("auto", classes=labels, forget=forget)
    margins = np.concatenate([model.learn(block).margins for block in blocks_from(pairs)])
    chosen = margins.argmax(axis=1) if margins.ndim == 2 else (margins > 0.0).astype(int)
    wrong = chosen != np.array([labels.index(y) for _, y in pairs])
    return wrong.reshape(-1, WINDOW).mean(axis=1)


def windowed_errors(name: str, change: str) -> dict[str, np.ndarray]:
    """The share of mistakes in each window, by learner."""
    pairs = generate(name, change)
    known = load_stored()[1][f"{name}, {change}"]
    found = {DEFAULT: default_errors(pairs, 0.0), FORGETS: default_errors(pairs, HALF_LIFE)}
    return found | {title: np.array(known[peer].mistakes) / WINDOW for peer, title in PEERS.items()}


def run(data: DataFolder, output: Path, quick: bool = False, paths: Sequence[Path] = ()) -> None:
    """Write and print both tables; draw the errors over the streams that change at once."""
    river_datasets()
    names = [name for name in concepts() if name in QUICK or not quick]
    found = {(name, change): windowed_errors(name, change) for name in names for change in WIDTHS}
    learners = (DEFAULT, FORGETS, *PEERS.values())
    lines = [
        [name, change, *(f"{of[learner].mean():.4f}" for learner in learners)] for (name, change), of in found.items()
    ]
    for title, part in (("before the change", slice(None, 20)), ("after it", slice(20, None))):
        means = (np.mean([of[learner][part].mean() for of in found.values()]) for learner in learners)
        lines.append([f"mean {title}", "", *(f"{mean:.4f}" for mean in means)])
    series = change_points.forecast_errors(data, quick)
    middles = [WINDOW * (k + 0.5) for k in range(EXAMPLES // WINDOW)]
    panels: dict[str, dict[str, Line]] = {
        name: {learner: (middles, errors.tolist()) for learner, errors in found[name, "abrupt"].items()}
        for name in names
    }
    draw_grid(output / f"{NAME}.png", panels, x="examples", y=f"error of {WINDOW} examples")
    table = "\n\n".join(
        [
            "## Eight generators, two changes",
            markdown_table(["stream", "change", *learners], lines),
            "## Seven series with annotated change points",
            change_points.table(series),
        ]
    )
    version, known = load_stored()
    costs = {title: np.mean([of[peer].seconds for of in known.values()]) for peer, title in PEERS.items()}
    said = [REMARKS, compare_in_words(found), change_points.conclusion(series)]
    said.append(
        f"River's learners are those of {version}, measured once by `python -m reproduce.benchmarks.peers`; a stream "
        f"took {listed([f'{title} {mean:.1f}' for title, mean in costs.items()])} seconds of processor."
    )
    title = "Streams with concept drift: the default learner compared with River's"
    write_report(output, NAME, title, table, " ".join(said), f"ouzel reproduce {NAME}")


def compare_in_words(found: dict[tuple[str, str], dict[str, np.ndarray]]) -> str:
    """Sentence on the geometric mean of the ratios of errors to each other learner, and on the streams won."""
    parts = []
    for rival in (FORGETS, *PEERS.values()):
        ratios = [of[DEFAULT].mean() / of[rival].mean() for of in found.values()]
        count = sum(ratio < 1.0 for ratio in ratios)
        mean = np.exp(np.mean(np.log(ratios)))
        parts.append(f"{mean:.3f} of those of {rival} (fewer on {count} of {len(ratios)} streams)")
    return f"In the geometric mean the default's mistakes are {listed(parts)}."


REMARKS = """
10,000 examples of each stream with fixed seeds, each predicted before it is learnt; the concept changes in the
middle, within 50 examples or 2,000, joined by River's ConceptDriftStream. The concepts are Agrawal's functions 0 and 3,
two random hyperplanes of 10 features, a display whose seven segments change places with irrelevant ones (10 % noise, 10
classes), Mixed's and Sine's functions 0 and 1, which are opposites, two draws of 20 centroids, SEA's variants 0 and 3
with 10 % noise, and STAGGER's rules 0 and 1. River's logistic regression stands behind its StandardScaler; ARF has 10
trees. The picture is of the changes within 50 examples.
"""
