"""Regret of the learners of a comparison: their total loss, less that of the best fixed weights in hindsight.

The loss of each example is that of the prediction made before it was learnt, times its importance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ouzel.comparison.hindsight import CONVEX, REACH, Fixed, Point, Regret, best_fixed
from ouzel.comparison.regret_bounds import THEOREMS, Examples, bound_of, within_bound
from ouzel.comparison.shuffles import join
from ouzel.errors import OuzelError
from ouzel.evaluation.formatting import figure
from ouzel.learners.rows import to_rows
from ouzel.streams.block import Block
from ouzel.terms.names import name_of

if TYPE_CHECKING:
    from ouzel.comparison.one_pass import Entry

RIDGES = (1.0, 10.0, 100.0, 1000.0)  # of smaller weights, against which a bound may be lower
FIRST = 64  # examples after which the regret is first computed; then whenever they have doubled


class Recorder:
    """The blocks of a stream that learners learn in one pass, kept to find the best fixed weights when it is over."""

    def __init__(self, task: str | None, shuffles: int, delay: int | str) -> None:
        """Refuse a comparison that has no regret of linear predictors."""
        if task == "ranking":
            raise OuzelError("regret is that of numbers or of two classes, and a ranking learns pairs; leave it out")
        if shuffles or delay:
            given: dict[str, Any] = {"shuffles": shuffles} if shuffles else {"delay": delay}
            raise OuzelError("regret is that of one pass with all labels at hand; leave out", **given)
        self.blocks: list[Block] = []

    def record(self, stream: Iterable[Block]) -> Iterator[Block]:
        """Pass on a stream's blocks, and keep them."""
        for block in stream:
            self.blocks.append(block)
            yield block

    def check(self, entries: Sequence[Entry]) -> None:
        """Refuse learners of which none has a convex loss, and a third class as soon as it has come."""
        with_loss = [entry for entry in entries if _has_regret(entry)]
        if not with_loss:
            known = ", ".join(name_of(kind()) for kind in CONVEX)
            raise OuzelError(f"regret is that of a convex loss ({known}), which none of these learners has")
        model = with_loss[0].model
        if not model.task.numbers and (count := len(model.classes)) > 2:
            raise OuzelError(f"regret is that of numbers or of two classes; this stream has {count} or more")

    def checking(self, on_progress: Callable[[list[Entry]], None] | None) -> Callable[[list[Entry]], None]:
        """Return a callback that checks the entries first."""

        def check(entries: list[Entry]) -> None:
            self.check(entries)
            if on_progress is not None:
                on_progress(entries)

        return check

    def add_regrets(self, entries: Sequence[Entry], on_best: Callable[[int, int], None] | None = None) -> None:
        """Give each entry with a convex loss its regret; `on_best` gets examples whose best weights are sought, of all.

        Best weights are sought once for each loss.
        """
        of_loss: dict[Any, list[Entry]] = {}  # by kind too: losses without parameters are equal tuples
        for entry in filter(_has_regret, entries):
            of_loss.setdefault((type(entry.model.loss), entry.model.loss), []).append(entry)
        if not self.blocks or not of_loss:
            return
        first = next(iter(of_loss.values()))[0]
        examples = examples_of(join(self.blocks), first.model, first.model.intercept)
        for (_, loss), group in of_loss.items():
            best = best_over_time(examples, loss, on_best)
            bounded = any(entry.model.learner.name in THEOREMS for entry in group)
            smaller = {stop: smaller_than(best[stop], examples.first(stop), loss) if bounded else [] for stop in best}
            for entry in group:
                entry.regret = _regret_of(entry, examples, best, smaller)


def _has_regret(entry: Entry) -> bool:
    return isinstance(getattr(entry.model, "loss", None), CONVEX)  # another library's learner has none


def examples_of(block: Block, model: Any, intercept: bool) -> Examples:
    """The labelled examples of a block; features are numbered anew, without gaps."""
    from scipy.sparse import csr_array

    block = block.labelled()
    rows = to_rows(block.offsets, block.indices, block.values, intercept, np.uint64(1 << 40))
    slots, columns = np.unique(rows.indices, return_inverse=True)
    parts = rows.values.astype(np.float64), columns.astype(np.int32), rows.offsets.astype(np.int32)
    targets = block.labels
    if not model.task.numbers:
        targets = 2.0 * (model.classes.known_positions(block.labels, block.label_names) == 1) - 1.0
    matrix = csr_array(parts, shape=(block.rows, len(slots)))
    return Examples(matrix, np.asarray(targets, np.float64), block.weights.astype(np.float64))


def best_over_time(
    examples: Examples, loss: Any, on_best: Callable[[int, int], None] | None = None
) -> dict[int, Fixed]:
    """The best fixed weights of the first 64, 128, 256, … examples, and of all."""
    rows, found = len(examples.targets), dict[int, Fixed]()
    stops = [FIRST << k for k in range(40) if FIRST << k < rows]
    for stop in [*stops, rows]:
        last = next(reversed(found.values()), None)
        if on_best is not None:
            on_best(stop, rows)
        start = last.weights if last is not None and not last.ridge else None
        found[stop] = best_fixed(
            examples.matrix[:stop], examples.targets[:stop], examples.importances[:stop], loss, start
        )
    return found


def smaller_than(best: Fixed, examples: Examples, loss: Any) -> list[Fixed]:
    """The best weights with each ridge."""
    found = [best]
    for ridge in RIDGES:
        found.append(best_fixed(*examples, loss=loss, start=found[-1].weights, ridge=ridge))
    return found[1:]


def note_on(entries: Sequence[Entry]) -> str:
    """Lines on the regrets of a table: what they are against, how exact that is, and whose the bounds are."""
    best = {name_of(entry.model.loss): entry.regret.best for entry in entries if entry.regret is not None}
    lines = []
    for loss, fixed in best.items():
        line = f"regret: total {loss} loss above {figure(fixed.loss)}, that of the best fixed weights in hindsight"
        if fixed.ridge:
            line += f" with a ridge of {fixed.ridge:g}: {fixed.reason}"
        else:
            line += f" (weights of up to {REACH:g} times their norm are better by at most {figure(fixed.within)})"
        lines.append(line)
    theorems = {entry.regret.theorem for entry in entries if entry.regret is not None and entry.regret.theorem}
    return "\n".join([*lines, *(f"bound: on the regret, by {theorem}" for theorem in sorted(theorems))])


def _regret_of(entry: Entry, examples: Examples, best: dict[int, Fixed], smaller: dict[int, list[Fixed]]) -> Regret:
    losses = {point.examples: point.loss for point in entry.curve.points}
    margins = np.concatenate(entry.margins or [np.empty(0)])
    curve = []
    for stop in [stop for stop in best if stop in losses]:
        first, least, bounds = examples.first(stop), best[stop].loss, []
        for fixed in [best[stop], *smaller[stop]]:
            weights, loss = within_bound(entry.model, first, fixed)
            bound = bound_of(entry.model, first, margins[:stop], weights)
            bounds += [] if bound is None else [bound + loss - least]
        curve.append(Point(stop, losses[stop] - least, min(bounds, default=None)))
    return Regret(best[stop], curve, THEOREMS[entry.model.learner.name] if bounds else None)
