"""Online Newton with the full matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ouzel.estimators.classifier import Classifier
from ouzel.estimators.named import Named
from ouzel.estimators.regressor import Regressor


@dataclass(kw_only=True, eq=False, repr=False)
class _ByInvariance(Named):
    """Choice of the learner by the parameter `invariant`."""

    learner = "ons"
    choices = ("invariant",)
    learners: ClassVar = {(False,): "ons", (True,): "ons-invariant"}

    invariant: bool = False
    bits: int = 11


@dataclass(kw_only=True, eq=False, repr=False)
class OnlineNewtonClassifier(_ByInvariance, Classifier):
    """Online Newton with the full matrix, for up to 2,048 features (Luo, Agarwal, Cesa-Bianchi & Langford 2016).

    Parameters
    ----------
    loss : "logistic", "hinge", "smoothed-hinge", "squared-hinge", "squared", or a loss term
    invariant : no alpha and the pseudo-inverse: the same predictions after any invertible map of the features
    learning_rate : 1 / alpha; not used if `invariant`
    curvature, eta : the matrix takes in (curvature + eta / sqrt(t)) g g'
    from_theory, features : both as Theorem 2 asks, of the loss, `largest` and so many features
    bound : beyond `largest`, "clip" predictions or "project" weights (Lemmas 1 and 2)
    bits : of the hash of names, 11 at most: the matrix is over all ids there may be
    fit_intercept, passes, seed : see `OnlineGradientClassifier`

    Examples
    --------
    >>> model = OnlineNewtonClassifier().partial_fit([[0.0, 1.0], [1.0, 0.0]], ["wet", "dry"])
    >>> model.predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    loss: Any = "logistic"
    learning_rate: float = 1.0
    curvature: float = 0.25
    eta: float = 0.0
    from_theory: bool = False
    features: float = 100.0
    bound: Any = "project"
    largest: float = 10.0


@dataclass(kw_only=True, eq=False, repr=False)
class OnlineNewtonRegressor(_ByInvariance, Regressor):
    """Online Newton on numbers: parameters of `OnlineNewtonClassifier`, losses of regression.

    For the square loss the theorems ask for `curvature` 1 / (8 C^2) where predictions lie between -C and C.

    Examples
    --------
    >>> model = OnlineNewtonRegressor(curvature=0.1).fit([[0.0], [1.0], [2.0]] * 99, [0.0, 1.0, 2.0] * 99)
    >>> round(model.predict([[1.0]]).item(), 1)
    1.0
    """

    loss: Any = "squared"
    learning_rate: float = 0.0625
    curvature: float = 1e-3
    eta: float = 0.0
    from_theory: bool = False
    features: float = 100.0
    bound: Any = "clip"
    largest: float = float("inf")
