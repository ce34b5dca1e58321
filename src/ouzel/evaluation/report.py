"""Result of a progressive validation, for people (attributes) and machines (`to_json`)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ouzel.deferred import deferred
from ouzel.evaluation.calibration import STRETCH
from ouzel.evaluation.curve import Point
from ouzel.evaluation.formatting import NAMES, WIDTH, figure, figures, fitting, settings, size
from ouzel.evaluation.metrics import Scores, confusion_in_order
from ouzel.evaluation.ranking import RARE
from ouzel.evaluation.warnings import warnings_of
from ouzel.model.remarks import absent_classes
from ouzel.model.settings import in_words

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ouzel.evaluation import holdout
else:
    holdout = deferred("ouzel.evaluation.holdout")  # of several passes, as what is held out

MOST_NAME = 12  # characters of the name of a line


@dataclass(frozen=True, repr=False)
class Report:
    """Figures of the first pass; what does not apply to the task is None."""

    learner: str
    settings: dict[str, Any]  # as a user gives them
    task: str
    examples: int
    pairs: int | None  # of a ranking, whose figures are of pairs
    error_rate: float | None
    accuracy: float | None
    mean_loss: float | None
    log_loss: float | None
    calibration_error: float | None  # expected, of probabilities
    auc: float | None
    auc_error: float | None
    rmse: float | None
    mae: float | None
    r2: float | None
    deviance: float | None  # of counts by the Poisson loss
    average_precision: float | None  # of the rarer of two classes; of a ranking: mean over groups, not learnt yet
    average_precision_error: float | None
    precision: float | None  # of the rarer of two classes, as recall and f1
    recall: float | None
    f1: float | None
    rare_share: float | None  # of the rarer class, by importance
    rare_class: Any  # which it is
    precision_at_1: float | None
    precision_at_5: float | None
    precision_at_10: float | None
    baseline: float | None  # what knowing no features would have scored
    baseline_of: str | None  # what that predicts, and by which figure it is scored
    warnings: list[str]  # of a run that diverged, or is no better than a constant: what, and what to try
    classes: list[Any]
    confusion: list[list[int]] | None  # rows are the true class, columns the predicted, in the order of `classes`
    holdout: list[dict[str, Any]]  # figures of held-out examples, one entry a pass
    passes: list[dict[str, Any]]  # figures of each pass
    nonzeros: int
    features: int  # different names, or ids up to the largest
    features_used: int | None  # different features
    unlabelled: int
    skipped: int
    bytes_used: int
    seconds_reading: float
    seconds_learning: float
    seconds_compiling: float  # of kernels, which later runs find on disk; in neither of the two above
    curve: list[Point]
    calibration: list[tuple[float, float]]  # (mean probability, share that came true) of bins
    calibration_before: list[tuple[float, float]]  # the same before probabilities are recalibrated
    calibration_error_before: float | None
    intervals: list[dict[str, Any]]  # for each level: coverage, size, in all and over time
    drift: list[dict[str, Any]] | None  # alarms that the error rose, where they were asked for
    input_drift: list[dict[str, Any]] | None  # alarms that features changed, where they were asked for

    def to_json(self) -> dict[str, Any]:
        """JSON values; a number that JSON cannot write becomes a string."""
        values = {**self.__dict__, "curve": [_as_dict(point, self.task) for point in self.curve]}
        return {name: as_json(value) for name, value in values.items()}

    def to_pandas(self) -> Any:
        """The curve as a data frame: examples, mean loss and error rate so far, a row a point."""
        import pandas as pd

        return pd.DataFrame.from_records([_as_dict(point, self.task) for point in self.curve])

    def plot(self, path: str | None = None, title: str = "") -> Figure:
        """Draw the curve, and calibration and coverage if there are any; write an .svg, .png or .pdf file if named.

        Returns a figure of matplotlib, which a notebook shows.
        """
        from ouzel.evaluation.curve_plots import draw_training

        numbers, pairs = self.rmse is not None, self.pairs is not None
        about: dict[str, Any] = {"numbers": numbers, "pairs": pairs, "title": title, "intervals": self.intervals}
        about["before"] = self.calibration_before
        return draw_training(self.learner, self.curve, self.calibration, path, **about)

    @property
    def facts(self) -> list[tuple[str, str]]:
        """The figures for people: a name and a line of each."""
        facts = []
        if self.task == "classification":
            other_loss = () if self.log_loss == self.mean_loss else ("log_loss",)
            facts.append(self._line("error_rate", "accuracy"))
            facts.append(self._line("mean_loss", *other_loss, "auc", "calibration_error", "calibration_error_before"))
            if self.rare_share is not None and self.rare_share < RARE:
                of_it = figures(vars(self), "f1", "precision", "recall", "average_precision")
                facts.append((f"class {self.rare_class}"[:MOST_NAME], "   ".join(of_it)))
        elif self.task == "ranking":
            facts.append((NAMES["error_rate"], f"{figure(self.error_rate)}   of {self.pairs or 0:,} pairs"))
            if self.average_precision is not None:
                at = (("1", self.precision_at_1), ("5", self.precision_at_5), ("10", self.precision_at_10))
                places = "   ".join(f"at {k} {figure(value)}" for k, value in at)
                average = f"{NAMES['average_precision']} {figure(self.average_precision)}"
                facts.append(("precision", f"{average}   {places}"))
            facts.append(self._line("mean_loss"))
        else:
            facts.append(self._line("rmse", "mae", "r2"))
            facts.append(self._line("mean_loss", "deviance"))
        facts += lines_of_coverage(self.intervals, numbers=self.task == "regression")
        if self.baseline is not None:
            facts.append((NAMES["baseline"], f"{figure(self.baseline)}   {self.baseline_of}"))
        for number, part in enumerate(self.holdout, 1):
            name = "held out" if len(self.holdout) == 1 else f"held out {number}"
            chosen = part.get("error_rate", part.get("rmse"))
            facts.append((name, f"{figure(chosen)}   of {part['examples']:,} examples never learnt"))
        if len(self.passes) > 1:
            shown = [part.get("error_rate", part.get("rmse")) for part in self.passes]
            facts.append(("by pass", "   ".join(figure(value) for value in shown)))
        left_out = [f"{self.unlabelled:,} without a label"] if self.unlabelled else []
        left_out += [f"{self.skipped:,} bad line{'s' if self.skipped > 1 else ''} skipped"] if self.skipped else []
        facts.append(("examples", "   ".join([f"{self.examples:,}", *left_out])))
        used = self.features_used
        in_use = f" ({used:,} in use)" if used is not None and used != self.features else ""
        facts.append(("features", f"{self.features:,}{in_use}   non-zeros {self.nonzeros:,}"))
        if self.task == "classification":
            names = fitting(list(map(str, self.classes)), WIDTH - 25, ", ")
            shown_classes = ", ".join(names)
            more_classes = " …" if len(self.classes) > len(names) else ""
            if len(self.classes) == 1:
                more_classes = " alone: nothing to learn; check --label and --label-positive"
            facts.append(("classes", f"{len(self.classes)}: {shown_classes}{more_classes}"))
        compiling = f"   {self.seconds_compiling:.2f} compiling, once only" if self.seconds_compiling else ""
        facts.append(
            ("seconds", f"{self.seconds_reading:.2f} reading   {self.seconds_learning:.2f} learning{compiling}")
        )
        facts.append(("memory", size(self.bytes_used)))
        return facts

    def _line(self, name: str, *others: str) -> tuple[str, str]:
        """A figure, and on its line the others that there are."""
        return NAMES[name], "   ".join([figure(getattr(self, name)), *figures(vars(self), *others)])

    def __repr__(self) -> str:
        lines = [f"{name:<13}{value}" for name, value in self.facts]
        return "\n".join([f"{self.learner}  {settings(self.settings)}", *lines, *self.warnings])

    def _repr_html_(self) -> str:
        from ouzel.evaluation import html_tables

        return html_tables.facts(self.learner, settings(self.settings), self.facts)


def _as_dict(point: Point, task: str) -> dict[str, Any]:
    shown = {"examples": point.examples, "mean_loss": point.mean_loss}
    return shown if task == "regression" else shown | {"error_rate": point.error_rate}


def as_json(value: Any) -> Any:
    """A value with a string in place of every number that JSON cannot write."""
    if isinstance(value, dict):
        return {str(name): as_json(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def of_answers(model: Any, scores: Scores) -> dict[str, Any]:
    """Calibration of probabilities, and coverage of intervals or sets, a row per level."""
    return {
        "calibration": scores.calibration.points,
        "calibration_before": scores.before.points,
        "calibration_error_before": scores.before.error,
        "intervals": scores.coverage.figures(
            model.interval, lambda key: model.preparation.group_name(key, model.names)
        ),
    }


def lines_of_coverage(intervals: list[dict[str, Any]], numbers: bool) -> list[tuple[str, str]]:
    """Lines for people: coverage and size of intervals or sets, a line per level."""
    found = []
    for one in intervals:
        parts = _of_coverage(one, numbers)
        parts += [] if one["worst"] is None else [f"worst of {STRETCH:,} {figure(one['worst'])}"]
        found.append((f"level {one['level']:g}", "   ".join(parts)))
        groups = one.get("groups", [])
        for group in groups[:MOST_GROUPS]:
            parts = [group["group"], *_of_coverage(group, numbers), f"{group['examples']:,} examples"]
            found.append(("", "   ".join(parts)))
        if len(groups) > MOST_GROUPS:
            furthest = max(groups, key=lambda group: abs((group["coverage"] or 0.0) - one["level"]))
            parts = [f"{len(groups) - MOST_GROUPS:,} more groups", "furthest of all", furthest["group"]]
            found.append(("", "   ".join([*parts, *_of_coverage(furthest, numbers)])))
    return found


MOST_GROUPS = 10  # with a line of their own


def _of_coverage(one: dict[str, Any], numbers: bool) -> list[str]:
    """Parts of a line on the intervals or sets of a level, or of a group of it."""
    parts = [f"coverage {figure(one['coverage'])}", f"{'width' if numbers else 'labels'} {figure(one['size'])}"]
    return parts + ([f"{one['unbounded']:,} unbounded"] if one["unbounded"] else [])


def report_of(run: Any) -> Report:
    """Return the report of a `progressive.Run`, at its end or before."""
    model, scores = run.model, run.scores
    order, later = model.classes.order(), holdout.warning_of_passes(run) if run.passed > 1 else None
    used, watched = run.features.used, getattr(run.alarm, "changes", None)
    return Report(
        learner=model.learner.name,
        settings=in_words(model.settings),
        task=model.task.name,
        examples=run.examples,
        pairs=scores.examples if model.task.groups else None,
        classes=[model.classes.known[k] for k in order],
        confusion=confusion_in_order(scores, order),
        holdout=[
            {"examples": part.scores.examples, **_present(part.scores.figures())}
            for part in run.holdouts[: max(1, run.passed)]
        ],
        passes=[{"examples": part.examples, **_present(part.figures())} for part in run.by_pass[: max(1, run.passed)]],
        nonzeros=run.nonzeros,
        features=(used or 0) if len(model.names) else run.features.span,
        features_used=used,
        unlabelled=model.unlabelled,
        skipped=run.skipped,
        bytes_used=model.bytes_used,
        seconds_reading=run.clock.seconds["reading"],
        seconds_learning=run.clock.seconds["learning"],
        seconds_compiling=run.clock.seconds["compiling"],
        curve=run.curve.points,
        drift=None if run.alarm is None else [event._asdict() for event in run.alarm.events],
        input_drift=None if watched is None else [event._asdict() for event in watched],
        **of_answers(model, scores),
        warnings=[*warnings_of(model, scores), *filter(None, [absent_classes(model), later])],
        baseline_of=scores.baseline_of,
        rare_class=None if scores.rare_class is None else model.classes.known[scores.rare_class],
        **dict[str, Any](scores.figures()),
    )


def _present(figures: dict[str, float | None]) -> dict[str, float]:
    return {name: figure for name, figure in figures.items() if figure is not None}
