"""Named estimators, auto_rate. Written by `make estimators`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ouzel.estimators.classifier import Classifier
from ouzel.estimators.named import Named, Term
from ouzel.estimators.regressor import Regressor


@dataclass(kw_only=True, eq=False, repr=False)
class AutoRateClassifier(Named, Classifier):
    """A stack of first- and second-order models with online standardization: nothing to tune.

    Parameters
    ----------
    loss : the loss of one prediction; one of logistic, hinge, smoothed-hinge, squared-hinge, squared, absolute,
        quantile, poisson, or a term
    learning_rate : multiplies all step sizes; a number from 1e-30 to 1e9
    forms : columns of numbers: raw, or with curves and pairs too; raw or made
    derived_budget : bytes for the weights of curves and pairs; a size in bytes, such as 8KB, of 0 or more, as
        memory allows
    class_weight, interval, calibrate, fit_intercept, standardize, forget : these and others: see `OnlineClassifier`

    Examples
    --------
    >>> model = AutoRateClassifier()
    >>> model.fit([[0.0, 1.0], [1.0, 0.0]] * 3, ["wet", "dry"] * 3).predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "auto"

    loss: Term = "logistic"
    learning_rate: float = 1.0
    forms: Literal["raw", "made"] = "made"
    derived_budget: float | str = "4MB"


@dataclass(kw_only=True, eq=False, repr=False)
class AutoRateRegressor(Named, Regressor):
    """AutoRate on numbers: parameters of `AutoRateClassifier`, losses of regression.

    Examples
    --------
    >>> model = AutoRateRegressor().fit([[0.0], [1.0], [2.0]] * 50, [0.0, 1.0, 2.0] * 50)
    >>> bool(model.predict([[2.0]]) > model.predict([[0.0]]))
    True
    """

    learner = "auto"

    loss: Term = "squared"
    learning_rate: float = 1.0
    forms: Literal["raw", "made"] = "made"
    derived_budget: float | str = "4MB"
