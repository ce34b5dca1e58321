"""Named estimators, heavy_hitters. Written by `make estimators`."""

from __future__ import annotations

from dataclasses import dataclass

from ouzel.estimators.classifier import Classifier
from ouzel.estimators.named import Named, Term


@dataclass(kw_only=True, eq=False, repr=False)
class MISSIONClassifier(Named, Classifier):
    """MISSION (Aghazadeh et al. 2018): gradients in a CountSketch, predictions from its heavy hitters.

    Parameters
    ----------
    loss : the loss of one prediction; one of logistic, hinge, smoothed-hinge, squared-hinge, squared, absolute,
        quantile, poisson, or a term
    budget : bytes to keep; a size in bytes, such as 8KB, of 16 or more, as memory allows
    heap_size : features kept; 0 for what the budget gives; a whole number of 0 or more, as memory allows
    width : counters in a row of the sketch; 0 likewise; a whole number of 0 or more, as memory allows
    depth : rows of the sketch; 0 likewise; a whole number of 0 or more, as memory allows
    learning_rate : step size; a number from 1e-30 to 1e9
    l2 : strength of the squared l2 penalty; a number from 0 to 1e9
    schedule : how steps fall with the number of examples; one of inverse-time, inverse-root, constant, or a term
    class_weight, interval, calibrate, fit_intercept, standardize, forget : these and others: see `OnlineClassifier`

    Examples
    --------
    >>> model = MISSIONClassifier(budget="1KB")
    >>> model.fit([[0.0, 1.0], [1.0, 0.0]] * 3, ["wet", "dry"] * 3).predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "mission"

    loss: Term = "logistic"
    budget: float | str = "8KB"
    heap_size: int = 0
    width: int = 0
    depth: int = 0
    learning_rate: float = 0.1
    l2: float = 1e-06
    schedule: Term = "inverse-time"


@dataclass(kw_only=True, eq=False, repr=False)
class BEARClassifier(Named, Classifier):
    """BEAR (Aghazadeh et al. 2022): MISSION with limited-memory BFGS directions in place of gradients.

    Parameters
    ----------
    loss : the loss of one prediction; one of logistic, hinge, smoothed-hinge, squared-hinge, squared, absolute,
        quantile, poisson, or a term
    budget : bytes to keep; a size in bytes, such as 8KB, of 32 or more, as memory allows
    heap_size : features kept; 0 for what the budget gives; a whole number of 0 or more, as memory allows
    width : counters in a row of the sketch; 0 likewise; a whole number of 0 or more, as memory allows
    depth : rows of the sketch; 0 likewise; a whole number of 0 or more, as memory allows
    learning_rate : step size; a number from 1e-30 to 1e9
    l2 : strength of the squared l2 penalty; a number from 0 to 1e9
    schedule : how steps fall with the number of examples; one of inverse-time, inverse-root, constant, or a term
    history : tau, differences of weights and gradients kept; a whole number from 1 to 256
    pair_size : features of each; 0 for what the budget gives; a whole number of 0 or more, as memory allows
    damping : lambda, added to the curvature along each difference of weights; a number from 0 to 1e9
    class_weight, interval, calibrate, fit_intercept, standardize, forget : these and others: see `OnlineClassifier`

    Examples
    --------
    >>> model = BEARClassifier(budget="1KB")
    >>> model.fit([[0.0, 1.0], [1.0, 0.0]] * 3, ["wet", "dry"] * 3).predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "bear"

    loss: Term = "logistic"
    budget: float | str = "8KB"
    heap_size: int = 0
    width: int = 0
    depth: int = 0
    learning_rate: float = 0.1
    l2: float = 1e-06
    schedule: Term = "inverse-time"
    history: int = 5
    pair_size: int = 0
    damping: float = 1.0
