"""What a progressive validation found, for people (attributes) and machines (`to_json`)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ouzel.evaluation.curve import Point


@dataclass(frozen=True)
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
    average_precision: float | None  # of a ranking: mean over groups, scored before they are learnt
    precision_at_1: float | None
    precision_at_5: float | None
    precision_at_10: float | None
    baseline: float | None  # error rate of the class most frequent so far, or RMSE of the mean so far
    warnings: list[str]  # of a run that diverged: what, and what to try
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

    def to_json(self) -> dict[str, Any]:
        """JSON values; a number that JSON cannot write becomes a string."""
        values = {**self.__dict__, "curve": [_as_dict(point, self.task) for point in self.curve]}
        return {name: _plain(value) for name, value in values.items()}


def _as_dict(point: Point, task: str) -> dict[str, Any]:
    shown = {"examples": point.examples, "mean_loss": point.mean_loss}
    return shown if task == "regression" else shown | {"error_rate": point.error_rate}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
