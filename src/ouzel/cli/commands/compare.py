"""`ouzel compare`: trains learners with several settings side by side and reads the file once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from ouzel.cli import arguments, options
from ouzel.errors import OuzelError
from ouzel.files import check_place
from ouzel.ranges import Range, check

JOBS = Range(1, 1024, whole=True)


def compare(
    files: options.Files,
    *,
    learners: Annotated[
        str,
        typer.Option(help="Names a,b,c; all, all-multiclass, all-budgeted; module:name of River's or scikit-learn's."),
    ] = "ogd,adagrad",
    step_sizes: Annotated[str | None, typer.Option(metavar="RANGE", help="2^-3:2^6, 1e-3:1e1, or 0.1,0.5.")] = None,
    l1: Annotated[
        str | None, typer.Option("--l1", metavar="RANGE", help="Strengths of the l1 penalty: 1e-8:1e-1.")
    ] = None,
    budget: Annotated[str | None, typer.Option(metavar="SIZES", help="Byte budgets: 2KB,4KB,8KB.")] = None,
    grid: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=RANGE", help="Values of any setting: sketch_size=5,10; may be repeated."),
    ] = None,
    top: Annotated[
        int, typer.Option(help="Show the recovery error of the K largest weights, against --reference.", metavar="K")
    ] = 0,
    reference: Annotated[
        str, typer.Option(help="Learner without a budget against which recovery is measured.")
    ] = "unbounded",
    shuffles: Annotated[int, typer.Option(help="Number of random orders, in memory: mean and standard deviation.")] = 0,
    task: options.Task = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Learners that run at the same time.")] = 1,
    loss: options.Loss = None,
    l2: options.L2 = None,
    set_: options.Setting = None,
    preparation: options.Preparation,
    format: options.Format = None,
    columns: options.Reading,
    pairs: options.Pairs = None,
    each: Annotated[bool, typer.Option("--per-file", help="Compare on each file separately.")] = False,
    table: Annotated[
        str | None, typer.Option(metavar="CSV|MD|TEX", help="Write the table to this file, by its suffix.")
    ] = None,
    save_best: Annotated[
        str | None, typer.Option(metavar="MODEL", help="Write the model with the lowest error here.")
    ] = None,
    plot: options.Plot = None,
    json_: options.Json = False,
) -> None:
    """Train many learners and settings in one pass, and show the best of each learner.

    Example: ouzel compare a9a.svm.xz --learners ogd,son-oja
    """
    reading = arguments.reading_options(columns)
    arguments.check_task(task)
    if task == "ranking" and shuffles:
        raise OuzelError("--shuffles takes examples apart that a ranking needs in groups; leave one of them out")
    check("--jobs", JOBS, jobs)
    arguments.check_counts(shuffles=shuffles, top=top, pairs=pairs)
    from ouzel.evaluation.comparison.grid import candidates, learner_names, parse_grid, parse_range

    arguments.check_plot(plot)
    _check_files(each, shuffles, table, save_best)
    given = arguments.settings_given(set_, loss=loss, l2=l2)
    chosen: list[Any] = candidates(
        learner_names(learners),
        steps=parse_range(step_sizes) if step_sizes else (),
        l1=parse_range(l1) if l1 else (),
        budgets=budget.split(",") if budget else (),
        settings=given,
        grid=dict(map(parse_grid, grid or ())),
    )
    model = {name: value for name, value in preparation.prepared.items() if value is not None}
    model["intercept"] = not preparation.no_intercept
    model |= {"bits": reading.get("bits", 18), "seed": reading.get("seed", 0)}
    model |= {"task": task, "pairs": pairs or 0} if task else {}
    from ouzel.cli.commands.contest import Contest

    contest = Contest(files, chosen, jobs, format, reading, model, plot, table, save_best, quiet=json_)

    def run(contest: Contest) -> list[dict[str, Any]]:
        if shuffles:
            from ouzel.cli.commands.compare_shuffles import compare_in_orders

            return compare_in_orders(contest, shuffles)
        from ouzel.cli.commands.compare_once import compare_once

        return compare_once(contest, top, reference, given)

    if each:
        from ouzel.cli.commands.compare_each import compare_each

        results = compare_each(contest, run)
    else:
        results = run(contest)
    if json_:
        from ouzel.evaluation.report import as_json

        print(json.dumps(as_json(results)))
    elif plot is not None:
        print(f"\nplot drawn in {plot}")


def _check_files(each: bool, shuffles: int, table: str | None, save_best: str | None) -> None:
    """Refuse files that could not be written at the end, before anything is read."""
    if save_best is not None and (each or shuffles):
        raise OuzelError("--save-best is of one reading; leave out --per-file and --shuffles")
    if table is not None:
        from ouzel.evaluation.comparison.tables import check_table_path

        check_table_path(table)
    if save_best is not None:
        check_place(Path(save_best))
