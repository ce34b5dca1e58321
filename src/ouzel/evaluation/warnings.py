"""Warnings about the scores of a model: that it diverged, or predicts no better than a constant; and what to try."""

from __future__ import annotations

from math import sqrt
from typing import Any

from ouzel.evaluation.metrics import TARGET_SQUARES, TARGETS, WEIGHT, Scores
from ouzel.terms import losses

FAR = 100.0  # times the error, or the loss, of a constant prediction
SORTED = "examples come sorted by class, and one pass predicts best what came last: shuffle them"
ENOUGH = 100  # examples, before which a model may still be learning what is most frequent


def warnings_of(model: Any, scores: Scores) -> list[str]:
    """Remarks on the scores of a model, one sentence each: what went wrong, and what to try."""
    if not scores.sums[WEIGHT] > 0.0:
        return []
    found = _of_numbers(scores) if scores.task.numbers else _of_classes(model, scores)
    if found is None:
        return [*([SORTED] if scores.constant.sorted_by_class else []), *no_better_than_constant(model, scores)]
    remedies = ["a smaller learning rate"] if "learning_rate" in model.settings._fields else []
    given = "labels or features" if scores.task.numbers else "features"
    remedies.append(f"smaller {given}" if model.learner.name == "auto" else "the learner auto")
    return [f"{found}: the steps are too large for these {given}; try {', or '.join(remedies)}"]


def no_better_than_constant(model: Any, scores: Scores) -> list[str]:
    """A line where the progressive loss is above that of a constant prediction, the best so far at each example.

    That is the log loss of probabilities, the mistakes of other classifiers, and of numbers the figure of the baseline.
    """
    if scores.examples < ENOUGH or scores.task.groups:
        return []
    name: str
    score: float | None
    constant: float | None
    if scores.log_loss is not None:
        name, score, constant = "log loss", scores.log_loss, scores.constant.log_loss
        about = "always predicting the shares of the classes so far"
    elif scores.error_rate is not None:
        name, score, constant, about = "error", scores.error_rate, scores.baseline, scores.baseline_of or ""
    else:
        name, score = _figure_of_baseline(scores)
        constant, about = scores.baseline, (scores.baseline_of or "").removeprefix(f"{name} of ")
    if score is None or constant is None or not score > constant:
        return []
    if model.class_weight is not None:
        remedy = "weights of classes move probabilities; --calibrate moves them back, and the AUC does not depend on it"
    elif model.standardize is False and model.learner.name != "auto":
        remedy = "try the option standardize, or the learner auto"
    elif model.learner.name != "auto":
        remedy = "try the learner auto, or a smaller learning rate"
        if "learning_rate" not in model.settings._fields:
            remedy = "try the learner auto"
    else:
        remedy = "the columns may say nothing of the label, or there are too few examples"
    return [f"no better than a constant: the {name} ({score:.4g}) is above {constant:.4g}, that of {about}; {remedy}"]


def _figure_of_baseline(scores: Scores) -> tuple[str, float | None]:
    """Return the figure that the baseline of numbers is scored by, and its value for the model."""
    loss = scores.task.loss
    if isinstance(loss, losses.Poisson):
        return "deviance", scores.deviance
    if isinstance(loss, losses.Absolute):
        return "mae", scores.mae
    return ("mean loss", scores.mean_loss) if isinstance(loss, losses.Quantile) else ("rmse", scores.rmse)


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
