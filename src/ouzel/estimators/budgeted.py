"""Classifiers within a byte budget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ouzel.estimators.classifier import Classifier


@dataclass(kw_only=True, eq=False, repr=False)
class AWMSketchClassifier(Classifier):
    """Active-Set Weight-Median Sketch (Tai, Sharan, Bailis & Valiant 2018): heavy weights exact, others sketched.

    Parameters
    ----------
    loss : "logistic", "smoothed-hinge", "squared", …, or a loss term
    budget : bytes, a number or a size such as "8KB"; with more than two classes each has so many
    heap_size, width, depth : instead of what the budget gives; 0 for that
    learning_rate, schedule : first step, and "inverse-time" (the authors' code), "inverse-root" or "constant"
    l2 : strength of the ridge penalty
    fit_intercept, passes, bits, seed : see `OnlineGradientClassifier`; the seed is the sketch's, too

    Examples
    --------
    >>> model = AWMSketchClassifier(budget="1KB").partial_fit([[0.0, 1.0], [1.0, 0.0]], ["wet", "dry"])
    >>> model.bytes_used_
    1024
    """

    learner = "awm"

    loss: Any = "logistic"
    budget: Any = "8KB"
    heap_size: int = 0
    width: int = 0
    depth: int = 0
    learning_rate: float = 0.1
    schedule: Any = "inverse-time"
    l2: float = 1e-6

    def _settings(self) -> dict[str, Any]:
        return {**super()._settings(), "sketch_seed": self.seed}

    @property
    def coef_(self) -> Any:
        """Not known: a sketch has no list of its features; see `top_weights`."""
        raise AttributeError("a byte budget keeps no weight vector; ask for top_weights")
