"""Tasks of workers: pure functions, so that any worker can run any of them, repeatedly if needed."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np
from threadpoolctl import ThreadpoolController

from ouzel import __version__
from ouzel.distributed.packing import packed, unpacked
from ouzel.distributed.partitions import Shard
from ouzel.distributed.reading import Position, read_rows
from ouzel.errors import OuzelError
from ouzel.evaluation.counts import Clock
from ouzel.evaluation.holdout import Holdout
from ouzel.learners.gains.parts import Gains, add, bytes_of
from ouzel.model.model import Model
from ouzel.model.rounds import Shape, begins_shaped, common, gains_of, model_of, shape_of, shaped
from ouzel.model.tasks.task import Outcome
from ouzel.streams.options import Options

P = ParamSpec("P")
T = TypeVar("T")


class Work(NamedTuple):
    """Work of a worker in a round, without the base."""

    version: str  # of Ouzel
    shard: Shard
    start: Position
    rows: int
    options: Options
    holdout_every: int
    row: int  # of the shard: which examples are held out goes by it
    shape: Shape | None  # of the gains, if not those of base and worker


class WorkerReport(NamedTuple):
    """Report of a worker on a round, without the gains."""

    behind: Position
    ended: bool
    rows: int
    nonzeros: int
    skipped: int
    unreadable: list[str]
    remarks: list[tuple[str, str]]  # on the data: kinds, and lines to be shown
    shape: Shape  # of base and worker
    outcomes: list[Outcome]
    held_out: list[Outcome]
    names: list[Any]  # ids and names that the base does not have
    largest: int  # feature id
    seconds: dict[str, float]
    bytes: int  # of the gains


class WorkerResult(NamedTuple):
    """Result of a worker: gains and report."""

    gains: Gains
    report: WorkerReport


@functools.cache
def _libraries() -> Any:
    """Return the controller of the libraries of linear algebra of this process."""
    return ThreadpoolController()


def _alone(task: Callable[P, T]) -> Callable[P, T]:
    """Run the linear algebra of a task in one thread, as its digits depend on the number of threads."""

    @functools.wraps(task)
    def done(*arguments: P.args, **named: P.kwargs) -> T:
        with _libraries().limit(limits=1, user_api="blas"):
            return task(*arguments, **named)

    return done


@_alone
def learn(base: bytes, work: Work) -> WorkerResult:
    """Learn the next examples of a shard from a base."""
    if work.version != __version__:
        raise OuzelError(
            f"a worker has Ouzel {__version__}, and this training Ouzel {work.version}; "
            "results would depend on who learns what: install one version on all machines"
        )
    clock, started = Clock(), time.perf_counter()
    model = unpacked(base)
    begun = unpacked(base)
    if work.shape is not None and begins_shaped(model):
        model, begun = shaped(model, work.shape), shaped(begun, work.shape)
    unpacking = time.perf_counter() - started
    with clock.on("reading"):
        taken = read_rows(work.shard, work.start, work.rows, work.options, model.task.groups)
    outcomes, held_out, rows, nonzeros = [], [], 0, 0
    holdout = Holdout(work.holdout_every, model) if work.holdout_every else None
    largest = 0
    with clock.on("learning"):
        for block in taken.blocks:
            largest = max(largest, int(block.indices[block.offsets[0] : block.offsets[-1]].max(initial=0)))
            nonzeros += block.nonzeros
            learnt = block if holdout is None else holdout.divide(block, work.row + rows)
            rows += block.rows
            outcomes.append(model.learn(learnt))
        if holdout is not None:
            held_out = [model.evaluate(block) for block in holdout.waiting]
    started = time.perf_counter()
    shape = common([shape_of(begun), shape_of(model)])
    gains = gains_of(begun, model, work.shape or shape)
    known = {feature for feature, _ in begun.names.to_json()}
    names = [(feature, name) for feature, name in model.names.to_json() if feature not in known]
    seconds = {**clock.seconds, "merging": time.perf_counter() - started, "unpacking": unpacking}
    report = WorkerReport(
        taken.behind, taken.ended, rows, nonzeros, taken.skipped, taken.unreadable,
        [(kind, remark.line("a row")) for kind, remark in model.remarks.made.items()], shape,
        [_small(outcome) for outcome in outcomes], [_small(outcome) for outcome in held_out], names,
        largest, seconds, bytes_of(gains),
    )  # fmt: skip
    return WorkerResult(gains, report)


def _small(outcome: Outcome) -> Outcome:
    """Shrink the arrays of an outcome."""
    targets = outcome.targets
    if targets.dtype.kind == "i":
        targets = targets.astype(np.int32)
    return outcome._replace(targets=targets)


def report_of(learnt: WorkerResult) -> WorkerReport:
    """Return the report of a worker's result."""
    return learnt.report


def sum_of_gains(one: Any, other: Any) -> Gains:
    """Sum the gains of two workers, or of groups of workers."""
    return add(*(part.gains if isinstance(part, WorkerResult) else part for part in (one, other)))


@_alone
def merged_base(base: bytes, gains: Any, shape: Shape, names: list[Any]) -> bytes:
    """Return the base of the next round."""
    model: Model = model_of(unpacked(base), gains.gains if isinstance(gains, WorkerResult) else gains, shape)
    model.names.update(names)
    if model.budgeted:
        model.names.restrict(np.asarray(_members(model), np.int64) - 1)
    return packed(model)


def _members(model: Model) -> np.ndarray:
    """Return the slots whose weights a budgeted model stores."""
    return np.unique(np.concatenate([np.asarray(model.module.members(state)) for state in model.states]))
