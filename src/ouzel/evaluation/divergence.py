"""Whether a run has diverged: its loss lies orders of magnitude above that of a prediction without features."""

from __future__ import annotations

from math import sqrt
from typing import Any

from ouzel.evaluation.metrics import TARGET_SQUARES, TARGETS, WEIGHT, Scores
from ouzel.terms import losses

FAR = 100.0  # times the error, or the loss, of a constant prediction


def warnings_of(model: Any, scores: Scores) -> list[str]:
    """Remarks on the scores of a model, one sentence each: what diverged, and what to try."""
    if not scores.sums[WEIGHT] > 0.0:
        return []
    found = _of_numbers(scores) if scores.task.numbers else _of_classes(model, scores)
    if found is None:
        return []
    remedies = ["a smaller learning rate"] if "learning_rate" in model.settings._fields else []
    given = "labels or features" if scores.task.numbers else "features"
    remedies.append(f"smaller {given}" if model.learner.name == "auto" else "the learner auto")
    return [f"{found}: the steps are too large for these {given}; try {', or '.join(remedies)}"]


def _of_numbers(scores: Scores) -> str | None:
    """Return the divergence of predicted numbers; the scale is the size of the labels if they hardly vary."""
    rmse, size = scores.rmse or 0.0, sqrt(scores.sums[TARGET_SQUARES] / scores.sums[WEIGHT])
    if rmse <= FAR * size:
        return None
    mean = scores.sums[TARGETS] / scores.sums[WEIGHT]
    hindsight = sqrt(max(size * size - mean * mean, 0.0))
    found = scores.baseline if isinstance(scores.task.loss, losses.Squared) else hindsight
    return f"the rmse ({rmse:.3g}) is far above that of always predicting the mean ({found or 0.0:.3g})"


def _of_classes(model: Any, scores: Scores) -> str | None:
    """Return the divergence of margins of classes or pairs, by a loss that the learner minimises."""
    if not hasattr(model.settings, "loss") or scores.mean_loss is None:
        return None
    undecided = losses.value(model.loss, 0.0, 1.0) * model.columns
    if not undecided > 0.0 or scores.mean_loss <= FAR * undecided:
        return None
    return f"the loss ({scores.mean_loss:.3g}) is far above that of margins of 0 ({undecided:.3g})"
