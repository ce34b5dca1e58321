"""Summary after a training: metrics, and the most important features by name."""

from __future__ import annotations

import textwrap

from rich.console import Console

from ouzel.evaluation.formatting import WIDTH, feature_lines, fitting, named, ranking, settings
from ouzel.evaluation.report import Report
from ouzel.model.importance import most_important
from ouzel.model.model import Model

MOST_CLASSES_SHOWN = 20


def show_answer(model: Model, report: Report, top: int) -> None:
    """Print the summary to standard output."""
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
    columns = named(most_important(model, top))
    console.print()
    if len(columns) > 1:
        by = "" if model.budgeted else " (effect of one standard deviation)"
        console.print(f"{ranking(model)} features of each class{by}")
        for label, column in columns[:MOST_CLASSES_SHOWN]:
            shown = fitting(
                [f"{feature.name} {feature.effect:+.3g}" for feature in column[:top] if feature.effect],
                WIDTH - 13,
                "  ",
            )
            console.print(f"  {label!s:<10} " + "  ".join(shown))
        if len(columns) > MOST_CLASSES_SHOWN:
            console.print(f"  … and of {len(columns) - MOST_CLASSES_SHOWN:,} more: ouzel top MODEL")
        return
    label, column = columns[0]
    console.print(f"{ranking(model)} features" + ("" if label is None else f" (positive weights speak for {label})"))
    for line in feature_lines(column):
        console.print(line)
