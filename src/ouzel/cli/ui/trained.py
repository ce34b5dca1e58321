"""What becomes of a training: the curve is drawn, its figures are added to a table, and the answer is told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ouzel.cli.ui.outcome import Written, hand_over
from ouzel.cli.ui.table_rows import added_to

if TYPE_CHECKING:
    from ouzel.distributed.spread import Spread
    from ouzel.evaluation.report import Report
    from ouzel.model.model import Model


class Asked(NamedTuple):
    """What is asked of a training, beside its model."""

    plot: str | None
    to: str | None
    top: int
    as_json: bool


def tell(
    asked: Asked,
    report: Report,
    model: Model,
    files: Sequence[str],
    output: str | None,
    saved: Written,
    spread: Spread | None = None,
) -> None:
    """Hand over what a training of `files` has come to; `saved` says of its model's file, `output`."""

    def draw(path: str) -> None:
        from ouzel.plotting.curves import draw_training

        draw_training(report, path)

    def answer() -> dict[str, Any]:
        more = {} if spread is None else {"spread": spread.to_json()}
        return {**report.to_json(), "model": output, **more}

    def show() -> None:
        from ouzel.cli.ui.summary import show_answer

        show_answer(model, report, asked.top)
        if spread is not None:
            print("\n".join(spread.facts))

    added = added_to(asked.to, files, lambda: [{"model": output, **vars(report)}])
    hand_over([saved, (asked.plot, "curve drawn in", draw), added], answer if asked.as_json else None, show)
