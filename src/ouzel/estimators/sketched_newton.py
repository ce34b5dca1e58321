"""Sketched online Newton."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ouzel.estimators.classifier import Classifier
from ouzel.estimators.named import Learners, Named
from ouzel.estimators.regressor import Regressor

LEARNERS: Learners = {("oja",): "son-oja", ("fd",): "son-fd", ("rp",): "son-rp"}


@dataclass(kw_only=True, eq=False, repr=False)
class _Sketched(Named):
    """Attributes of the sketch; with three or more classes, of the sketch of the first class."""

    learner = "son-oja"
    choices = ("sketch",)
    learners = LEARNERS

    sketch: str = "oja"
    sketch_size: int = 10
    eta: float = 0.0
    from_theory: bool = False
    sketch_every: int = 1
    normalised: bool = True
    first_square: float = 0.1
    earlier: bool = False
    bound: Any = "clip"
    largest: float = float("inf")
    gamma: float = 1.0
    by_mass: bool = True
    start: Any = "random"

    @property
    def eigenvalues_(self) -> np.ndarray:
        """Estimated leading eigenvalues (sketch_size,) of the mean outer product of what is sketched, largest first."""
        return np.sort(self.model_.module.eigenvalues(self.model_.states[0]))[::-1]

    @property
    def directions_(self) -> np.ndarray:
        """The eigenvectors (sketch_size, 1 + features) to `eigenvalues_`, the constant first.

        Rows are orthonormal, over features as the sketch sees them: scaled if `diagonal`. A sketch larger than what it
        has seen of features ends in rows of zeros.
        """
        state, width = self.model_.states[0], self.model_.dimension
        order = np.argsort(-self.model_.module.eigenvalues(state), kind="stable")
        return self.model_.module.directions(state)[order, :width]

    @property
    def condition_number_(self) -> float:
        """Effective condition number: that of the metric A which the sketch stands for."""
        return self.model_.module.condition_number(self.model_.states[0], self.model_.settings)


@dataclass(kw_only=True, eq=False, repr=False)
class SketchedNewtonClassifier(_Sketched, Classifier):
    """Sketched online Newton (Luo, Agarwal, Cesa-Bianchi & Langford 2016).

    Parameters
    ----------
    loss : "logistic", "hinge", "smoothed-hinge", "squared-hinge", "squared", or a loss term
    sketch : "oja", "fd" for Frequent Directions, "rp" for a random projection
    sketch_size : directions m of the sketch; 0 is online gradient descent
    learning_rate : the step size beyond the sketch, 1 / alpha of the paper; None for 4, 6 with "fd"
    curvature, eta : the sketch takes in sqrt(curvature + eta / sqrt(t)) times the gradient
    from_theory : both as Theorem 3 asks, of the loss and `largest`
    sketch_every : Oja's directions are turned once for so many gradients
    diagonal : whether features are scaled by their gradients
    normalised : with `diagonal`, as D^-1/4 x / largest, which is AdaGrad's step; else as D^-1/2 x (section 5.2)
    first_square, earlier : D before the first gradient; whether it has earlier gradients only, as the paper prints it
    gamma, by_mass : Oja's steps are gamma / P_i, a direction's own, or gamma / t
    start : where Oja's directions begin: "random", "first-seen", or "ids(first=0)"
    bound : beyond `largest`, "clip" predictions or "project" weights (Lemma 1)
    fit_intercept, passes, bits, seed : see `OnlineGradientClassifier`

    Examples
    --------
    >>> model = SketchedNewtonClassifier(sketch_size=2).partial_fit([[0.0, 1.0], [1.0, 0.0]], ["wet", "dry"])
    >>> model.predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    loss: Any = "logistic"
    learning_rate: float | None = None
    curvature: float = 0.25
    diagonal: bool = True


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

    loss: Any = "squared"
    learning_rate: float = 0.0625
    curvature: float = 1e-3
    diagonal: bool = False
