"""The answer after a training: the figures, and the heaviest features by name."""

from __future__ import annotations

import textwrap

from rich.console import Console

from ouzel.cli.ui.formatting import heaviest, settings
from ouzel.evaluation.figures import figure, size
from ouzel.evaluation.report import Report
from ouzel.model.model import Model

MOST_CLASSES_SHOWN = 20
WIDTH = 80  # columns that a line may take


def show_answer(model: Model, report: Report, top: int) -> None:
    """Print what was found to standard output."""
    console = Console(highlight=False, markup=False, soft_wrap=True)
    console.print()
    console.print(f"{report.learner}  {settings(report.settings)}")
    for name, value in _facts(report):
        console.print(f"  {name:<13}{value}")
    if top > 0:
        _show_features(console, model, top)
    for warning in report.warnings:
        console.print("\n" + textwrap.fill(f"warning: {warning}", WIDTH))
    console.print()


def _facts(report: Report) -> list[tuple[str, str]]:
    facts = []
    if report.task == "classification":
        facts.append(("error rate", f"{figure(report.error_rate)}   accuracy {figure(report.accuracy)}"))
        more = [f"log-loss {figure(report.log_loss)}"] if report.log_loss not in (None, report.mean_loss) else []
        more += [f"AUC {figure(report.auc)}"] if report.auc is not None else []
        more += (
            [f"calibration error {figure(report.calibration_error)}"] if report.calibration_error is not None else []
        )
        facts.append(("mean loss", "   ".join([figure(report.mean_loss), *more])))
    elif report.task == "ranking":
        facts.append(("pair error", f"{figure(report.error_rate)}   of {report.pairs or 0:,} pairs"))
        if report.average_precision is not None:
            at = (("1", report.precision_at_1), ("5", report.precision_at_5), ("10", report.precision_at_10))
            places = "   ".join(f"at {k} {figure(value)}" for k, value in at)
            facts.append(("precision", f"{figure(report.average_precision)} on average   {places}"))
        facts.append(("mean loss", figure(report.mean_loss)))
    else:
        facts.append(("rmse", f"{figure(report.rmse)}   mae {figure(report.mae)}   r2 {figure(report.r2)}"))
        facts.append(("mean loss", figure(report.mean_loss)))
    if report.baseline is not None:
        of = "the mean so far" if report.task == "regression" else "the class most frequent so far"
        facts.append(("baseline", f"{figure(report.baseline)}   always predicting {of}"))
    for number, part in enumerate(report.holdout, 1):
        name = "held out" if len(report.holdout) == 1 else f"held out {number}"
        chosen = part.get("error_rate", part.get("rmse"))
        facts.append((name, f"{figure(chosen)}   of {part['examples']:,} examples never learnt"))
    if len(report.passes) > 1:
        shown = [part.get("error_rate", part.get("rmse")) for part in report.passes]
        facts.append(("by pass", "   ".join(figure(value) for value in shown)))
    left_out = [f"{report.unlabelled:,} without a label"] if report.unlabelled else []
    left_out += [f"{report.skipped:,} bad line{'s' if report.skipped > 1 else ''} skipped"] if report.skipped else []
    facts.append(("examples", "   ".join([f"{report.examples:,}", *left_out])))
    used = report.features_used
    in_use = f" ({used:,} in use)" if used is not None and used != report.features else ""
    facts.append(("features", f"{report.features:,}{in_use}   non-zeros {report.nonzeros:,}"))
    if report.task == "classification":
        names = fitting(list(map(str, report.classes)), WIDTH - 25, ", ")
        shown_classes = ", ".join(names)
        more_classes = " …" if len(report.classes) > len(names) else ""
        if len(report.classes) == 1:
            more_classes = " alone, which teaches nothing: see to --label and --label-positive"
        facts.append(("classes", f"{len(report.classes)}: {shown_classes}{more_classes}"))
    compiling = f"   {report.seconds_compiling:.2f} compiling, once only" if report.seconds_compiling else ""
    facts.append(
        ("seconds", f"{report.seconds_reading:.2f} reading   {report.seconds_learning:.2f} learning{compiling}")
    )
    facts.append(("memory", size(report.bytes_used)))
    return facts


def fitting(parts: list[str], width: int, between: str) -> list[str]:
    """The first parts that fit a line, one at least.

    >>> fitting(["sun +1", "rain -1", "hail -2"], 16, "  ")
    ['sun +1', 'rain -1']
    """
    room = width + len(between)
    fits = 0
    for part in parts:
        room -= len(part) + len(between)
        fits += room >= 0
        if room < 0:
            break
    return parts[: max(1, fits)]


def _show_features(console: Console, model: Model, top: int) -> None:
    columns = heaviest(model, top)
    console.print()
    if len(columns) > 1:
        console.print("heaviest features of each class")
        for label, column in columns[:MOST_CLASSES_SHOWN]:
            shown = fitting([f"{name} {weight:+.3g}" for name, weight in column[:top]], WIDTH - 13, "  ")
            console.print(f"  {label!s:<10} " + "  ".join(shown))
        if len(columns) > MOST_CLASSES_SHOWN:
            console.print(f"  … and of {len(columns) - MOST_CLASSES_SHOWN:,} more: ouzel top MODEL")
        return
    label, column = columns[0]
    console.print("heaviest features" + ("" if label is None else f" (positive weights speak for {label})"))
    width = max((len(name) for name, _ in column), default=0)
    for name, weight in column:
        console.print(f"  {name:<{min(width, 60)}}  {weight:+10.4f}")
