"""Named estimators, gradient. Written by `make estimators`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from ouzel.estimators.classifier import Classifier
from ouzel.estimators.named import Learners, Named, Term
from ouzel.estimators.regressor import Regressor


@dataclass(kw_only=True, eq=False, repr=False)
class FTRLProximalClassifier(Named, Classifier):
    """Follow the regularised leader, l1 and l2, per coordinate.

    McMahan et al. (2013), "Ad Click Prediction: a View from the Trenches".

    Parameters
    ----------
    loss : the loss of one prediction; one of logistic, hinge, smoothed-hinge, squared-hinge, squared, absolute,
        quantile, poisson, or a term
    learning_rate : step size; a number from 1e-30 to 1e9
    damping : added to the root of the sum of squared gradients; a number from 0 to 1e9
    l1 : strength of the l1 penalty, once: weights become exactly zero; a number from 0 to 1e9
    l2 : strength of the squared l2 penalty; a number from 0 to 1e9
    class_weight, interval, calibrate, fit_intercept, standardize, forget : these and others: see `OnlineClassifier`

    Examples
    --------
    >>> model = FTRLProximalClassifier()
    >>> model.fit([[0.0, 1.0], [1.0, 0.0]] * 3, ["wet", "dry"] * 3).predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "ftrl-proximal"

    loss: Term = "logistic"
    learning_rate: float = 0.25
    damping: float = 1.0
    l1: float = 0.0
    l2: float = 0.0


@dataclass(kw_only=True, eq=False, repr=False)
class FTRLProximalRegressor(Named, Regressor):
    """FTRLProximal on numbers: parameters of `FTRLProximalClassifier`, losses of regression.

    Examples
    --------
    >>> model = FTRLProximalRegressor().fit([[0.0], [1.0], [2.0]] * 50, [0.0, 1.0, 2.0] * 50)
    >>> bool(model.predict([[2.0]]) > model.predict([[0.0]]))
    True
    """

    learner = "ftrl-proximal"

    loss: Term = "squared"
    learning_rate: float = 0.25
    damping: float = 1.0
    l1: float = 0.0
    l2: float = 0.0


@dataclass(kw_only=True, eq=False, repr=False)
class CoinBettingClassifier(Named, Classifier):
    """Coin betting in continuous time: no step size to tune.

    Chen, Langford & Orabona (2022), "Better Parameter-free Stochastic Optimization with ODE Updates for Coin-Betting".

    Parameters
    ----------
    loss : the loss of one prediction; one of logistic, hinge, smoothed-hinge, squared-hinge, squared, absolute,
        quantile, poisson, or a term
    class_weight, interval, calibrate, fit_intercept, standardize, forget : these and others: see `OnlineClassifier`

    Examples
    --------
    >>> model = CoinBettingClassifier()
    >>> model.fit([[0.0, 1.0], [1.0, 0.0]] * 3, ["wet", "dry"] * 3).predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "coin-betting"

    loss: Term = "logistic"


@dataclass(kw_only=True, eq=False, repr=False)
class CoinBettingRegressor(Named, Regressor):
    """CoinBetting on numbers: parameters of `CoinBettingClassifier`, losses of regression.

    Examples
    --------
    >>> model = CoinBettingRegressor().fit([[0.0], [1.0], [2.0]] * 50, [0.0, 1.0, 2.0] * 50)
    >>> bool(model.predict([[2.0]]) > model.predict([[0.0]]))
    True
    """

    learner = "coin-betting"

    loss: Term = "absolute"


@dataclass(kw_only=True, eq=False, repr=False)
class MetaGradClassifier(Named, Classifier):
    """MetaGrad: many learning rates, weighted by how well each does.

    Van Erven, Koolen & van der Hoeven (2021), "MetaGrad: Adaptation using Multiple Learning Rates in Online Learning".

    Parameters
    ----------
    loss : the loss of one prediction; one of logistic, hinge, smoothed-hinge, squared-hinge, squared, absolute,
        quantile, poisson, or a term
    radius : D: weights are cut to -D and D; they are expected within a third of it; a number from 1e-9 to 1e9
    experts : learning rates of a feature, each half the one before; a whole number from 1 to 64
    full : one controller with whole matrices, for up to 512 features; weights are not cut
    largest : with `full`: C, the largest prediction; a number of 1e-30 or more; infinity is allowed
    class_weight, interval, calibrate, fit_intercept, standardize, forget : these and others: see `OnlineClassifier`

    Examples
    --------
    >>> model = MetaGradClassifier()
    >>> model.fit([[0.0, 1.0], [1.0, 0.0]] * 3, ["wet", "dry"] * 3).predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "metagrad"

    loss: Term = "logistic"
    radius: float = 10.0
    experts: int = 12
    full: bool = False
    largest: float = float("inf")


@dataclass(kw_only=True, eq=False, repr=False)
class MetaGradRegressor(Named, Regressor):
    """MetaGrad on numbers: parameters of `MetaGradClassifier`, losses of regression.

    Examples
    --------
    >>> model = MetaGradRegressor().fit([[0.0], [1.0], [2.0]] * 50, [0.0, 1.0, 2.0] * 50)
    >>> bool(model.predict([[2.0]]) > model.predict([[0.0]]))
    True
    """

    learner = "metagrad"

    loss: Term = "absolute"
    radius: float = 10.0
    experts: int = 12
    full: bool = False
    largest: float = float("inf")


