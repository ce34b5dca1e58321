"""Named estimators, online_gradient. Written by `make estimators`."""

from __future__ import annotations

from dataclasses import dataclass

from ouzel.estimators.classifier import Classifier
from ouzel.estimators.named import Named, Term
from ouzel.estimators.regressor import Regressor


@dataclass(kw_only=True, eq=False, repr=False)
class OnlineGradientClassifier(Named, Classifier):
    """Online gradient descent with steps `learning_rate / t^power` (Zinkevich 2003).

    Parameters
    ----------
    loss : the loss of one prediction; one of logistic, hinge, smoothed-hinge, squared-hinge, squared, absolute,
        quantile, poisson, or a term
    learning_rate : step size; by default 0.5, for the squared loss 0.125; a number from 1e-30 to 1e9
    power : how fast steps fall: as 1 / t^power; a number from 0 to 10
    class_weight, interval, calibrate, fit_intercept, standardize, forget : these and others: see `OnlineClassifier`

    Examples
    --------
    >>> model = OnlineGradientClassifier()
    >>> model.fit([[0.0, 1.0], [1.0, 0.0]] * 3, ["wet", "dry"] * 3).predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "ogd"

    loss: Term = "logistic"
    learning_rate: float | None = None
    power: float = 0.5


@dataclass(kw_only=True, eq=False, repr=False)
class OnlineGradientRegressor(Named, Regressor):
    """OnlineGradient on numbers: parameters of `OnlineGradientClassifier`, losses of regression.

    Examples
    --------
    >>> model = OnlineGradientRegressor().fit([[0.0], [1.0], [2.0]] * 50, [0.0, 1.0, 2.0] * 50)
    >>> bool(model.predict([[2.0]]) > model.predict([[0.0]]))
    True
    """

    learner = "ogd"

    loss: Term = "squared"
    learning_rate: float | None = None
    power: float = 0.5
