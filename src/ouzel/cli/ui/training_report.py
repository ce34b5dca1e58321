"""Output of a training: the plotted curve, metrics added to a table, and the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ouzel.cli.ui.outputs import Written, added_to, titled, write_outputs

if TYPE_CHECKING:
    from ouzel.evaluation.report import Report
    from ouzel.model.model import Model


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
        from ouzel.cli.ui.summary import show_answer

        show_answer(model, report, options.top)
        for given in figures.values():
            print("\n".join(given.facts))

    added = added_to(options.to, files, lambda: [{"model": output, **vars(report)}])
    write_outputs([saved, (options.plot, "curve drawn in", draw), added], answer if options.as_json else None, show)
