"""`train`: distributed training on files in rounds, over any engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ouzel.distributed.choose import engine_for
from ouzel.distributed.partitions import ONCE, plan_of
from ouzel.distributed.rounds import MERGE_EVERY, SHARDS, Training
from ouzel.errors import OuzelError
from ouzel.model import persistence
from ouzel.model.model import Model
from ouzel.model.tasks.choose import learns_numbers
from ouzel.ranges import Count, ranged
from ouzel.streams.label_remarks import AS_NUMBERS, check_few_classes, classes_in, why_numbers
from ouzel.streams.options import make_options
from ouzel.streams.read import read

AUTO = 65_536, 2_000  # most and fewest examples between merges
BYTES_A_NONZERO = 6.0  # of a model, that cost ten times less to merge and move than the non-zero does to learn
NONZEROS_A_MERGE = 2e6  # learning them takes ten times as long as merging a small model


@ranged
def train(
    source: str | Path | Sequence[str | Path],
    learner: str = "auto",
    *,
    cluster: Any = None,
    workers: Count = 0,
    merge_every: int | str = MERGE_EVERY,
    lanes: Count = SHARDS,
    format: str | None = None,
    reading: dict[str, Any] | None = None,
    holdout_every: Count = 0,
    output: str | Path | None = None,
    checkpoint_every: Count = 0,
    resume: str | Path | None = None,
    most_classes: int | None = None,
    on_begin: Callable[[Training], None] | None = None,
    on_round: Callable[[Training], None] | None = None,
    say: Callable[[str], None] = lambda line: None,
    **options: Any,
) -> Training:
    """Train on files in rounds over processes or machines; `.model` is the model, `.report()` returns the metrics.

    Parameters
    ----------
    source : files, as `ouzel.read` takes them, but no pipe
    learner : its name
    cluster : the address of a Dask scheduler (tcp://host:8786), ray or ray://host:10001, or an engine
    workers : processes of this machine, if no cluster is given; 0 for this process alone
    merge_every : examples that each shard learns between two merges; "auto" depends on the sizes of model and examples
    lanes : number of shards, parts of the stream that are learnt in parallel; more workers than shards are idle
    format, reading : the format, and options of `ouzel.read`
    holdout_every : hold out every n-th example of a shard: predict it and never learn it; 0 for none
    output : the file that the model is written to
    checkpoint_every : rounds between two times that it is written on the way; 0 for none
    resume : go on from this file, if it is there, with the round after the last that was written: to the same bits
    most_classes : maximum number of classes
    on_begin, on_round : called with the training before the first round, and after every one
    say : called with lines for people, on what was decided of columns and labels
    options : of `ouzel.model.model.Model`: settings of the learner, `forget`, `class_weight`, …

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "tiny.svm")
    >>> _ = path.write_text("1 1:0.5 3:2\\n-1 2:1\\n" * 200)
    >>> training = train(path, "adagrad", merge_every=50, lanes=2)
    >>> training.rounds, training.model.examples
    (9, 400)
    """
    paths = [str(source)] if isinstance(source, (str, Path)) else [str(path) for path in source]
    reading = dict(reading or {})
    if "-" in paths:
        raise OuzelError(ONCE)
    model, notes, nonzeros = _beginning(learner, resume, options, reading, paths, format, most_classes, say)
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


def interval_for(model: Model, nonzeros: float, given: int | str, notes: dict[str, Any] | None) -> int:
    """Return the examples between two merges: those given, or by the sizes of the model and of an example.

    Sizes alone decide, so that bits are the same everywhere: learning the examples costs about ten times what it costs
    to merge and move the model's bytes over a link of 1 Gbit/s.
    """
    if given != "auto":
        if not isinstance(given, int) or given < 1:
            raise OuzelError(f'merge_every is a number of examples of 1 or more, or "auto"; got {given!r}')
        return given
    if notes is not None:
        return int(notes["merge_every"])
    most, fewest = AUTO
    return int(min(max((NONZEROS_A_MERGE + BYTES_A_NONZERO * model.bytes_used) / max(nonzeros, 1.0), fewest), most))


def _beginning(
    learner: str,
    resume: str | Path | None,
    options: dict[str, Any],
    reading: dict[str, Any],
    paths: list[str],
    format: str | None,
    most_classes: int | None,
    say: Callable[[str], None],
) -> tuple[Model, dict[str, Any] | None, float]:
    """Return the model to start with, which knows its columns, or the model to resume with its metadata."""
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
        remarks = list(stream.remarks)
    decided = "loss" in options or options.get("task") is not None
    if not decided and learns_numbers(model.learner):
        numbers = why_numbers(block)
        if numbers:
            model = Model(learner, **{**made, "loss": "squared"})
        remarks += [AS_NUMBERS.format(numbers)] if numbers else classes_in(block)
    elif options.get("task") is None and most_classes is None and not (model.task.numbers or model.task.groups):
        check_few_classes(block)
    for line in remarks:
        say(line)
    model.classes.allow(most_classes)
    model.space = block.space
    return model, None, block.nonzeros / max(block.rows, 1)
