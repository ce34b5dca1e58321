"""Online gradient descent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ouzel.estimators.classifier import Classifier
from ouzel.estimators.named import Named
from ouzel.estimators.regressor import Regressor


@dataclass(kw_only=True, eq=False, repr=False)
class OnlineGradientClassifier(Named, Classifier):
    """Online gradient descent with steps `learning_rate / t^power` (Zinkevich 2003).

    Parameters
    ----------
    loss : "logistic", "hinge", "smoothed-hinge", "squared-hinge", "squared", or a loss term
    learning_rate, power : the first step, and how fast steps shrink
    fit_intercept : whether every example has a constant feature
    standardize : whether dense features are centred and scaled, as the stream tells their mean and spread
    forget : examples after which what was accumulated counts for half, for streams that change; 0 for never
    passes : passes of `fit` over its data
    bits, seed : names of features hash to 2^bits ids with this seed

    Examples
    --------
    >>> model = OnlineGradientClassifier().partial_fit([[0.0, 1.0], [1.0, 0.0]], ["wet", "dry"])
    >>> model.predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "ogd"

    loss: Any = "logistic"
    learning_rate: float = 0.5
    power: float = 0.5


@dataclass(kw_only=True, eq=False, repr=False)
class OnlineGradientRegressor(Named, Regressor):
    """Online gradient descent on numbers: parameters of `OnlineGradientClassifier`, losses of regression.

    Examples
    --------
    >>> model = OnlineGradientRegressor().fit([[0.0], [1.0], [2.0]] * 20, [0.0, 1.0, 2.0] * 20)
    >>> round(model.predict([[1.0]]).item())
    1
    """

    learner = "ogd"

    loss: Any = "squared"
    learning_rate: float = 0.1
    power: float = 0.5
