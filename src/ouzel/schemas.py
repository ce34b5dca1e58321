"""Types of JSON that the service answers and commands print alike; schemas are derived from such types by msgspec."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, field

Kind = Any
"""A type that msgspec knows, or a tuple of alternatives."""
Schema = dict[str, Any]
Label = str | int | float | bool
Count = Annotated[int, Meta(ge=0)]
Figure = float | Literal["inf", "-inf", "nan"]


def about(text: str) -> Meta:
    """Return the description of a member."""
    return Meta(description=text)


Settings = dict[str, Any]
Confusion = list[list[Count]] | None
Calibration = Annotated[list[list[float]], about("of bins: mean probability, observed frequency")]
Intervals = Annotated[list[Settings], about("of each level: coverage, sizes, and a curve of both")]
Task = Annotated[str, about("classification, regression or ranking")]
Learner = Annotated[str, about("its name")]
Classes = Annotated[list[Label], about("in order")]
Warnings = Annotated[list[str], about("what went wrong, and what to try")]


class Result(Struct, forbid_unknown_fields=True):
    """An object that has no further members; those whose default is UNSET are there sometimes."""


class Contribution(Struct):
    """The contribution of a feature to a margin."""

    name: Annotated[str, about("the feature")]
    value: Annotated[float | None, about("its value; null for rows that stand for no feature")]
    weight: Annotated[float | None, about("what one more of it would add; null for rows that stand for no feature")]
    contribution: Annotated[float, about("what it adds to the margin of the average example")]
    interval: Annotated[list[float], about("of `ons`, where justified: its 95 % interval")] | UnsetType = UNSET


class ColumnContribution(Struct):
    """The contribution of a column of the table to a margin."""

    name: Annotated[str, about("the column")]
    value: Annotated[float | str | None, about("its number, date, or words; null for rows that stand for no column")]
    contribution: Annotated[float, about("what it adds to the margin of the average example")]


class PairContribution(Struct):
    """The contribution of a pair of columns to a margin, beyond those of each by itself."""

    name: Annotated[str, about("both columns")]
    contribution: Annotated[float, about("what both together add")]


Ranked = list[tuple[str, float]]


class Top(Struct):
    """The columns, features and pairs of columns that matter most to a class."""

    label: Annotated[Label | None, about("which positive weights speak for")] = field(name="class")
    columns: Annotated[Ranked, about("columns and their importance, most important first; none by `--direction`")]
    features: Annotated[list[list[str | float]], about("pairs of name and weight, most important first")]
    importances: Annotated[
        list[float | None], about("of the same features: |weight| × standard deviation, where known")
    ]
    pairs: Annotated[Ranked, about("pairs of columns, and how far what only both add moves the margin")]
    intervals: (
        Annotated[list[list[float] | None], about("of `top`, where justified: the 95 % interval of each weight")]
        | UnsetType
    ) = UNSET


FIGURES: dict[str, str] = {
    "error_rate": "share of mistakes, by importance; of pairs, in a ranking",
    "accuracy": "one less the error rate",
    "mean_loss": "mean of the learner's own loss",
    "log_loss": "mean negative logarithm of the probability of the true class",
    "calibration_error": "expected calibration error of the probabilities",
    "auc": "area under the ROC curve",
    "auc_error": "how far that may be off, for it is counted in bins",
    "rmse": "root mean squared error",
    "mae": "mean absolute error",
    "r2": "share of the variance that is explained",
    "deviance": "mean Poisson deviance of counts, by the Poisson loss",
    "average_precision": "of the rarer of two classes; mean over the groups of a ranking",
    "average_precision_error": "how far that of two classes may be off, for it is counted in bins",
    "precision": "of the rarer of two classes: share of the right ones among examples taken for it, by importance",
    "recall": "share of the rarer of two classes that is taken for it",
    "f1": "harmonic mean of these two",
    "rare_share": "share of the rarer of two classes, by importance",
    "precision_at_1": "of the first of a group",
    "precision_at_5": "of the first five",
    "precision_at_10": "of the first ten",
    "baseline": "what knowing no features would have scored: the error rate of the class most frequent so far, or the "
    "RMSE of the mean so far; by other losses the MAE of the median, the mean loss of the quantile, or the deviance",
}


def with_figures(null: bool = False) -> Callable[[type[Result]], Any]:
    """Add every figure to the members of a type: null, or else absent, where it does not apply."""
    members: Any = [
        (name, Annotated[Figure | None, about(text)])
        if null
        else (name, Annotated[Figure, about(text)] | UnsetType, UNSET)
        for name, text in FIGURES.items()
    ]

    def added(base: type[Result]) -> Any:
        namespace = {"__doc__": base.__doc__}
        return msgspec.defstruct(
            base.__name__, members, bases=(base,), kw_only=True, namespace=namespace, module=base.__module__
        )

    return added


@with_figures()
class Pass(Result):
    """The figures of a pass; those that do not apply are absent."""

    examples: Annotated[Count, about("examples, or pairs of a ranking")]


class Point(Result):
    """A point of the curve of learning."""

    examples: Annotated[Count, about("so far")]
    mean_loss: Annotated[Figure, about("so far")]
    error_rate: Annotated[Figure, about("so far")] | UnsetType = UNSET


class Drift(Result):
    """An alarm: the error rose."""

    example: Annotated[Count, about("of the stream or log, that raised it")]
    before: Annotated[float, about("mean of the errors before")]


class InputDrift(Result):
    """An alarm: a feature changed."""

    example: Annotated[Count, about("of the stream, that raised it")]
    feature: str
    higher: Annotated[bool, about("whether the feature is higher than it was")]
    before: Annotated[float, about("its mean in the first examples")]


@with_figures(null=True)
class Report(Result):
    """The report of a training."""

    learner: Learner
    settings: Annotated[Settings, about("as --set takes them")]
    task: Task
    examples: Annotated[Count, about("learnt in the first pass")]
    pairs: Annotated[Count | None, about("of a ranking, whose figures are of pairs")]
    rare_class: Annotated[Label | None, about("the rarer of two classes")]
    baseline_of: Annotated[str | None, about("what the baseline predicts, and its figure where it is not the first")]
    warnings: Warnings
    classes: Classes
    confusion: Annotated[Confusion, about("rows are the true class, columns the predicted, in that order")]
    holdout: Annotated[list[Pass], about("figures of examples held out, an entry a pass")]
    passes: Annotated[list[Pass], about("figures of each pass")]
    nonzeros: Annotated[Count, about("values of features learnt")]
    features: Annotated[Count, about("different names, or ids up to the largest")]
    features_used: Annotated[Count | None, about("different features")]
    unlabelled: Annotated[Count, about("examples without a label")]
    skipped: Annotated[Count, about("bad lines left out")]
    bytes_used: Annotated[Count, about("of the model")]
    seconds_reading: Annotated[float, about("waiting for the reader")]
    seconds_learning: Annotated[float, about("learning")]
    seconds_compiling: Annotated[float, about("compiling kernels, which later runs find on disk")]
    curve: Annotated[list[Point], about("at powers of two, and at regular distances")]
    calibration: Calibration
    calibration_before: Annotated[Calibration, about("before probabilities are recalibrated, with --calibrate")]
    calibration_error_before: Annotated[Figure | None, about("of those probabilities")]
    intervals: Intervals
    drift: Annotated[list[Drift] | None, about("alarms that the error rose, the last ones; of `train` with --alarm")]
    input_drift: Annotated[
        list[InputDrift] | None, about("alarms that features changed, the last ones; of `train` with --alarm-inputs")
    ]


class Fed(Result):
    """The state of a feed."""

    log: Annotated[str, about("its address")]
    position: Annotated[dict[str, str | int], about("behind the last message that was learnt, by partition")]
    behind: Annotated[Count | None, about("messages that wait in the log, where it says")]
    caught_up: Annotated[bool, about("whether it was at the end of the log when it last looked")]
    lines_per_second: Annotated[float, about("over the last minute or less")]
    examples: Annotated[Count, about("learnt")]
    refused: Annotated[Count, about("messages that are no examples")]
    lost: Annotated[Count, about("messages that the log no longer had")]
    failure: Annotated[str | None, about("why it ended")]
    remark: Annotated[str | None, about("what it last said")]


class Rates(Result):
    """Rates of a service per second, over the last minute or less."""

    examples: Annotated[float, about("learnt")]
    requests: Annotated[float, about("answered")]


class Latency(Result):
    """Percentiles of the latency of a route, in milliseconds."""

    p50: float
    p90: float
    p99: float


class Model(Report, kw_only=True):
    """A model of a service: the report of what it has learnt, and figures of the service."""

    name: Annotated[str, about("by which paths name it")]
    examples_in_all: Annotated[Count, about("that the model has learnt, before its log too")]
    label: Annotated[str, about("the member that is the label")]
    weight: Annotated[str | None, about("the member that is the importance weight")]
    columns: Annotated[dict[str, str], about("kinds of the columns that the model knows: number, category, date, …")]
    mixed: Annotated[list[str], about("columns that have had values of the other kind, too")]
    example: Annotated[dict[str, str | float], about("of columns that the model knows: words, means, dates")]
    calibration_weights: Annotated[list[float], about("examples in each bin of the calibration, by importance")]
    log: Annotated[Count, about("examples of the log that the model has learnt")]
    bytes: Annotated[Count, about("of the model")] | UnsetType = UNSET
    refused: Annotated[Count, about("examples, since the start of the service")] | UnsetType = UNSET
    queue: Annotated[Count, about("examples that wait to be learnt")] | UnsetType = UNSET
    queue_bytes: Annotated[Count, about("of these")] | UnsetType = UNSET
    waiting_for_labels: Annotated[Count, about("predicted examples whose label may still come")] | UnsetType = UNSET
    waiting_for_labels_bytes: Annotated[Count, about("of these")] | UnsetType = UNSET
    log_bytes: Annotated[Count, about("of the log of examples")] | UnsetType = UNSET
    up_since: Annotated[float, about("seconds since 1970")]
    alarms: Annotated[Count, about("that the error rose, since the service began")] | UnsetType = UNSET
    no_better_than_constant: (
        Annotated[Count, about("1 while the progressive loss is above that of a constant, else 0")] | UnsetType
    ) = UNSET
    rates: Rates
    latency: Annotated[dict[str, Latency], about("by route")]
    quarantine: Annotated[Count, about("lines that were refused")]
    failure: Annotated[str | None, about("why it no longer learns")]
    feeds: list[Fed]


def schema_of(kind: Kind, more: Mapping[str, Schema] = {}) -> Schema:
    """Return the JSON schema of a type; `more` is added to the schemas of the types that it names.

    >>> schema_of((list[int], str))["anyOf"]
    [{'type': 'array', 'items': {'type': 'integer'}}, {'type': 'string'}]
    """
    kinds = kind if isinstance(kind, tuple) else (kind,)
    found, components = msgspec.json.schema_components(kinds)
    named = {name: schema | more.get(name, {}) for name, schema in components.items()}
    return (found[0] if len(found) == 1 else {"anyOf": list(found)}) | ({"$defs": named} if named else {})
