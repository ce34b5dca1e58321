"""CapyMOA's figures of the electricity stream, six columns in their own order, compared with the default."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ouzel.comparison.shuffles import join
from ouzel.estimators.online import OnlineClassifier
from ouzel.evaluation.progressive import progressive_validation
from ouzel.streams.read import read
from reproduce.benchmarks.plots import draw_strips
from reproduce.benchmarks.published import CAPYMOA
from reproduce.provenance import DataFolder
from reproduce.writing import listed, markdown_table, write_report

NAME = "capymoa"
DEFAULT = "**Ouzel**"
OURS: dict[str, dict[str, Any]] = {
    DEFAULT: {},
    "**Ouzel, half-life 1000**": {"forget": 1000.0},
    "**Ouzel, pa1 standardised**": {"learner": "pa1", "standardize": True},
}
FILE = "electricity.csv.xz"


def run(data: DataFolder, output: Path, quick: bool = False, paths: Sequence[Path] = ()) -> None:
    """Write and print the table: a line a model and a set, best first; draw the errors."""
    with read(str(data / FILE), label="class") as stream:
        whole = join(stream)
    lines, strips, places = [], {}, []
    for name, published in list(CAPYMOA.items())[: 1 if quick else None]:
        block = whole.select(np.arange(published.rows))
        ours = {
            title: 1.0 - float(progressive_validation(OnlineClassifier(**given), [block]).error_rate or 0.0)
            for title, given in OURS.items()
        }
        order = sorted({**published.accuracies, **ours}.items(), key=lambda entry: -entry[1])
        lines += [[name, f"{block.rows:,}", model, f"{accuracy:.4f}"] for model, accuracy in order]
        better = [model for model, accuracy in published.accuracies.items() if accuracy > ours[DEFAULT]]
        place = f"{1 + len(better)} of {1 + len(published.accuracies)} on {name}"
        places.append(f"{place}, behind {listed(better)}" if better else place)
        errors = [1.0 - accuracy for accuracy in published.accuracies.values()]
        strips[name] = (errors, 1.0 - ours[DEFAULT])
    draw_strips(output / f"{NAME}.png", strips, "error, the default's = 1", ("CapyMOA's", "Ouzel, no setting"))
    table = markdown_table(["set", "examples", "model", "accuracy"], lines)
    sources = listed([f"{name} of {published.where}" for name, published in CAPYMOA.items()])
    said = f"{REMARKS} Published: {sources}. Rank of the default: {'; '.join(places)}."
    write_report(
        output, NAME, "CapyMOA's benchmark on electricity, compared with the default learner", table, said, COMMAND
    )


COMMAND = f"ouzel reproduce {NAME}"
REMARKS = """
Progressive, in the file's own order, without the date and the day of the week, as CapyMOA has them: its tiny set is the
first 2,000 examples of the whole one. Not repeated are its Fried sets, which it fetches from the network.
"""
