"""Training in rounds over an engine.

A round begins from one model. Of every lane the next examples are learnt from it, side by side; what they have gained
is added up in a tree, and the model of the next round is the base with the sum. Lanes, examples and the tree follow
from the data and the settings, so that the model does not depend on who has learnt what, nor how often it was done.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ouzel import __version__
from ouzel.distributed import tasks
from ouzel.distributed.engine import Engine, engine_for
from ouzel.distributed.outcomes import in_classes
from ouzel.distributed.packing import packed, unpacked
from ouzel.distributed.partitions import ONCE, Plan, plan_of
from ouzel.distributed.reading import Position
from ouzel.distributed.spread import Spread
from ouzel.errors import OuzelError
from ouzel.evaluation.progressive import Run
from ouzel.evaluation.report import Report
from ouzel.model import persistence
from ouzel.model.model import Model
from ouzel.model.room import capacity_for
from ouzel.model.rounds import Shape, common, require_rounds
from ouzel.model.tasks.choose import learns_numbers
from ouzel.ranges import Count, ranged
from ouzel.streams.label_values import why_numbers
from ouzel.streams.options import Options, make_options
from ouzel.streams.read import read

MERGE_EVERY, LANES = 10_000, 8
AUTO = 65_536, 2_000  # most and fewest examples between merges
BYTES_A_NONZERO = 6.0  # of a model, that cost ten times less to merge and move than the non-zero does to learn
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
        self.saved = 0  # the round that is on disk

    @property
    def model(self) -> Model:
        """The model as it is now."""
        return self.run.model

    @property
    def finished(self) -> bool:
        """Whether every lane has ended."""
        return all(self.ended)

    def round(self) -> None:
        """Learn the next examples of every lane, and merge."""
        begun = time.perf_counter()
        base = self.engine.share(self.base)
        going = [k for k, ended in enumerate(self.ended) if not ended]
        learnt = {k: self._learn(base, k, None) for k in going}
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
        self._take_note(said, shape)
        self.rounds += 1
        self.spread.add([said[k] for k in going], len(self.base), time.perf_counter() - begun)

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
        rooms = [capacity_for(self.model.smallest, found.dimension) for found in (own, shape)]
        same_room = self.model.budgeted or rooms[0] == rooms[1]
        return same_room and (own.labels, own.closed) == (shape.labels, shape.closed)

    def _take_note(self, said: dict[int, Any], shape: Shape) -> None:
        run = self.run
        run.model = unpacked(self.base)
        for scores in [*run.by_pass, *(holdout.scores for holdout in run.holdouts)]:
            scores.task = run.model.task
        for k, found in said.items():
            self.positions[k], self.ended[k] = found.behind, found.ended
            self.rows[k] += found.rows
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


@ranged
def train(
    source: str | Path | Sequence[str | Path],
    learner: str = "auto",
    *,
    cluster: Any = None,
    workers: Count = 0,
    merge_every: int | str = MERGE_EVERY,
    lanes: Count = LANES,
    format: str | None = None,
    reading: dict[str, Any] | None = None,
    holdout_every: Count = 0,
    output: str | Path | None = None,
    checkpoint_every: Count = 0,
    resume: str | Path | None = None,
    most_classes: int | None = None,
    on_begin: Callable[[Training], None] | None = None,
    on_round: Callable[[Training], None] | None = None,
    **options: Any,
) -> Training:
    """Learn files in rounds, spread over processes or machines; the model is `.model`, the figures `.report()`.

    Parameters
    ----------
    source : files, as `ouzel.read` takes them, but no pipe
    learner : its name
    cluster : the address of a Dask scheduler (tcp://host:8786), ray or ray://host:10001, or an engine
    workers : processes of this machine, where no cluster is given; 0 for none beside this one
    merge_every : examples that each lane learns between two merges; "auto" goes by the sizes of model and examples
    lanes : parts of the stream that are learnt side by side; more workers than lanes have nothing to do
    format, reading : the format, and options of `ouzel.read`
    holdout_every : every n-th example of a lane is predicted and never learnt; 0 for none
    output : the file that the model is written to
    checkpoint_every : rounds between two times that it is written on the way; 0 for none
    resume : go on from this file, if it is there, with the round after the last that was written: to the same bits
    most_classes : classes that labels may be
    on_begin, on_round : called with the training before the first round, and after every one
    options : of `ouzel.model.model.Model`: settings of the learner, `forget`, `standardize`, …

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "tiny.svm")
    >>> _ = path.write_text("1 1:0.5 3:2\\n-1 2:1\\n" * 200)
    >>> training = train(path, "adagrad", merge_every=50, lanes=2)
    >>> training.rounds, training.model.examples
    (4, 400)
    """
    paths = [str(source)] if isinstance(source, (str, Path)) else [str(path) for path in source]
    reading = dict(reading or {})
    if "-" in paths:
        raise OuzelError(ONCE)
    model, notes, nonzeros = _beginning(learner, resume, options, reading, paths, format, most_classes)
    every = interval_for(model, nonzeros, merge_every, notes)
    read_options = make_options({**reading, "space": model.space})
    with engine_for(cluster, workers) as engine:
        plan = plan_of(paths, format, read_options, max(1, lanes), whole=model.task.groups)
        training = Training(engine, plan, model, read_options, merge_every=every, holdout_every=holdout_every)
        if notes is not None:
            training.restore(str(resume), model, notes)
        if on_begin is not None:
            on_begin(training)
        while not training.finished:
            training.round()
            if output is not None and (
                training.finished or (checkpoint_every and training.rounds % checkpoint_every == 0)
            ):
                persistence.save(training.model, output, {"reading": reading, "rounds": training.notes()})
                training.saved = training.rounds
            if on_round is not None:
                on_round(training)
        if not training.model.examples and not training.run.row:
            raise OuzelError(f"{', '.join(paths)}: there are no examples in it; there is nothing to learn from")
    return training


def interval_for(model: Model, nonzeros: float, asked: int | str, notes: dict[str, Any] | None) -> int:
    """Examples between two merges: as asked for, or as the sizes of the model and of an example have it.

    Of those alone, that bits be the same everywhere: so many that learning them costs about ten times what it costs to
    merge and move the model's bytes over a link of 1 Gbit/s.
    """
    if asked != "auto":
        if not isinstance(asked, int) or asked < 1:
            raise OuzelError(f'merge_every is a number of examples of 1 or more, or "auto"; got {asked!r}')
        return asked
    if notes is not None:
        return int(notes["merge_every"])
    most, fewest = AUTO
    return int(min(max(BYTES_A_NONZERO * model.bytes_used / max(nonzeros, 1.0), fewest), most))


def _beginning(
    learner: str,
    resume: str | Path | None,
    options: dict[str, Any],
    reading: dict[str, Any],
    paths: list[str],
    format: str | None,
    most_classes: int | None,
) -> tuple[Model, dict[str, Any] | None, float]:
    """The model to begin with, which knows what features stand for; or the one to go on with, and its notes."""
    if resume is not None and Path(resume).exists():
        model, notes = persistence.load_notes(resume)
        if "rounds" not in notes:
            raise OuzelError(f"{resume}: was not learnt in rounds; go on with it without --workers and --cluster")
        model.classes.allow(most_classes)
        return model, notes["rounds"], 1.0
    made: dict[str, Any] = {**options, **{name: reading[name] for name in ("bits", "seed") if name in reading}}
    model = Model(learner, **made)
    with read(paths, format=format, **reading) as stream:
        block = stream.first()
    asked = "loss" in options or options.get("task") is not None
    if not asked and learns_numbers(model.learner) and why_numbers(block):
        model = Model(learner, **{**made, "loss": "squared"})
    model.classes.allow(most_classes)
    model.space = block.space
    return model, None, block.nonzeros / max(block.rows, 1)
