"""Named estimators, online_newton. Written by `make estimators`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ouzel.estimators.classifier import Classifier
from ouzel.estimators.named import Learners, Named, Term
from ouzel.estimators.regressor import Regressor


@dataclass(kw_only=True, eq=False, repr=False)
class OnlineNewtonClassifier(Named, Classifier):
    """Online Newton with the full matrix, for up to 2,048 features (Luo, Agarwal, Cesa-Bianchi & Langford 2016).

    Parameters
    ----------
    invariant : the pseudo-inverse and no alpha: the same predictions after any invertible map of the features
    loss : the loss of one prediction; one of logistic, hinge, smoothed-hinge, squared-hinge, squared, absolute,
        quantile, poisson, or a term
    learning_rate : step size, 1 / alpha; a number from 1e-30 to 1e9
    curvature : sigma: 1/4 suits the logistic loss, 1 / (8 C^2) the square loss; a number from 0 to 1e9
    eta : for losses without curvature: added to it as eta / sqrt(t); a number from 0 to 1e9
    bound : beyond `largest`: clip predictions, or project weights; one of clip, project, or a term
    largest : C, the largest prediction; inf for none, as for numbers; a number of 1e-30 or more; infinity is
        allowed
    from_theory : sigma and eta from the loss, `largest` and the regret bound (Theorem 2)
    features : d, features that `from_theory` counts on; a number from 1 to 1e9
    bits : of the hash of names, 11 at most: the matrix is over all ids there may be
    class_weight, interval, calibrate, fit_intercept, standardize, forget : these and others: see `OnlineClassifier`

    Examples
    --------
    >>> model = OnlineNewtonClassifier()
    >>> model.fit([[0.0, 1.0], [1.0, 0.0]] * 3, ["wet", "dry"] * 3).predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "ons"
    choices = ("invariant",)
    learners: ClassVar[Learners] = {(False,): "ons", (True,): "ons-invariant"}

    invariant: bool = False
    loss: Term = "logistic"
    learning_rate: float = 1.0
    curvature: float = 0.25
    eta: float = 0.0
    bound: Term = "project"
    largest: float = 10.0
    from_theory: bool = False
    features: float = 100.0
    bits: int = 11


@dataclass(kw_only=True, eq=False, repr=False)
class OnlineNewtonRegressor(Named, Regressor):
    """OnlineNewton on numbers: parameters of `OnlineNewtonClassifier`, losses of regression.

    Examples
    --------
    >>> model = OnlineNewtonRegressor().fit([[0.0], [1.0], [2.0]] * 50, [0.0, 1.0, 2.0] * 50)
    >>> bool(model.predict([[2.0]]) > model.predict([[0.0]]))
    True
    """

    learner = "ons"
    choices = ("invariant",)
    learners: ClassVar[Learners] = {(False,): "ons", (True,): "ons-invariant"}

    invariant: bool = False
    loss: Term = "squared"
    learning_rate: float = 0.0625
    curvature: float = 0.001
    eta: float = 0.0
    bound: Term = "clip"
    largest: float = float("inf")
    from_theory: bool = False
    features: float = 100.0
    bits: int = 11


@dataclass(kw_only=True, eq=False, repr=False)
class AioliClassifier(Named, Classifier):
    """Improper logistic regression, AIOLI, for up to 2,048 features (Jezequel, Gaillard & Rudi 2020).

    Parameters
    ----------
    loss : the loss of one prediction; one of logistic, hinge, smoothed-hinge, squared-hinge, squared, absolute,
        quantile, poisson, or a term
    learning_rate : step size, 1 / alpha; a number from 1e-30 to 1e9
    largest : B R, what |w'x| of the best weights is within; a number from 0 to 1,000,000
    bits : of the hash of names, 11 at most: the matrix is over all ids there may be
    class_weight, interval, calibrate, fit_intercept, standardize, forget : these and others: see `OnlineClassifier`

    Examples
    --------
    >>> model = AioliClassifier()
    >>> model.fit([[0.0, 1.0], [1.0, 0.0]] * 3, ["wet", "dry"] * 3).predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "aioli"

    loss: Term = "logistic"
    learning_rate: float = 1.0
    largest: float = 1.0
    bits: int = 11


@dataclass(kw_only=True, eq=False, repr=False)
class AioliRegressor(Named, Regressor):
    """Aioli on numbers: parameters of `AioliClassifier`, losses of regression.

    Examples
    --------
    >>> model = AioliRegressor().fit([[0.0], [1.0], [2.0]] * 50, [0.0, 1.0, 2.0] * 50)
    >>> bool(model.predict([[2.0]]) > model.predict([[0.0]]))
    True
    """

    learner = "aioli"

    loss: Term = "squared"
    learning_rate: float = 1.0
    largest: float = 0.0
    bits: int = 11
