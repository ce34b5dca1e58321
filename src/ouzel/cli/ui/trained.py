"""What becomes of a training: the curve is drawn, its figures are added to a table, and the answer is told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ouzel.cli.ui.outcome import Written, hand_over
from ouzel.cli.ui.table_rows import added_to

if TYPE_CHECKING:
    from ouzel.evaluation.report import Report
    from ouzel.model.model import Model


class Asked(NamedTuple):
    """What is asked of a training, beside its model."""

    plot: str | None
    to: str | None
    top: int
    as_json: bool


class Figures(Protocol):
    """What there is to say of a training beside its report."""

    @property
    def facts(self) -> list[str]:
        """For people."""

    def to_json(self) -> dict[str, Any]:
        """For programs."""


def tell(
    asked: Asked,
    report: Report,
    model: Model,
    files: Sequence[str],
    output: str | None,
    saved: Written,
    more: Mapping[str, Figures | None] = MappingProxyType({}),
) -> None:
    """Hand over what a training of `files` has come to, with `more` if there is any; `saved` says of its file."""
    figures = {name: given for name, given in more.items() if given is not None}

    def draw(path: str) -> None:
        from ouzel.cli.commands.analysis import titled

        report.plot(path, f"{titled(files)}, {report.examples:,} examples")

    def answer() -> dict[str, Any]:
        added = {name: given.to_json() for name, given in figures.items()}
        return {**report.to_json(), "model": output, **added}

    def show() -> None:
        from ouzel.cli.ui.summary import show_answer

        show_answer(model, report, asked.top)
        for given in figures.values():
            print("\n".join(given.facts))

    added = added_to(asked.to, files, lambda: [{"model": output, **vars(report)}])
    hand_over([saved, (asked.plot, "curve drawn in", draw), added], answer if asked.as_json else None, show)
