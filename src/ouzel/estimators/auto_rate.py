"""The learner with nothing to tune."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ouzel.estimators.classifier import Classifier
from ouzel.estimators.named import Named
from ouzel.estimators.regressor import Regressor


@dataclass(kw_only=True, eq=False, repr=False)
class AutoRateClassifier(Named, Classifier):
    """Models of the first and second order on features standardised as they come, stacked: nothing to tune.

    Parameters
    ----------
    loss : "logistic"; by "hinge", "smoothed-hinge", "squared-hinge", "squared" or a loss term, four models of the first
        order are stacked instead
    learning_rate : multiplies all step sizes
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
    """The same for numbers, centred and scaled as they come: parameters of `AutoRateClassifier`, losses of regression.

    Examples
    --------
    >>> model = AutoRateRegressor().fit([[0.0], [1.0], [2.0]] * 50, [0.0, 1.0, 2.0] * 50)
    >>> round(model.predict([[1.0]]).item(), 1)
    1.0
    """

    learner = "auto"

    loss: Any = "squared"
    learning_rate: float = 1.0
