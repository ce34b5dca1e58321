"""`ouzel train`: learn a stream, and say how well it went."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ouzel.cli import options
from ouzel.cli.interrupted import Interrupted, Patience
from ouzel.errors import OuzelError

if TYPE_CHECKING:
    from ouzel.cli.session import Session
    from ouzel.evaluation.progressive import Run


def train(
    files: options.Files,
    learner: Annotated[
        str | None, typer.Option(help=f"Name of the learner ({options.DEFAULT_LEARNER}); `ouzel learners` lists them.")
    ] = None,
    task: Annotated[
        str | None, typer.Option(help="ranking: learn the pairs of each group. Else the loss says: classes or numbers.")
    ] = None,
    model: Annotated[str | None, typer.Option("--model", "-m", metavar="OUT", help="Write the model here.")] = None,
    resume: Annotated[
        str | None, typer.Option(metavar="MODEL", help="Go on with this model: settings come from the file.")
    ] = None,
    checkpoint_every: Annotated[int, typer.Option(help="Write the model every so many examples.")] = 0,
    passes: Annotated[int | None, typer.Option(help="Passes over the files (1).")] = None,
    holdout_every: Annotated[int | None, typer.Option(help="Predict every n-th example and never learn it.")] = None,
    loss: options.Loss = None,
    learning_rate: options.LearningRate = None,
    l1: options.L1 = None,
    l2: options.L2 = None,
    budget: options.Budget = None,
    sketch_size: options.SketchSize = None,
    set_: options.Setting = None,
    no_intercept: Annotated[bool, typer.Option("--no-intercept", help="Learn no constant feature.")] = False,
    format: options.Format = None,
    label: options.Label = None,
    label_positive: options.LabelPositive = None,
    weight: options.Weight = None,
    text: options.Text = None,
    ignore: options.Ignore = None,
    columns: options.ColumnNames = None,
    skip_lines: options.SkipLines = None,
    delimiter: options.Delimiter = None,
    on_error: options.OnError = None,
    limit: options.Limit = None,
    bits: options.Bits = None,
    seed: options.Seed = None,
    group: options.Group = None,
    query: options.Query = None,
    pairs: Annotated[int | None, typer.Option(help="Pairs drawn of each group to rank (all).")] = None,
    top: Annotated[int, typer.Option(help="Heaviest features to show.")] = 10,
    plot: options.Plot = None,
    json_: options.Json = False,
) -> None:
    """Learn a stream in one pass; each example is predicted before it is learnt.

    Example: ouzel train a9a.svm.xz --learner adagrad --model a9a.ouzel
    """
    reading = options.reading_options(
        label,
        label_positive,
        weight,
        text,
        ignore,
        columns,
        skip_lines,
        delimiter,
        on_error,
        bits,
        seed,
        group,
        query,
        limit,
    )
    if task not in (None, "ranking"):
        raise OuzelError(f"--task takes ranking, and classes or numbers follow from --loss; got {task!r}")
    options.check_counts(checkpoint_every=checkpoint_every, pairs=pairs, top=top)
    settings = options.settings_given(
        set_, loss=loss, learning_rate=learning_rate, l1=l1, l2=l2, budget=budget, sketch_size=sketch_size
    )
    from ouzel.cli.session import Session
    from ouzel.evaluation.plots import check_plot_path

    if plot is not None:
        check_plot_path(plot)
    session = Session.start(
        files,
        learner=learner,
        settings=settings,
        intercept=not no_intercept,
        reading=reading,
        format=format,
        passes=passes,
        holdout_every=holdout_every,
        output=model,
        resume=resume,
        checkpoint_every=checkpoint_every,
        task=task,
        pairs=pairs,
    )
    _go(session, quiet=json_)
    report = session.run.report()
    if json_:
        print(json.dumps({**report.to_json(), "model": model}))
    else:
        from ouzel.cli.answer import show_answer

        show_answer(session.model, report, top)
    if not session.finished:  # only now: the answer is not lost if a disk is full
        session.save(finished=True)
    if model is not None and not json_:
        print(f"model written to {model}")
    if plot is not None:
        from ouzel.evaluation.plots import draw_curves

        draw_curves({report.learner: report.curve}, plot, report.task)
        if not json_:
            print(f"curve drawn in {plot}")


def _go(session: Session, quiet: bool) -> None:
    """Run the session with a screen; an interruption, and a bad line, say what is on disk."""
    from ouzel.cli.screen import Screen

    title = session.title
    with Screen(title, quiet=quiet) as screen:
        for line in session.remarks:
            screen.console.print(line, soft_wrap=True, markup=False)
        if session.finished:
            return

        def open_stream() -> Any:
            screen.stream = session.open()
            return screen.stream

        def show(run: Run) -> None:
            screen.show(run)
            patience.check()

        patience = Patience(session.run)
        try:
            with patience:
                session.run.over(open_stream, show, session.checkpoint_every, partial(session.save, finished=False))
        except KeyboardInterrupt:
            raise Interrupted(session.cut_off()) from None
        except (OuzelError, OSError) as error:
            if note := session.cut_off():
                error.add_note(note)
            raise
        finally:
            if screen.stream is not None:
                screen.stream.close()
        screen.finish(session.run)
