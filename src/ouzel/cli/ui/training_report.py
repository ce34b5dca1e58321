"""Output of a training: the plotted curve, metrics added to a table, and the report with the important features."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ouzel.cli.ui.outputs import Written, added_to, titled, write_outputs
from ouzel.evaluation.formatting import WIDTH, feature_lines, fitting, named, ranking, settings
from ouzel.model.importance import most_important

if TYPE_CHECKING:
    from rich.console import Console

    from ouzel.evaluation.report import Report
    from ouzel.model.model import Model

MOST_CLASSES_SHOWN = 20


class OutputOptions(NamedTuple):
    """Options of the output of a training, apart from its model."""

    plot: str | None
    to: str | None
    top: int
    as_json: bool


class Figures(Protocol):
    """Further figures of a training."""

    @property
    def facts(self) -> list[str]:
        """Lines for a screen."""

    def to_json(self) -> dict[str, Any]:
        """Return the figures as JSON values."""


def report_training(
    options: OutputOptions,
    report: Report,
    model: Model,
    files: Sequence[str],
    output: str | None,
    saved: Written,
    more: Mapping[str, Figures | None] = MappingProxyType({}),
) -> None:
    """Write the outputs of a training on `files`, with `more` figures; `saved` is the output of its model file."""
    figures = {name: given for name, given in more.items() if given is not None}

    def draw(path: str) -> None:
        report.plot(path, f"{titled(files)}, {report.examples:,} examples")

    def answer() -> dict[str, Any]:
        added = {name: given.to_json() for name, given in figures.items()}
        return {**report.to_json(), "model": output, **added}

    def show() -> None:
        show_answer(model, report, options.top)
        for given in figures.values():
            print("\n".join(given.facts))

    added = added_to(options.to, files, lambda: [{"model": output, **vars(report)}])
    write_outputs([saved, (options.plot, "curve drawn in", draw), added], answer if options.as_json else None, show)


def show_answer(model: Model, report: Report, top: int) -> None:
    """Print the summary to standard output."""
    from rich.console import Console

    console = Console(highlight=False, markup=False, soft_wrap=True)
    console.print()
    console.print(textwrap.fill(f"{report.learner}  {settings(report.settings)}", WIDTH, subsequent_indent="  "))
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