@dataclass(kw_only=True, eq=False, repr=False)
class RDAClassifier(Named, Classifier):
    """Regularised dual averaging, one step size for all features.

    Xiao (2010), "Dual Averaging Methods for Regularized Stochastic Learning and Online Optimization".

    Parameters
    ----------
    loss : the loss of one prediction; one of logistic, hinge, smoothed-hinge, squared-hinge, squared, absolute,
        quantile, poisson, or a term
    l1 : strength of the l1 penalty: weights become exactly zero; a number from 0 to 1e9
    l2 : strength of the ridge; a number from 0 to 1e9
    penalty : a penalty, or a domain for the weights; l1 and l2 are strengths; l2-norm, max-norm, l1-ball, l2-ball,
        box; not all learners take all
    learning_rate : step size; a number from 1e-30 to 1e9
    class_weight, interval, calibrate, fit_intercept, standardize, forget : these and others: see `OnlineClassifier`

    Examples
    --------
    >>> model = RDAClassifier()
    >>> model.fit([[0.0, 1.0], [1.0, 0.0]] * 3, ["wet", "dry"] * 3).predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "rda"

    loss: Term = "logistic"
    l1: float = 0.0
    l2: float = 0.0
    penalty: Term | None = None
    learning_rate: float = 0.5


@dataclass(kw_only=True, eq=False, repr=False)
class RDARegressor(Named, Regressor):
    """RDA on numbers: parameters of `RDAClassifier`, losses of regression.

    Examples
    --------
    >>> model = RDARegressor().fit([[0.0], [1.0], [2.0]] * 50, [0.0, 1.0, 2.0] * 50)
    >>> bool(model.predict([[2.0]]) > model.predict([[0.0]]))
    True
    """

    learner = "rda"

    loss: Term = "squared"
    l1: float = 0.0
    l2: float = 0.0
    penalty: Term | None = None
    learning_rate: float = 0.5


@dataclass(kw_only=True, eq=False, repr=False)
class FOBOSClassifier(Named, Classifier):
    """Forward-backward splitting, one step size for all features.

    Xiao (2010), "Dual Averaging Methods for Regularized Stochastic Learning and Online Optimization".

    Parameters
    ----------
    loss : the loss of one prediction; one of logistic, hinge, smoothed-hinge, squared-hinge, squared, absolute,
        quantile, poisson, or a term
    l1 : strength of the l1 penalty: weights become exactly zero; a number from 0 to 1e9
    l2 : strength of the ridge; a number from 0 to 1e9
    penalty : a penalty, or a domain for the weights; l1 and l2 are strengths; l2-norm, max-norm, l1-ball, l2-ball,
        box; not all learners take all
    learning_rate : step size; a number from 1e-30 to 1e9
    class_weight, interval, calibrate, fit_intercept, standardize, forget : these and others: see `OnlineClassifier`

    Examples
    --------
    >>> model = FOBOSClassifier()
    >>> model.fit([[0.0, 1.0], [1.0, 0.0]] * 3, ["wet", "dry"] * 3).predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "fobos"

    loss: Term = "logistic"
    l1: float = 0.0
    l2: float = 0.0
    penalty: Term | None = None
    learning_rate: float = 0.5


@dataclass(kw_only=True, eq=False, repr=False)
class FOBOSRegressor(Named, Regressor):
    """FOBOS on numbers: parameters of `FOBOSClassifier`, losses of regression.

    Examples
    --------
    >>> model = FOBOSRegressor().fit([[0.0], [1.0], [2.0]] * 50, [0.0, 1.0, 2.0] * 50)
    >>> bool(model.predict([[2.0]]) > model.predict([[0.0]]))
    True
    """

    learner = "fobos"

    loss: Term = "squared"
    l1: float = 0.0
    l2: float = 0.0
    penalty: Term | None = None
    learning_rate: float = 0.5


@dataclass(kw_only=True, eq=False, repr=False)
class AdaGradMulticlassClassifier(Named, Classifier):
    """AdaGrad with a row of weights for each class, under mixed norms (Duchi, Hazan & Singer 2011).

    Parameters
    ----------
    step : a step size for each weight, or one for all; one of "adaptive", "uniform"
    loss : the loss of one prediction; one of logistic, hinge, smoothed-hinge, squared-hinge, squared, absolute,
        quantile, poisson, or a term
    l1 : strength of the l1 penalty: weights become exactly zero; a number from 0 to 1e9
    l2 : strength of the ridge; a number from 0 to 1e9
    penalty : a penalty, or a domain for the weights; l1 and l2 are strengths; l2-norm, max-norm, l1-ball, l2-ball,
        box; not all learners take all
    learning_rate : step size; a number from 1e-30 to 1e9
    damping : added to the root of the sum of squared gradients; a number from 0 to 1e9
    dual_averaging : eq. (3); otherwise eq. (4), mirror descent
    class_weight, interval, calibrate, fit_intercept, standardize, forget : these and others: see `OnlineClassifier`

    Examples
    --------
    >>> model = AdaGradMulticlassClassifier()
    >>> model.fit([[0.0, 1.0], [1.0, 0.0]] * 3, ["wet", "dry"] * 3).predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "adagrad-multiclass"
    choices = ("step",)
    learners: ClassVar[Learners] = {("adaptive",): "adagrad-multiclass", ("uniform",): "rda-multiclass"}

    step: Literal["adaptive", "uniform"] = "adaptive"
    loss: Term = "hinge"
    l1: float = 0.0
    l2: float = 0.0
    penalty: Term | None = None
    learning_rate: float = 0.25
    damping: float = 1e-06
    dual_averaging: bool = True
