"""Sketched online Newton."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ouzel.estimators.classifier import Classifier
from ouzel.estimators.regressor import Regressor
from ouzel.learners import sketched_newton_oja


class _Sketched:
    """What a person can ask of the sketch."""

    model_: Any

    @property
    def eigenvalues_(self) -> np.ndarray:
        """Estimated eigenvalues (sketch_size,) of the mean outer product of gradients, of the first column's sketch."""
        return sketched_newton_oja.eigenvalues(self.model_.states[0])

    @property
    def condition_number_(self) -> float:
        """Condition number of the metric that the sketch stands for."""
        return sketched_newton_oja.condition_number(self.model_.states[0], self.model_.settings)


@dataclass(kw_only=True, eq=False, repr=False)
class SketchedNewtonClassifier(_Sketched, Classifier):
    """Sketched online Newton with Oja's sketch (Luo, Agarwal, Cesa-Bianchi & Langford 2016).

    Parameters
    ----------
    loss : "logistic", "hinge", "smoothed-hinge", "squared-hinge", "squared", or a loss term
    sketch : "oja"
    sketch_size : directions m of the sketch; 0 is online gradient descent
    learning_rate : the step size beyond the sketch, 1 / alpha of the paper
    curvature, eta : the sketch takes in sqrt(curvature + eta / sqrt(t)) times the gradient
    diagonal : whether features are first scaled as AdaGrad does (section 5.2)
    bound : beyond `largest`, "clip" predictions or "project" weights (Lemma 1)
    fit_intercept, passes, bits, seed : see `OnlineGradientClassifier`

    Examples
    --------
    >>> model = SketchedNewtonClassifier(sketch_size=2).partial_fit([[0.0, 1.0], [1.0, 0.0]], ["wet", "dry"])
    >>> model.predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "son-oja"

    loss: Any = "logistic"
    sketch: str = "oja"
    sketch_size: int = 10
    learning_rate: float = 1.0
    curvature: float = 0.25
    eta: float = 0.0
    sketch_every: int = 1
    diagonal: bool = True
    bound: Any = "clip"
    largest: float = float("inf")

    def _settings(self) -> dict[str, Any]:
        return {name: value for name, value in super()._settings().items() if name != "sketch"}

    def _learner_name(self) -> str:
        return _learner_of(self.sketch)


@dataclass(kw_only=True, eq=False, repr=False)
class SketchedNewtonRegressor(_Sketched, Regressor):
    """Sketched online Newton on numbers: parameters of `SketchedNewtonClassifier`, losses of regression.

    For the square loss the theorems ask for `curvature` 1 / (8 C^2) where predictions lie between -C and C.

    Examples
    --------
    >>> model = SketchedNewtonRegressor(curvature=0.1).fit([[0.0], [1.0], [2.0]] * 99, [0.0, 1.0, 2.0] * 99)
    >>> round(model.predict([[1.0]]).item(), 1)
    1.0
    """

    learner = "son-oja"

    loss: Any = "squared"
    sketch: str = "oja"
    sketch_size: int = 10
    learning_rate: float = 0.0625
    curvature: float = 1e-3
    eta: float = 0.0
    sketch_every: int = 1
    diagonal: bool = False
    bound: Any = "clip"
    largest: float = float("inf")

    def _settings(self) -> dict[str, Any]:
        return {name: value for name, value in super()._settings().items() if name != "sketch"}

    def _learner_name(self) -> str:
        return _learner_of(self.sketch)


def _learner_of(sketch: str) -> str:
    from ouzel.errors import OuzelError

    if sketch != "oja":
        raise OuzelError(f"sketch must be 'oja'; got {sketch!r}")
    return "son-oja"
