"""Named estimators, budgeted. Written by `make estimators`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from ouzel.estimators.classifier import Classifier
from ouzel.estimators.mixins import ActiveSet
from ouzel.estimators.named import Learners, Named, Term
from ouzel.estimators.regressor import Regressor


@dataclass(kw_only=True, eq=False, repr=False)
class AWMSketchClassifier(ActiveSet, Classifier):
    """Active-Set Weight-Median Sketch (Tai, Sharan, Bailis & Valiant 2018): heavy weights exact, others sketched.

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
    l1 : strength of the l1 penalty on the sketch: cells become exactly zero; a number from 0 to 1e9
    per_feature : a learning rate for each feature, AdaGrad's; 4 bytes more for each cell
    cell_bits : of a cell of the sketch: 32, or 16 or 8, rounded at random; a whole number from 8 to 32
    noise : 0, or with many classes how many are drawn for an example to be learnt against, instead of all; a whole
        number from 1 to 65,536
    class_weight, interval, calibrate, fit_intercept, standardize, forget : these and others: see `OnlineClassifier`

    Examples
    --------
    >>> model = AWMSketchClassifier(budget="1KB")
    >>> model.fit([[0.0, 1.0], [1.0, 0.0]] * 3, ["wet", "dry"] * 3).predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "awm"

    loss: Term = "logistic"
    budget: float | str = "8KB"
    heap_size: int = 0
    width: int = 0
    depth: int = 0
    learning_rate: float = 0.1
    l2: float = 1e-06
    schedule: Term = "inverse-time"
    l1: float = 0.0
    per_feature: bool = False
    cell_bits: int = 32
    noise: int = 0


@dataclass(kw_only=True, eq=False, repr=False)
class WMSketchClassifier(Named, Classifier):
    """Weight-Median Sketch (Tai, Sharan, Bailis & Valiant 2018): all weights in a CountSketch.

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
    averaging : weights are those of the mean iterate
    radius : of the l2 ball that the sketch is kept in; 0 for none; a number from 0 to 1e9
    epsilon : error for which Theorem 1 sizes the sketch, far too large in practice; 0: none; a number of 0 or more
        and below 1
    delta : with `epsilon`: the chance to miss it; a number from 1e-9 to 0.5
    features : with `epsilon`: features that there are; a number from 1 to 1e15
    l1 : strength of the l1 penalty on the sketch: cells become exactly zero; a number from 0 to 1e9
    per_feature : a learning rate for each feature, AdaGrad's; 4 bytes more for each cell
    cell_bits : of a cell of the sketch: 32, or 16 or 8, rounded at random; a whole number from 8 to 32
    class_weight, interval, calibrate, fit_intercept, standardize, forget : these and others: see `OnlineClassifier`

    Examples
    --------
    >>> model = WMSketchClassifier(budget="1KB")
    >>> model.fit([[0.0, 1.0], [1.0, 0.0]] * 3, ["wet", "dry"] * 3).predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "wm"

    loss: Term = "logistic"
    budget: float | str = "8KB"
    heap_size: int = 0
    width: int = 0
    depth: int = 0
    learning_rate: float = 0.1
    l2: float = 1e-06
    schedule: Term = "inverse-time"
    averaging: bool = False
    radius: float = 0.0
    epsilon: float = 0.0
    delta: float = 0.05
    features: float = 262144.0
    l1: float = 0.0
    per_feature: bool = False
    cell_bits: int = 32


@dataclass(kw_only=True, eq=False, repr=False)
class TruncationClassifier(Named, Classifier):
    """The heaviest weights, or a sample in which heavy ones are likelier (Tai et al. 2018, Algorithms 3 and 4).

    Parameters
    ----------
    variant : keeps the heaviest weights, or a sample; one of "simple", "probabilistic"
    loss : the loss of one prediction; one of logistic, hinge, smoothed-hinge, squared-hinge, squared, absolute,
        quantile, poisson, or a term
    budget : bytes to keep; a size in bytes, such as 8KB, of 8 or more, as memory allows
    heap_size : features kept; 0 for what the budget gives; a whole number of 0 or more, as memory allows
    learning_rate : step size; a number from 1e-30 to 1e9
    l2 : strength of the squared l2 penalty; a number from 0 to 1e9
    schedule : how steps fall with the number of examples; one of inverse-time, inverse-root, constant, or a term
    class_weight, interval, calibrate, fit_intercept, standardize, forget : these and others: see `OnlineClassifier`

    Examples
    --------
    >>> model = TruncationClassifier(budget="1KB")
    >>> model.fit([[0.0, 1.0], [1.0, 0.0]] * 3, ["wet", "dry"] * 3).predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "truncation"
    choices = ("variant",)
    learners: ClassVar[Learners] = {("simple",): "truncation", ("probabilistic",): "probabilistic-truncation"}

    variant: Literal["simple", "probabilistic"] = "simple"
    loss: Term = "logistic"
    budget: float | str = "8KB"
    heap_size: int = 0
    learning_rate: float = 0.1
    l2: float = 1e-06
    schedule: Term = "inverse-time"


