"""The answer after a training: the figures, and the heaviest features by name."""

from __future__ import annotations

import textwrap

from rich.console import Console

from ouzel.cli.ui.formatting import heaviest
from ouzel.evaluation.figures import WIDTH, fitting, settings
from ouzel.evaluation.report import Report
from ouzel.model.model import Model

MOST_CLASSES_SHOWN = 20
LARGE = 1e6  # weights from which on a decimal point says nothing


def show_answer(model: Model, report: Report, top: int) -> None:
    """Print what was found to standard output."""
    console = Console(highlight=False, markup=False, soft_wrap=True)
    console.print()
    console.print(f"{report.learner}  {settings(report.settings)}")
    for name, value in report.facts:
        console.print(f"  {name:<13}{value}")
    if top > 0:
        _show_features(console, model, top)
    for warning in report.warnings:
        console.print("\n" + textwrap.fill(f"warning: {warning}", WIDTH))
    console.print()


def _show_features(console: Console, model: Model, top: int) -> None:
    columns = heaviest(model, top)
    console.print()
    if len(columns) > 1:
        console.print("heaviest features of each class")
        for label, column in columns[:MOST_CLASSES_SHOWN]:
            shown = fitting([f"{name} {weight:+.3g}" for name, weight in column[:top]], WIDTH - 13, "  ")
            console.print(f"  {label!s:<10} " + "  ".join(shown))
        if len(columns) > MOST_CLASSES_SHOWN:
            console.print(f"  … and of {len(columns) - MOST_CLASSES_SHOWN:,} more: ouzel top MODEL")
        return
    label, column = columns[0]
    console.print("heaviest features" + ("" if label is None else f" (positive weights speak for {label})"))
    width = max((len(name) for name, _ in column), default=0)
    for name, weight in column:
        number = f"{weight:+.4f}" if abs(weight) < LARGE else f"{weight:+.4g}"
        console.print(f"  {name:<{min(width, 60)}}  {number:>10}")
