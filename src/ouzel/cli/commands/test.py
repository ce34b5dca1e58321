"""`ouzel test`: tests models on labelled examples that they do not learn."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

from ouzel.cli import options
from ouzel.cli.parameters import MODEL, only, option
from ouzel.errors import OuzelError

if TYPE_CHECKING:
    from ouzel.evaluation.testing import TestReport

MOST_CLASSES = 10  # of a confusion matrix on a screen


def run_test(
    model: options.ModelFile,
    files: options.Files,
    *,
    against: Annotated[
        list[str] | None,
        option("Another model to test on the same examples; may be repeated.", takes=MODEL),
    ] = None,
    format: options.Format = None,
    columns: Annotated[options.Reading, only("label", "weight", "group", options.Lines)],
    plot: options.Plot = None,
    save_to: options.SaveTo = None,
    json_: options.Json = False,
) -> None:
    """Test a model on labelled examples, without learning them.

    The model file says how columns are read.

    Example: ouzel test a9a.ouzel a9a.t.svm.xz --against other.ouzel
    """
    from ouzel.cli.ui.outputs import added_to, check_save_to, titled, write_outputs
    from ouzel.evaluation.testing import evaluate
    from ouzel.model import persistence
    from ouzel.model.tasks.choose import learns_numbers
    from ouzel.streams.label_remarks import classes_in
    from ouzel.streams.read import read

    options.check_plot(plot)
    check_save_to(save_to)
    models = [model, *(against or [])]
    options.check_order("test", model, files, "test it beside the first with --against {}")
    if "-" in files and len(models) > 1:
        raise OuzelError("standard input can be read once only; test models beside each other on a file")
    found: dict[str, TestReport] = {}
    remarks: list[str] = []
    for path in models:
        learnt, notes = persistence.load_notes(path)
        reading = {**options.reading_as_learnt(learnt, notes, columns.keywords()), "testing": True}
        with read(files, format=format, **reading) as stream:
            if learns_numbers(learnt.learner) and not (learnt.task.numbers or learnt.task.groups):
                remarks += classes_in(stream.first(), "train with --task regression to predict numbers")
            stream.first()
            remarks += filter(None, [learnt.remarks.of_kinds(learnt, stream.space)])
            found[path] = evaluate(learnt, stream)
            remarks += stream.remarks
            positive = stream.options.label_positive
            if positive is not None and positive.absence is not None:
                remarks.append(f"{titled(files)}: {positive.absence}, which all count as negative")

    for line in dict.fromkeys(remarks):
        print(line, file=sys.stderr)

    def draw(path: str) -> None:
        from ouzel.evaluation.confusion_plots import draw_tests

        draw_tests(found, path)

    def rows() -> list[dict[str, Any]]:
        return [{"model": path, **vars(of), **of.figures} for path, of in found.items()]

    write_outputs(
        [(plot, "figures drawn in", draw), added_to(save_to, files, rows)],
        (lambda: {path: report.to_json() for path, report in found.items()}) if json_ else None,
        lambda: _show(found),
    )


def _show(found: dict[str, TestReport]) -> None:
    """Print a table with one column per model, and the confusion matrix of a single model."""
    from ouzel.cli.ui.outputs import FIGURES, OF_RARE_CLASSES
    from ouzel.cli.ui.tables import console_for_tables, named_table, show_named
    from ouzel.evaluation.formatting import figure
    from ouzel.evaluation.ranking import RARE

    console = console_for_tables()
    reports, titles = found.values(), dict(FIGURES)
    rare = {report.rare_class for report in reports if report.figures.get("rare_share", 1.0) < RARE}
    if rare:
        titles |= {name: f"{title} of {'/'.join(map(str, rare))}" for name, title in OF_RARE_CLASSES.items()}
    names = [name for name in titles if any(name in report.figures for report in reports)]
    rows = [[*(figure(report.figures.get(name)) for report in reports), titles[name]] for name in names]
    rows += _of_intervals(found)
    rows.append([*(f"{report.examples:,}" for report in found.values()), _counted(found)])
    if any(report.left_out for report in found.values()):
        rows.append(
            [*(f"{report.left_out:,}" for report in found.values()), "left out: no label, or not a known class"]
        )
    show_named(console, [*found, ""], rows)
    (report, *others) = found.values()
    if not others and report.confusion and 2 <= len(report.confusion) <= MOST_CLASSES:
        console.print()
        console.print(named_table([*(f"as {label}" for label in report.classes), "in truth"], _confusion(report)))


def _of_intervals(found: dict[str, TestReport]) -> list[list[str]]:
    """Return the rows of coverage, and of the sizes of intervals or sets, of the levels that any model keeps."""
    from ouzel.evaluation.formatting import figure
    from ouzel.evaluation.report import MOST_GROUPS

    kept = [{one["level"]: one for one in report.intervals} for report in found.values()]
    rows = []
    for level in sorted({level for one in kept for level in one}):
        for name, what in (("coverage", "coverage of"), ("size", "mean size of")):
            figures = [figure(one[level][name]) if level in one else "-" for one in kept]
            rows.append([*figures, f"{what} intervals or sets of {level:g}"])
        groups = [{group["group"]: group["coverage"] for group in one.get(level, {}).get("groups", [])} for one in kept]
        names = list(dict.fromkeys(name for own in groups for name in own))[:MOST_GROUPS]
        where = f"coverage of those of {level:g} where "
        rows += [[*(figure(own.get(name)) for own in groups), f"{where}{name}"] for name in names]
    return rows


def _counted(found: dict[str, TestReport]) -> str:
    return "pairs" if all(report.task == "ranking" for report in found.values()) else "examples"


def _confusion(report: TestReport) -> list[Any]:
    """Return the rows of the confusion matrix, each with its class at the end."""
    assert report.confusion is not None
    return [
        [*(f"{count:,}" for count in row), str(label)]
        for row, label in zip(report.confusion, report.classes, strict=False)
    ]
