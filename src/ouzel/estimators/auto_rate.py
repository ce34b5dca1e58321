"""The learner with nothing to tune."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ouzel.estimators.classifier import Classifier
from ouzel.estimators.named import Named
from ouzel.estimators.regressor import Regressor


@dataclass(kw_only=True, eq=False, repr=False)
class AutoRateClassifier(Named, Classifier):
    """Normalised AdaGrad by four losses and step sizes, stacked by an online Newton step: nothing to tune.

    Parameters
    ----------
    loss : "logistic", "hinge", "smoothed-hinge", "squared-hinge", "squared", or a loss term
    learning_rate : multiplies all four step sizes
    fit_intercept, passes, bits, seed : see `OnlineGradientClassifier`

    Examples
    --------
    >>> model = AutoRateClassifier().fit([[0.0, 9.0], [1.0, 0.0]] * 3, ["wet", "dry"] * 3)
    >>> model.predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "auto"

    loss: Any = "logistic"
    learning_rate: float = 1.0


@dataclass(kw_only=True, eq=False, repr=False)
class AutoRateRegressor(Named, Regressor):
    """Normalised AdaGrad at four step sizes, stacked: parameters of `AutoRateClassifier`, losses of regression.

    Examples
    --------
    >>> model = AutoRateRegressor().fit([[0.0], [1.0], [2.0]] * 50, [0.0, 1.0, 2.0] * 50)
    >>> round(model.predict([[1.0]]).item(), 1)
    1.0
    """

    learner = "auto"

    loss: Any = "squared"
    learning_rate: float = 1.0