@dataclass(kw_only=True, eq=False, repr=False)
class SpaceSavingClassifier(Named, Classifier):
    """Weights of the most frequent features, found by SpaceSaving (Metwally, Agrawal & El Abbadi 2005).

    Parameters
    ----------
    loss : the loss of one prediction; one of logistic, hinge, smoothed-hinge, squared-hinge, squared, absolute,
        quantile, poisson, or a term
    budget : bytes to keep; a size in bytes, such as 8KB, of 12 or more, as memory allows
    heap_size : features kept; 0 for what the budget gives; a whole number of 0 or more, as memory allows
    learning_rate : step size; a number from 1e-30 to 1e9
    l2 : strength of the squared l2 penalty; a number from 0 to 1e9
    schedule : how steps fall with the number of examples; one of inverse-time, inverse-root, constant, or a term
    class_weight, interval, calibrate, fit_intercept, standardize, forget : these and others: see `OnlineClassifier`

    Examples
    --------
    >>> model = SpaceSavingClassifier(budget="1KB")
    >>> model.fit([[0.0, 1.0], [1.0, 0.0]] * 3, ["wet", "dry"] * 3).predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "space-saving"

    loss: Term = "logistic"
    budget: float | str = "8KB"
    heap_size: int = 0
    learning_rate: float = 0.1
    l2: float = 1e-06
    schedule: Term = "inverse-time"


@dataclass(kw_only=True, eq=False, repr=False)
class CountMinClassifier(Named, Classifier):
    """Weights of the most frequent features, found by a CountMin sketch (Cormode & Muthukrishnan 2005) and a heap.

    Parameters
    ----------
    loss : the loss of one prediction; one of logistic, hinge, smoothed-hinge, squared-hinge, squared, absolute,
        quantile, poisson, or a term
    budget : bytes to keep; a size in bytes, such as 8KB, of 24 or more, as memory allows
    heap_size : features kept; 0 for what the budget gives; a whole number of 0 or more, as memory allows
    width : counters in a row of the sketch; 0 likewise; a whole number of 0 or more, as memory allows
    depth : rows of the sketch; 0 likewise; a whole number of 0 or more, as memory allows
    learning_rate : step size; a number from 1e-30 to 1e9
    l2 : strength of the squared l2 penalty; a number from 0 to 1e9
    schedule : how steps fall with the number of examples; one of inverse-time, inverse-root, constant, or a term
    class_weight, interval, calibrate, fit_intercept, standardize, forget : these and others: see `OnlineClassifier`

    Examples
    --------
    >>> model = CountMinClassifier(budget="1KB")
    >>> model.fit([[0.0, 1.0], [1.0, 0.0]] * 3, ["wet", "dry"] * 3).predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "count-min"

    loss: Term = "logistic"
    budget: float | str = "8KB"
    heap_size: int = 0
    width: int = 0
    depth: int = 0
    learning_rate: float = 0.1
    l2: float = 1e-06
    schedule: Term = "inverse-time"


@dataclass(kw_only=True, eq=False, repr=False)
class FeatureHashingClassifier(Named, Classifier):
    """Feature hashing (Weinberger et al. 2009) within a byte budget; it has no list of heavy features.

    Parameters
    ----------
    loss : the loss of one prediction; one of logistic, hinge, smoothed-hinge, squared-hinge, squared, absolute,
        quantile, poisson, or a term
    budget : bytes to keep; a size in bytes, such as 8KB, of 4 or more, as memory allows
    learning_rate : step size; a number from 1e-30 to 1e9
    l2 : strength of the squared l2 penalty; a number from 0 to 1e9
    schedule : how steps fall with the number of examples; one of inverse-time, inverse-root, constant, or a term
    class_weight, interval, calibrate, fit_intercept, standardize, forget : these and others: see `OnlineClassifier`

    Examples
    --------
    >>> model = FeatureHashingClassifier(budget="1KB")
    >>> model.fit([[0.0, 1.0], [1.0, 0.0]] * 3, ["wet", "dry"] * 3).predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "hashing"

    loss: Term = "logistic"
    budget: float | str = "8KB"
    learning_rate: float = 0.1
    l2: float = 1e-06
    schedule: Term = "inverse-time"


@dataclass(kw_only=True, eq=False, repr=False)
class UnboundedClassifier(Named, Classifier):
    """Logistic regression with no budget, its heaviest weights in a heap.

    Tai, Sharan, Bailis & Valiant (2018), "Sketching Linear Classifiers over Data Streams".

    Parameters
    ----------
    loss : the loss of one prediction; one of logistic, hinge, smoothed-hinge, squared-hinge, squared, absolute,
        quantile, poisson, or a term
    heap_size : heaviest features known by name; a whole number of 1 or more, as memory allows
    learning_rate : step size; a number from 1e-30 to 1e9
    l2 : strength of the squared l2 penalty; a number from 0 to 1e9
    schedule : how steps fall with the number of examples; one of inverse-time, inverse-root, constant, or a term
    class_weight, interval, calibrate, fit_intercept, standardize, forget : these and others: see `OnlineClassifier`

    Examples
    --------
    >>> model = UnboundedClassifier()
    >>> model.fit([[0.0, 1.0], [1.0, 0.0]] * 3, ["wet", "dry"] * 3).predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "unbounded"

    loss: Term = "logistic"
    heap_size: int = 128
    learning_rate: float = 0.1
    l2: float = 1e-06
    schedule: Term = "inverse-time"


@dataclass(kw_only=True, eq=False, repr=False)
class UnboundedRegressor(Named, Regressor):
    """Unbounded on numbers: parameters of `UnboundedClassifier`, losses of regression.

    Examples
    --------
    >>> model = UnboundedRegressor().fit([[0.0], [1.0], [2.0]] * 50, [0.0, 1.0, 2.0] * 50)
    >>> bool(model.predict([[2.0]]) > model.predict([[0.0]]))
    True
    """

    learner = "unbounded"

    loss: Term = "squared"
    heap_size: int = 128
    learning_rate: float = 0.1
    l2: float = 1e-06
    schedule: Term = "inverse-time"
