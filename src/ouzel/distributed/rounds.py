"""Training in rounds over an engine.

A round starts from one model, the base. The next examples of every shard are learnt from it in parallel; the gains are
summed in a tree, and the base of the next round is the base with the sum. Shards, examples and the tree depend on the
data and the settings alone, so that the model does not depend on the workers, nor on how often a task was run.
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
from ouzel.flags import flag_of
from ouzel.model.model import Model
from ouzel.model.room import capacity_for
from ouzel.model.rounds import Shape, common, require_gains
from ouzel.streams.options import Options

MERGE_EVERY, SHARDS = 10_000, 8
FIRST_ROUND = 128  # examples; each round has twice as many as the one before, up to `merge_every`


class Training:
    """Training in rounds: positions of the shards, counts, and the model."""

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
        require_gains(model)
        self.engine, self.plan, self.options = engine, plan, options
        self.merge_every, self.holdout_every = merge_every, holdout_every
        self.base = packed(model)
        self.run = Run(model, holdout_every=holdout_every)
        self.positions = [Position() for _ in plan.shards]
        self.rows = [0 for _ in plan.shards]
        self.ended = [False for _ in plan.shards]
        self.rounds = 0
        self.spread = Spread()
        self.remarks: list[str] = []
        self.noticed: dict[str, str] = {}  # of the data: a line of each kind
        self.saved = 0  # the round that is on disk
        self._begun: tuple[Any, dict[int, Any]] | None = None  # the base of the next round, and its tasks

    @property
    def model(self) -> Model:
        """Model after the last round."""
        return self.run.model

    @property
    def finished(self) -> bool:
        """Whether every shard has ended."""
        return all(self.ended)

    def round(self) -> None:
        """Learn the next examples of every shard and merge; workers start the next round before this one is counted."""
        started = time.perf_counter()
        base, learnt = self._begun or self._begin()
        self._begun = None
        going = list(learnt)
        reports = {k: self.engine.result(self.engine.submit(tasks.report_of, learnt[k])) for k in going}
        shape = common([reports[k].shape for k in going])
        for k in going:
            if not self._fits(reports[k].shape, shape):
                learnt[k] = self._learn(base, k, shape)
        active = [k for k in going if reports[k].rows]
        if active:
            names = [name for k in active for name in reports[k].names]
            total = self._tree([learnt[k] for k in active])
            merged = self.engine.submit(tasks.merged_base, base, total, shape, names)
            self.base = self.engine.result(merged)
        self.rounds += 1
        for k in going:
            self.positions[k], self.ended[k] = reports[k].behind, reports[k].ended
            self.rows[k] += reports[k].rows
        try:
            if self.engine.elsewhere and not self.finished:
                self._begun = self._begin()
        finally:
            self._count(reports, shape)
        self.spread.add([reports[k] for k in going], len(self.base), time.perf_counter() - started)

    def _begin(self) -> tuple[Any, dict[int, Any]]:
        """Submit the next examples of every shard, to be learnt from the base."""
        base = self.engine.share(self.base)
        return base, {k: self._learn(base, k, None) for k, ended in enumerate(self.ended) if not ended}

    def _learn(self, base: Any, shard: int, shape: Shape | None) -> Any:
        work = tasks.Work(
            __version__,
            self.plan.shards[shard],
            self.positions[shard],
            min(self.merge_every, FIRST_ROUND << min(self.rounds, 40)),
            self.options,
            self.holdout_every,
            self.rows[shard],
            shape,
        )
        return self.engine.submit(tasks.learn, base, work, shard=shard)

    def _tree(self, parts: list[Any]) -> Any:
        """Sum the gains in a tree, neighbours first."""
        while len(parts) > 1:
            pairs = [parts[k : k + 2] for k in range(0, len(parts), 2)]
            parts = [self.engine.submit(tasks.sum_of_gains, *pair) if len(pair) > 1 else pair[0] for pair in pairs]
        return parts[0]

    def _fits(self, own: Shape, shape: Shape) -> bool:
        """Return whether gains of a shape have the arrays of another shape."""
        rooms = [capacity_for(self.model.smallest, found.slots) for found in (own, shape)]
        same_room = self.model.budgeted or (rooms[0] == rooms[1] and own.ids == shape.ids)
        return same_room and (own.labels, own.closed) == (shape.labels, shape.closed)

    def _count(self, reports: dict[int, Any], shape: Shape) -> None:
        run = self.run
        run.model = unpacked(self.base)
        for scores in [*run.by_pass, *(holdout.scores for holdout in run.holdouts)]:
            scores.task = run.model.task
        for found in reports.values():
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
        """Return the report so far; seconds are those of all workers together."""
        parts = ("reading", "learning", "compiling")
        changed: dict[str, Any] = {f"seconds_{part}": self.spread.seconds[part] for part in parts}
        if len(self.model.names):
            changed["features"] = len(self.model.names)
        return replace(self.run.report(), features_used=None, **changed)

    def notes(self) -> dict[str, Any]:
        """Return the state of the training as JSON values, which do not depend on the workers."""
        return {
            "plan": self.plan.digest,
            "merge_every": self.merge_every,
            "holdout_every": self.holdout_every,
            "lanes": len(self.plan.shards),
            "positions": [list(position) for position in self.positions],
            "rows": self.rows,
            "ended": self.ended,
            "rounds": self.rounds,
            "skipped": self.run.skipped,
            "largest": self.run.features.largest,
            "unreadable": self.remarks,
            "progress": self.run.to_json(),
        }

    def restore(self, path: str, model: Model, notes: dict[str, Any]) -> None:
        """Resume from the state in a file."""
        given = {"merge_every": self.merge_every, "holdout_every": self.holdout_every, "lanes": len(self.plan.shards)}
        for name, value in given.items():
            if notes.get(name) != value:
                raise OuzelError(f"{flag_of(name)} {value} contradicts {path}, which was begun with {notes.get(name)}")
        if notes.get("plan") != self.plan.digest:
            raise OuzelError(f"{path}: was begun with other files, or these have changed; give those it was begun with")
        self.base, self.run.model = packed(model), model
        self.run.restore(notes["progress"])
        self.positions = [Position(*position) for position in notes["positions"]]
        self.rows, self.ended, self.rounds = list(notes["rows"]), list(notes["ended"]), int(notes["rounds"])
        self.run.skipped, self.remarks = int(notes["skipped"]), list(notes["unreadable"])
        self.run.features.largest = int(notes["largest"])
