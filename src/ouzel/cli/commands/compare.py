"""`ouzel compare`: learners and settings side by side, the file read once."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from ouzel.cli import options
from ouzel.errors import OuzelError
from ouzel.ranges import Range, check

JOBS = Range(1, 1024, whole=True)


def compare(
    files: options.Files,
    learners: Annotated[str, typer.Option(help="Names a,b,c; or all, all-multiclass, all-budgeted.")] = "ogd,adagrad",
    step_sizes: Annotated[str | None, typer.Option(metavar="RANGE", help="2^-3:2^6, 1e-3:1e1, or 0.1,0.5.")] = None,
    l1: Annotated[
        str | None, typer.Option("--l1", metavar="RANGE", help="Strengths of the l1 penalty: 1e-8:1e-1.")
    ] = None,
    budget: Annotated[str | None, typer.Option(metavar="SIZES", help="Byte budgets: 2KB,4KB,8KB.")] = None,
    top: Annotated[int, typer.Option(help="Recovery error of so many heaviest weights, against --reference.")] = 0,
    reference: Annotated[
        str, typer.Option(help="The learner without a budget that recovery is measured against.")
    ] = "unbounded",
    shuffles: Annotated[int, typer.Option(help="Random orders, in memory: mean and standard deviation.")] = 0,
    task: options.Task = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Learners at work at a time.")] = 1,
    loss: options.Loss = None,
    l2: options.L2 = None,
    set_: options.Setting = None,
    no_intercept: Annotated[bool, typer.Option("--no-intercept", help="Learn no constant feature.")] = False,
    raw_targets: options.RawTargets = False,
    standardize: options.Standardize = False,
    forget: options.Forget = None,
    format: options.Format = None,
    label: options.Label = None,
    label_positive: options.LabelPositive = None,
    weight: options.Weight = None,
    id_: options.Id = None,
    text: options.Text = None,
    categorical: options.Categorical = None,
    numeric: options.Numeric = None,
    dates: options.Dates = None,
    ignore: options.Ignore = None,
    keep: options.Keep = None,
    missing: options.Missing = None,
    columns: options.ColumnNames = None,
    skip_lines: options.SkipLines = None,
    delimiter: options.Delimiter = None,
    on_error: options.OnError = None,
    limit: options.Limit = None,
    bits: options.Bits = None,
    seed: options.Seed = None,
    group: options.Group = None,
    query: options.Query = None,
    pairs: options.Pairs = None,
    plot: options.Plot = None,
    json_: options.Json = False,
) -> None:
    """Train many learners and settings in one reading, and show the best of each.

    Example: ouzel compare a9a.svm.xz --learners ogd,son-oja
    """
    kinds = {
        "categorical": categorical,
        "numeric": numeric,
        "keep": keep,
        "missing": missing,
        "id": id_,
        "dates": dates,
    }
    rest: dict[str, Any] = {"on_error": on_error, "bits": bits, "seed": seed, "limit": limit, **kinds}
    rest |= {"group": group, "query": query}
    reading = options.reading_options(
        label, label_positive, weight, text, ignore, columns, skip_lines, delimiter, **rest
    )
    options.check_task(task)
    if task and shuffles:
        raise OuzelError("--shuffles takes examples apart that a ranking needs in groups; leave one of them out")
    check("--jobs", JOBS, jobs)
    options.check_counts(shuffles=shuffles, top=top, pairs=pairs)
    from ouzel.evaluation.comparison import grid
    from ouzel.plotting.axes import check_plot_path

    if plot is not None:
        check_plot_path(plot)
    given = options.settings_given(set_, loss=loss, l2=l2)
    chosen: list[Any] = grid.candidates(
        grid.learner_names(learners),
        steps=grid.parse_range(step_sizes) if step_sizes else (),
        l1=grid.parse_range(l1) if l1 else (),
        budgets=budget.split(",") if budget else (),
        settings=given,
    )
    model: dict[str, Any] = {
        "intercept": not no_intercept,
        "scale_targets": not raw_targets,
        "standardize": standardize,
    }
    model |= {} if forget is None else {"forget": forget}
    model |= {"bits": reading.get("bits", 18), "seed": reading.get("seed", 0)}
    model |= {"task": task, "pairs": pairs or 0} if task else {}
    if shuffles:
        from ouzel.cli.commands.compare_shuffles import compare_in_orders

        results = compare_in_orders(files, chosen, shuffles, jobs, format, reading, model, plot, quiet=json_)
    else:
        from ouzel.cli.commands.compare_once import compare_once

        results = compare_once(
            files, chosen, jobs, format, reading, model, plot, top=top, reference=reference, given=given, quiet=json_
        )
    if json_:
        print(json.dumps(results))
    elif plot is not None:
        print(f"\nplot drawn in {plot}")
