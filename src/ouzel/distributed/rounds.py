"""Training in rounds over an engine.

A round begins from one model. Of every lane the next examples are learnt from it, side by side; what they have gained
is added up in a tree, and the model of the next round is the base with the sum. Lanes, examples and the tree follow
from the data and the settings, so that the model does not depend on who has learnt what, nor how often it was done.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from ouzel import __version__
from ouzel.distributed import tasks
from ouzel.distributed.engine import Engine
from ouzel.distributed.outcomes import in_classes
from ouzel.distributed.packing import packed, unpacked
from ouzel.distributed.partitions import Plan
from ouzel.distributed.reading import Position
from ouzel.distributed.spread import Spread
from ouzel.errors import OuzelError
from ouzel.evaluation.progressive import Run
from ouzel.evaluation.report import Report
from ouzel.model.model import Model
from ouzel.model.room import capacity_for
from ouzel.model.rounds import Shape, common, require_rounds
from ouzel.streams.options import Options

MERGE_EVERY, LANES = 10_000, 8
FIRST_ROUND = 128  # examples; each round has twice as many as the one before, up to what is asked for


class Training:
    """One training in rounds: where its lanes stand, what it has counted, and the model it has come to."""

    def __init__(
        self,
        engine: Engine,
        plan: Plan,
        model: Model,
        options: Options,
        *,
        merge_every: int = MERGE_EVERY,
        holdout_every: int = 0,
    ) -> None:
        require_rounds(model)
        self.engine, self.plan, self.options = engine, plan, options
        self.merge_every, self.holdout_every = merge_every, holdout_every
        self.base = packed(model)
        self.run = Run(model, holdout_every=holdout_every)
        self.positions = [Position() for _ in plan.lanes]
        self.rows = [0 for _ in plan.lanes]
        self.ended = [False for _ in plan.lanes]
        self.rounds = 0
        self.spread = Spread()
        self.remarks: list[str] = []
        self.noticed: dict[str, str] = {}  # of the data: a line of each kind
        self.saved = 0  # the round that is on disk
        self._begun: tuple[Any, dict[int, Any]] | None = None  # the base of the next round, and what learns from it

    @property
    def model(self) -> Model:
        """The model as it is now."""
        return self.run.model

    @property
    def finished(self) -> bool:
        """Whether every lane has ended."""
        return all(self.ended)

    def round(self) -> None:
        """Learn the next examples of every lane, and merge. Workers are in the round behind it when it is counted."""
        started = time.perf_counter()
        base, learnt = self._begun or self._begin()
        self._begun = None
        going = list(learnt)
        said = {k: self.engine.result(self.engine.submit(tasks.said_of, learnt[k])) for k in going}
        shape = common([said[k].shape for k in going])
        for k in going:
            if not self._fits(said[k].shape, shape):
                learnt[k] = self._learn(base, k, shape)
        heard = [k for k in going if said[k].rows]
        if heard:
            names = [name for k in heard for name in said[k].names]
            total = self._tree([learnt[k] for k in heard])
            merged = self.engine.submit(tasks.settled, base, total, shape, names)
            self.base = self.engine.result(merged)
        self.rounds += 1
        for k in going:
            self.positions[k], self.ended[k] = said[k].behind, said[k].ended
            self.rows[k] += said[k].rows
        try:
            if self.engine.elsewhere and not self.finished:
                self._begun = self._begin()
        finally:
            self._take_note(said, shape)
        self.spread.add([said[k] for k in going], len(self.base), time.perf_counter() - started)

    def _begin(self) -> tuple[Any, dict[int, Any]]:
        """Have the next examples of every lane learnt from the base."""
        base = self.engine.share(self.base)
        return base, {k: self._learn(base, k, None) for k, ended in enumerate(self.ended) if not ended}

    def _learn(self, base: Any, lane: int, shape: Shape | None) -> Any:
        work = tasks.Work(
            __version__,
            self.plan.lanes[lane],
            self.positions[lane],
            min(self.merge_every, FIRST_ROUND << min(self.rounds, 40)),
            self.options,
            self.holdout_every,
            self.rows[lane],
            shape,
        )
        return self.engine.submit(tasks.learn, base, work, lane=lane)

    def _tree(self, parts: list[Any]) -> Any:
        """The sum of gains, neighbours first."""
        while len(parts) > 1:
            pairs = [parts[k : k + 2] for k in range(0, len(parts), 2)]
            parts = [self.engine.submit(tasks.added, *pair) if len(pair) > 1 else pair[0] for pair in pairs]
        return parts[0]

    def _fits(self, own: Shape, shape: Shape) -> bool:
        """Whether gains of a shape have the arrays of another one."""
        rooms = [capacity_for(self.model.smallest, found.slots) for found in (own, shape)]
        same_room = self.model.budgeted or (rooms[0] == rooms[1] and own.ids == shape.ids)
        return same_room and (own.labels, own.closed) == (shape.labels, shape.closed)

    def _take_note(self, said: dict[int, Any], shape: Shape) -> None:
        run = self.run
        run.model = unpacked(self.base)
        for scores in [*run.by_pass, *(holdout.scores for holdout in run.holdouts)]:
            scores.task = run.model.task
        for found in said.values():
            for outcome in found.outcomes:
                run.curve.add(in_classes(outcome, found.shape.labels, shape.labels))
                run.examples += len(outcome.targets)
            for outcome in found.held_out:
                run.holdouts[0].scores.add(in_classes(outcome, found.shape.labels, shape.labels))
            run.nonzeros += found.nonzeros
            run.skipped += found.skipped
            run.row += found.rows
            run.features.largest = max(run.features.largest, found.largest)
            self.remarks += found.unreadable
            for kind, line in found.remarks:
                if self.noticed.setdefault(kind, line) is line:
                    run.model.remark = "\n".join([*filter(None, [run.model.remark]), line])
        if self.finished:
            run.passed, run.row = 1, 0

    def report(self) -> Report:
        """The figures so far; seconds are those of all workers together."""
        parts = ("reading", "learning", "compiling")
        changed: dict[str, Any] = {f"seconds_{part}": self.spread.seconds[part] for part in parts}
        if len(self.model.names):
            changed["features"] = len(self.model.names)
        return replace(self.run.report(), features_used=None, **changed)

    def notes(self) -> dict[str, Any]:
        """Where the training stands, as JSON values; nothing of it depends on who has learnt what."""
        return {
            "plan": self.plan.digest,
            "merge_every": self.merge_every,
            "holdout_every": self.holdout_every,
            "lanes": len(self.plan.lanes),
            "positions": [list(position) for position in self.positions],
            "rows": self.rows,
            "ended": self.ended,
            "rounds": self.rounds,
            "skipped": self.run.skipped,
            "largest": self.run.features.largest,
            "unreadable": self.remarks,
            "progress": self.run.to_json(),
        }

    def restore(self, path: str, model: Model, noted: dict[str, Any]) -> None:
        """Go on from where a file says that a training stood."""
        given = {"merge_every": self.merge_every, "holdout_every": self.holdout_every, "lanes": len(self.plan.lanes)}
        for name, value in given.items():
            if noted.get(name) != value:
                raise OuzelError(
                    f"--{name.replace('_', '-')} {value} contradicts {path}, which was begun with {noted.get(name)}"
                )
        if noted.get("plan") != self.plan.digest:
            raise OuzelError(f"{path}: was begun with other files, or these have changed; give those it was begun with")
        self.base, self.run.model = packed(model), model
        self.run.restore(noted["progress"])
        self.positions = [Position(*position) for position in noted["positions"]]
        self.rows, self.ended, self.rounds = list(noted["rows"]), list(noted["ended"]), int(noted["rounds"])
        self.run.skipped, self.remarks = int(noted["skipped"]), list(noted["unreadable"])
        self.run.features.largest = int(noted["largest"])
