"""`ouzel train`: trains a model on a stream and reports its metrics."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from ouzel.cli import arguments, log_options, options, spread_options
from ouzel.cli.ui.interrupts import DeferredInterrupt, Interrupted
from ouzel.cli.ui.training_report import OutputOptions, report_training
from ouzel.errors import OuzelError
from ouzel.learners import catalogue

if TYPE_CHECKING:
    from ouzel.cli.ui.progress import Screen
    from ouzel.evaluation.progressive import Run
    from ouzel.streams.block_stream import BlockStream
    from ouzel.training.session import Session


def train(
    files: options.FilesOrSql = None,
    *,
    learner: Annotated[
        str | None, typer.Option(help=f"Name of the learner ({catalogue.DEFAULT}); `ouzel learners` lists them.")
    ] = None,
    task: options.Task = None,
    model: Annotated[str | None, typer.Option("--model", "-m", metavar="OUT", help="Write the model here.")] = None,
    resume: Annotated[
        str | None,
        typer.Option(metavar="MODEL", help="Resume training from this model; its settings come from the file."),
    ] = None,
    relearn: Annotated[
        bool, typer.Option("--relearn", help="With --resume: learn the files again, known or not.")
    ] = False,
    checkpoint_every: Annotated[
        str | None, typer.Option(metavar="N|TIME", help="Save the model every N examples, or every 30s, 5m, 1h.")
    ] = None,
    passes: Annotated[int | None, typer.Option(help="Passes over the files (1).")] = None,
    cache: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Folder to cache parsed examples in, for further passes and runs."),
    ] = None,
    holdout_every: Annotated[
        int | None, typer.Option(help="Hold out every n-th example: predict it and never learn it.")
    ] = None,
    loss: options.Loss = None,
    learning_rate: options.LearningRate = None,
    l1: options.L1 = None,
    l2: options.L2 = None,
    budget: options.Budget = None,
    sketch_size: options.SketchSize = None,
    epsilon: options.Epsilon = None,
    set_: options.Setting = None,
    preparation: options.Preparation,
    format: options.Format = None,
    columns: options.Reading,
    pairs: options.Pairs = None,
    most_classes: Annotated[
        int | None, typer.Option("--max-classes", help="Maximum number of classes (1000, at most 10000).")
    ] = None,
    following: log_options.Following,
    spread: spread_options.Spread,
    querying: log_options.Querying,
    top: Annotated[int, typer.Option(help="Number of the most important features to show.")] = 10,
    plot: options.Plot = None,
    save_to: options.SaveTo = None,
    live: Annotated[
        bool, typer.Option("--live", help="Show a screen that redraws: error, learning curve, weights.")
    ] = False,
    json_: options.Json = False,
) -> None:
    """Train a model on a stream in one pass; each example is predicted before it is learnt.

    Example: ouzel train a9a.svm.xz --learner adagrad --model a9a.ouzel
    """
    sources = log_options.sources_of(files, querying)
    reading = arguments.reading_options(columns)
    arguments.check_task(task)
    arguments.check_counts(pairs=pairs, top=top)
    arguments.check_most_classes(most_classes)
    named = {"loss": loss, "learning_rate": learning_rate, "l1": l1, "l2": l2, "budget": budget}
    settings = arguments.settings_given(set_, **named, sketch_size=sketch_size, epsilon=epsilon)
    from ouzel.cli.ui.heartbeat import checkpoints_of
    from ouzel.files import locked

    rows, seconds = checkpoints_of(checkpoint_every, model)
    arguments.check_plot(plot)
    if save_to is not None:
        from ouzel.cli.ui.table_rows import check_save_to

        check_save_to(save_to)
    answer = OutputOptions(plot, save_to, top, json_)
    if learner is not None:
        from ouzel.learners.plugins import learner_named

        learner = learner_named(learner)
    further = log_options.of_logs(following, sources)
    refused = {
        "passes": (passes or 1) > 1,
        "relearn": relearn,
        "follow": further,
        "cache": cache is not None,
        "live": live,
    }
    rounds = spread_options.of_rounds(spread, refused)
    if rounds is not None:
        log_options.check_rounds(sources, seconds)
        from ouzel.cli.commands.train_rounds import train_in_rounds

        made = {**preparation.prepared, **settings, "intercept": not preparation.no_intercept and task != "ranking"}
        made |= {"task": task, "pairs": pairs or 0, "resume": resume, "checkpoint_every": rows, "format": format}
        made |= {"holdout_every": holdout_every or 0, "reading": reading, "most_classes": most_classes, **rounds}
        train_in_rounds(sources, learner or catalogue.DEFAULT, model, answer, made)
        return
    with nullcontext() if model is None else locked(model):
        from ouzel.training.session import Session, SessionOptions

        chosen = SessionOptions(
            learner=learner,
            settings=settings,
            intercept=not preparation.no_intercept,
            prepared=preparation.prepared,
            reading=reading,
            format=format,
            passes=passes,
            holdout_every=holdout_every,
            output=model,
            resume=resume,
            checkpoint_every=rows,
            task=task,
            pairs=pairs,
            relearn=relearn,
            most_classes=most_classes,
            following=further,
        )
        kind: type[Session] = Session
        if chosen.resumes:
            from ouzel.training.resumed_session import ResumedSession

            kind = ResumedSession
        session = kind.start(sources, chosen)
        if cache is not None:
            from ouzel.streams.convert import cache_for

            session.block_cache = cache_for(cache, session.reading, session.model.space, session.inherited)
        failed = _go(session, seconds, quiet=json_, live=live)

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
    from ouzel.cli.ui.heartbeat import Heartbeat

    with _screen_of(session.title, quiet, live) as screen:

        def stand() -> None:
            screen.stream = session.stream
            screen.show_scores(session.run.scores)

        session.on_known = stand
        session.on_say = screen.say
        try:
            session.recognise()
            for line in session.remarks:
                screen.console.print(line, soft_wrap=True, markup=False)
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
                    session.end()
                except OuzelError as error:
                    failed = error
        except KeyboardInterrupt:
            raise Interrupted(session.cut_off()) from None
        except (OuzelError, OSError) as error:
            from ouzel.training.resume_options import ContradictionError

            note = session.cut_off()
            if note and not (isinstance(error, ContradictionError) and session.run.position == session.resumed_at):
                error.add_note(note)
            raise
        finally:
            session.close()
        screen.finish(session.run)
        for line in session.left_out():
            screen.console.print(line, soft_wrap=True, markup=False)
    return failed


def _screen_of(title: str, quiet: bool, live: bool) -> Screen:
    """Return a screen with a growing table, or with `live` the dashboard."""
    if live:
        from ouzel.cli.ui.dashboard import Dashboard

        return Dashboard(title, quiet=quiet)
    from ouzel.cli.ui.progress import Screen

    return Screen(title, quiet=quiet)
