"""Types of what `train`, `predict` and `test` print with --json, and types that other commands share."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Struct, UnsetType

from ouzel.schemas import (
    Calibration,
    Classes,
    ColumnContribution,
    Confusion,
    Contribution,
    Count,
    Figure,
    Intervals,
    Label,
    Learner,
    PairContribution,
    Report,
    Result,
    Schema,
    Task,
    about,
    with_figures,
)

Seconds = Annotated[float, about("in all")]


@with_figures()
class Figures(Result):
    """Figures; those that do not apply are absent."""


class Spread(Result):
    """The cost of a distributed training."""

    rounds: Annotated[Count, about("rounds of learning and merging")]
    merged: Annotated[Count, about("states merged")]
    bytes_moved: Annotated[Count, about("between processes")]
    seconds_reading: Annotated[float, about("of all workers")]
    seconds_learning: Annotated[float, about("of all workers")]
    seconds_compiling: Annotated[float, about("of all workers")]
    seconds_merging: Annotated[float, about("of all workers")]
    seconds_unpacking: Annotated[float, about("of all workers")]
    seconds_moving: Annotated[float, about("beyond the slowest worker")]
    seconds: Seconds


class Joined(Result):
    """The counts of a join of events and labels."""

    late_labels: Annotated[Count, about("labels whose event was not there, or no longer")]
    unlabelled_events: Annotated[Count, about("events that waited in vain")]
    waiting_events: Annotated[Count, about("events that wait for their label")]
    waiting_labels: Annotated[Count, about("labels that wait for their event")]


class Trained(Report):
    """The report of a training, and where its model is."""

    model: Annotated[str | None, about("the file written")]
    spread: Annotated[Spread, about("with --workers or --cluster")] | UnsetType = UNSET
    joined: Annotated[Joined, about("with --labels")] | UnsetType = UNSET


class Status(Result):
    """A line that a training prints while it follows a log."""

    examples: Annotated[Count, about("that the model has learnt")]
    examples_per_second: Annotated[float, about("since it began")]
    behind: Annotated[Count | None, about("messages that wait in the log, where it says")]
    saved: Annotated[Count | None, about("examples that the model had learnt when it was saved")]
    error_rate: Annotated[Figure | None, about("so far")]
    mean_loss: Annotated[Figure | None, about("so far")]
    joined: Annotated[Joined, about("with --labels")] | UnsetType = UNSET


class Prediction(Struct, kw_only=True):
    """A prediction."""

    row: Annotated[Count, about("which row of the stream it is, from 1, bad ones counted")] | UnsetType = UNSET
    id: Annotated[str | float | None, about("what the row is called")] | UnsetType = UNSET
    actual: Annotated[Label | None, about("its label")] | UnsetType = UNSET
    label: Annotated[Label, about("the class, or the number, predicted")] | UnsetType = UNSET
    margin: Annotated[float, about("of two classes above 0 for the second; or of a number")] | UnsetType = UNSET
    probability: Annotated[float, about("of the second of two classes")] | UnsetType = UNSET
    score: Annotated[float, about("of a ranking")] | UnsetType = UNSET
    low: Annotated[Figure, about("with --interval: the lower end, of a number")] | UnsetType = UNSET
    high: Annotated[Figure, about("with --interval: the upper end, of a number")] | UnsetType = UNSET
    set: Annotated[list[Label], about("with --interval: the labels in the set")] | UnsetType = UNSET
    why: (
        Annotated[
            list[ColumnContribution], about("with --explain: columns that add most to the margin, or the largest")
        ]
        | UnsetType
    ) = UNSET
    all_else: Annotated[float, about("with --explain: what is left of that margin")] | UnsetType = UNSET
    why_values: Annotated[list[Contribution], about("with --explain: the same by value")] | UnsetType = UNSET
    why_pairs: (
        Annotated[list[PairContribution], about("with --explain: what only pairs of columns add")] | UnsetType
    ) = UNSET


OF_CLASSES = {"^(margin|probability):": {"type": "number", "description": "of three classes and more"}}
OPEN: dict[str, Schema] = {"Prediction": {"patternProperties": OF_CLASSES, "additionalProperties": False}}
"""Members whose names depend on the data."""


class Tested(Result):
    """The figures of a model on a stream that it does not learn."""

    learner: Learner
    task: Task
    examples: Annotated[Count, about("predicted")]
    left_out: Annotated[Count, about("examples of classes that the model does not know, or without a label")]
    figures: Annotated[Figures, about("those that apply")]
    rare_class: Annotated[Label | None, about("the rarer of two classes")]
    classes: Classes
    confusion: Annotated[Confusion, about("rows are the true class, columns the predicted")]
    calibration: Calibration
    calibration_before: Annotated[Calibration, about("before probabilities are recalibrated, with --calibrate")]
    calibration_error_before: Annotated[Figure | None, about("of those probabilities")]
    intervals: Intervals
