"""`ouzel train`: trains a model on a stream and reports its metrics."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from ouzel.cli import log_options, model_options, options
from ouzel.cli.parameters import FOLDER, MODEL, Kind, option, values
from ouzel.cli.ui.interrupts import DeferredInterrupt, Interrupted
from ouzel.cli.ui.training_report import Heartbeat, OutputOptions, checkpoints_of, report_training
from ouzel.errors import ContradictionError, DataError, OuzelError
from ouzel.flags import flag_of
from ouzel.learners.catalogue import DEFAULT
from ouzel.ranges import COUNT, check

if TYPE_CHECKING:
    from ouzel.cli.ui.progress import Screen
    from ouzel.evaluation.progressive import Run
    from ouzel.streams.block_stream import BlockStream
    from ouzel.training.session import Session

MERGE_EVERY = Kind("INTEGER|auto", words=lambda: ("auto",))


@dataclass(frozen=True)
class Saving:
    """Options of the model file, and of the passes that lead to it."""

    panel: ClassVar = "Saving and resuming"
    model: Annotated[str | None, option("Write the model here.", "-m", takes="OUT")] = None
    resume: Annotated[
        str | None, option("Resume training from this model; its settings come from the file.", takes=MODEL)
    ] = None
    relearn: Annotated[bool, option("With --resume: learn the files again, known or not.")] = False
    checkpoint_every: Annotated[
        str | None,
        option("Save the model every N examples, or every 30s, 5m, 1h.", takes="INTEGER|DURATION"),
    ] = None
    passes: Annotated[int | None, option("Passes over the files (1).")] = None
    cache: Annotated[
        str | None, option("Folder to cache parsed examples in, for further passes and runs.", takes=FOLDER)
    ] = None
    holdout_every: Annotated[int | None, option("Hold out every n-th example: predict it and never learn it.")] = None
    delay: options.Delay = None


WHY = {"alarm": " (lanes learn parts of a stream at the same time, so errors have no order)"}


@dataclass(frozen=True)
class Spread:
    """Options of distributed training; without any, one process learns the whole stream."""

    panel: ClassVar = "Distributed training"
    workers: Annotated[int | None, option("Number of processes of this machine that learn, in rounds.")] = None
    cluster: Annotated[
        str | None,
        option("Learn on a cluster: tcp://HOST:8786 of Dask, ray or ray://HOST:10001.", takes="ADDRESS"),
    ] = None
    merge_every: Annotated[
        str | None,
        option("Examples that each shard learns between two merges (10000), or auto.", takes=MERGE_EVERY),
    ] = None
    lanes: Annotated[
        int | None,
        option("Parts of the stream that are learnt in parallel (8); the model depends on their number."),
    ] = None

    def of_rounds(self, refused: dict[str, Any]) -> dict[str, Any] | None:
        """Return the options that were given as keywords of the library, or None; refuse `refused` with them."""
        given = {name: value for name, value in values(self).items() if value is not None}
        if not given:
            return None
        if self.workers is None and self.cluster is None:
            flag = flag_of(next(iter(given)))
            raise OuzelError(f"{flag} is for learning in rounds; add --workers N, or --cluster ADDRESS")
        if self.workers is not None and self.cluster is not None:
            raise OuzelError("--workers are processes of this machine, --cluster is another's; give one of them")
        for name, value in refused.items():
            if value:
                why = WHY.get(name, "")
                raise OuzelError(f"{flag_of(name)} does not go with --workers and --cluster{why}; leave it out")
        for name in ("workers", "lanes"):
            if name in given:
                check(flag_of(name), COUNT, given[name])
        every = given.get("merge_every")
        if every is not None and every != "auto":
            if not every.isdigit() or int(every) < 1:
                raise OuzelError(f"--merge-every takes a number of examples, or auto; got {every!r}")
            given["merge_every"] = int(every)
        return given


def train(
    files: options.FilesOrSql = None,
    *,
    learner: model_options.Learner = None,
    task: model_options.Task,
    learning: model_options.Learning,
    preparation: model_options.Preparation,
    most_classes: Annotated[
        int | None, option("Maximum number of classes (1000, at most 10000).", panel="Learner")
    ] = None,
    saving: Saving,
    format: options.Format = None,
    columns: options.Reading,
    following: log_options.Following,
    spread: Spread,
    querying: log_options.Querying,
    top: Annotated[int, option("Number of the most important features to show.", panel="Report")] = 10,
    alarm: Annotated[
        float | None,
        option("Say when the error rises; rate of false alarms over the whole life, such as 0.01.", panel="Report"),
    ] = None,
    alarm_inputs: Annotated[
        bool, option("With --alarm: say when a frequent feature changes, too.", panel="Report")
    ] = False,
    plot: options.Plot = None,
    save_to: options.SaveTo = None,
    live: Annotated[
        bool, option("Show a screen that redraws: error, learning curve, weights.", panel="Report")
    ] = False,
    json_: options.Json = False,
) -> None:
    """Train a model on a stream in one pass; each example is predicted before it is learnt.

    Example: ouzel train a9a.svm.xz --learner adagrad --model a9a.ouzel
    """
    sources = log_options.sources_of(files, querying)
    reading, settings = columns.keywords(), learning.settings
    delay = options.delay_of(saving.delay)
    options.check_counts(pairs=task.pairs, top=top)
    if alarm_inputs and not alarm:
        raise OuzelError("--alarm-inputs needs the rate of false alarms: --alarm 0.01, say")
    model_options.check_most_classes(most_classes)
    from ouzel.cli.ui.outputs import check_save_to
    from ouzel.files import locked

    rows, seconds = checkpoints_of(saving.checkpoint_every, saving.model)
    options.check_plot(plot)
    check_save_to(save_to)
    answer = OutputOptions(plot, save_to, top, json_)
    if learner is not None:
        from ouzel.learners.plugins import learner_named

        learner = learner_named(learner)
    further = log_options.of_logs(following, sources)
    refused = {
        "passes": (saving.passes or 1) > 1,
        "relearn": saving.relearn,
        "follow": further,
        "cache": saving.cache is not None,
        "live": live,
        "alarm": alarm,
        "delay": saving.delay,
    }
    rounds = spread.of_rounds(refused)
    common: dict[str, Any] = {"task": task.task, "pairs": task.pairs, "reading": reading, "format": format}
    common |= {"most_classes": most_classes, "holdout_every": saving.holdout_every}
    common |= {"resume": saving.resume, "checkpoint_every": rows}
    if rounds is not None:
        log_options.check_rounds(sources, seconds)
        from ouzel.cli.commands.train_rounds import train_in_rounds

        made = {**preparation.prepared, **settings, **common, **rounds}
        made["intercept"] = not preparation.no_intercept and task.task != "ranking"
        train_in_rounds(sources, learner or DEFAULT, saving.model, answer, made)
        return
    with nullcontext() if saving.model is None else locked(saving.model):
        from ouzel.training.session import Session, SessionOptions

        begun: dict[str, Any] = {
            "learner": learner,
            "settings": settings,
            "prepared": preparation.prepared,
            "following": further,
        }
        begun |= {"intercept": not preparation.no_intercept, "passes": saving.passes, "relearn": saving.relearn}
        begun |= {"alarm": alarm or 0.0, "alarm_inputs": alarm_inputs, "delay": delay}
        chosen = SessionOptions(**begun, **common, output=saving.model)
        session_type: type[Session] = Session
        if chosen.resumes:
            from ouzel.training.resumed_session import ResumedSession

            session_type = ResumedSession
        session = session_type.start(sources, chosen)
        if saving.cache is not None:
            from ouzel.streams.block_cache import cache_for

            session.block_cache = cache_for(saving.cache, session.reading, session.model.space, session.inherited)
        failed = _go(session, seconds, quiet=json_, live=live)
    if isinstance(failed, DataError):
        raise failed

    def saved(path: str) -> None:
        if failed is not None:
            raise failed

    written = session.output if session.written or failed else None, "model written to", saved
    more = {"joined": None if session.log_stream is None else session.log_stream.join_stats}
    report_training(answer, session.run.report(), session.model, session.files, session.output, written, more)


def _go(session: Session, seconds: float, quiet: bool, live: bool) -> OuzelError | None:
    """Run the session with a screen and save its model, also at intervals; return the error if it cannot be saved.

    An interruption, and a bad line, say what is on disk.
    """

    with _screen(session.title, quiet, live) as screen:

        def stand() -> None:
            screen.stream = session.stream
            screen.show_scores(session.run.scores)

        session.on_known = stand
        session.on_say = screen.say
        try:
            session.recognise()
            screen.resume(session.model)
            for line in session.remarks:
                screen.print(line)
            interrupt = DeferredInterrupt(session.run, lambda: session.waiting, session.piped)
            heartbeat = Heartbeat(session, screen, seconds, quiet)

            def wait() -> None:
                interrupt.check()
                heartbeat.beat()

            session.on_wait = wait

            def open_stream() -> BlockStream:
                screen.stream = stream = session.open()
                return stream

            def show(run: Run) -> None:
                screen.show(run)
                interrupt.check()

            failed = None
            with interrupt:
                session.run.over(open_stream, show, session.checkpoint_every, partial(session.save, finished=False))
                try:
                    positive = None if session.stream is None else session.stream.options.label_positive
                    if positive is not None and 1 not in session.model.classes.known:
                        positive.require_seen(session.title)
                    session.end()
                except OuzelError as error:
                    failed = error
        except KeyboardInterrupt:
            raise Interrupted(session.cut_off()) from None
        except (OuzelError, OSError) as error:
            note = session.cut_off()
            if note and not (isinstance(error, ContradictionError) and session.run.position == session.resumed_at):
                error.add_note(note)
            raise
        finally:
            session.close()
        screen.finish(session.run)
        for line in session.left_out():
            screen.print(line)
    return failed


def _screen(title: str, quiet: bool, live: bool) -> Screen:
    """Return a screen with a growing table, or with `live` the dashboard."""
    from ouzel.cli.ui.progress import Screen

    if not live:
        return Screen(title, quiet=quiet)
    from ouzel.cli.ui.dashboard import Dashboard
    from ouzel.extras import need

    need("plotext", "--live", "plot")
    return Dashboard(title, quiet=quiet)
