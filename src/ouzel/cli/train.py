"""`ouzel train`: learn from files in one pass and say how well it went."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ouzel.cli import app as shared
from ouzel.cli.app import app
from ouzel.errors import OuzelError

DEFAULT_LEARNER = "adagrad"


@app.command(
    epilog="Example:  ouzel train a9a.svm.xz --learner son-oja --model a9a.ouzel",
    short_help="Learn from files in one pass.",
)
def train(
    files: shared.Files,
    learner: Annotated[str | None, typer.Option(help=f"Name of the learner.  [default: {DEFAULT_LEARNER}]")] = None,
    model: Annotated[Path | None, typer.Option(help="Write the model to this file.")] = None,
    resume: Annotated[Path | None, typer.Option(help="Go on from this model; no setting need be repeated.")] = None,
    loss: Annotated[str | None, typer.Option(help="logistic, hinge, squared, quantile, poisson, …")] = None,
    learning_rate: Annotated[float | None, typer.Option(help="Step size.")] = None,
    l1: Annotated[float | None, typer.Option(help="Strength of the l1 penalty.")] = None,
    l2: Annotated[float | None, typer.Option(help="Strength of the squared l2 penalty.")] = None,
    budget: Annotated[str | None, typer.Option(help="Bytes for a budgeted learner, such as 8KB.")] = None,
    sketch_size: Annotated[int | None, typer.Option(help="Directions of a sketched Newton learner.")] = None,
    setting: Annotated[
        list[str] | None, typer.Option("--set", help="Any other setting, NAME=VALUE; may be repeated.")
    ] = None,
    intercept: Annotated[bool | None, typer.Option(help="Whether every example has a constant feature.")] = None,
    passes: Annotated[int, typer.Option(min=1, help="How often to go through the files.")] = 1,
    holdout_every: Annotated[int, typer.Option(min=0, help="Judge by every N-th example, which is not learnt.")] = 0,
    point_every: Annotated[int, typer.Option(min=0, help="A point of the curve every N examples.")] = 0,
    checkpoint_every: Annotated[int, typer.Option(min=0, help="Save the model every N examples.")] = 0,
    top: Annotated[int, typer.Option(min=0, help="How many of the heaviest features to show.")] = 10,
    json: shared.Json = False,
    plot: shared.Plot = None,
    format: shared.Format = None,
    label: shared.Label = None,
    label_positive: shared.LabelPositive = None,
    weight: shared.Weight = None,
    text: shared.Text = None,
    ignore: shared.Ignore = None,
    columns: shared.Columns = None,
    skip_lines: shared.SkipLines = 0,
    bits: shared.Bits = None,
    seed: shared.Seed = None,
    on_error: shared.OnError = "raise",
) -> None:
    """Learn from files in one pass, predicting each example before it is learnt.

    The error shown is that of those predictions: an honest one.
    """
    from ouzel.cli.training import Run, announce, settings_given

    reading = shared.reading(format, label, label_positive, weight, text, ignore, columns, skip_lines, on_error)
    given = settings_given(
        setting, loss=loss, learning_rate=learning_rate, l1=l1, l2=l2, budget=budget, sketch_size=sketch_size
    )
    if checkpoint_every and model is None:
        raise OuzelError("--checkpoint-every needs --model, the file to write to")
    if passes > 1 and "-" in files:
        raise OuzelError("--passes needs files; standard input can be read once")
    common: dict[str, Any] = {"intercept": intercept, "bits": bits, "seed": seed}
    run = Run(files, reading, learner, given, common, resume=resume, model=model, quiet=json)
    report = run.learn(passes, holdout_every, point_every, checkpoint_every)
    if plot is not None:
        from ouzel.evaluation.plots import plot_curve

        plot_curve(report, plot)
    announce(report, run, top, model, plot, json)
