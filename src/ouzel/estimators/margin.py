"""Named estimators, margin. Written by `make estimators`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from ouzel.estimators.classifier import Classifier
from ouzel.estimators.mixins import PassiveAggressive
from ouzel.estimators.named import Learners, Named, Term


@dataclass(kw_only=True, eq=False, repr=False)
class PerceptronClassifier(Named, Classifier):
    """The perceptron (Rosenblatt 1958; several classes as Crammer & Singer 2003).

    Parameters
    ----------
    blame : the wrong classes that a mistake moves: the one of highest score, or all that scored no less; one of
        "best", "all"
    class_weight, interval, calibrate, fit_intercept, standardize, forget : these and others: see `OnlineClassifier`

    Examples
    --------
    >>> model = PerceptronClassifier()
    >>> model.fit([[0.0, 1.0], [1.0, 0.0]] * 3, ["wet", "dry"] * 3).predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "perceptron"
    choices = ("blame",)
    learners: ClassVar[Learners] = {("best",): "perceptron", ("all",): "perceptron-uniform"}

    blame: Literal["best", "all"] = "best"


@dataclass(kw_only=True, eq=False, repr=False)
class PassiveAggressiveClassifier(PassiveAggressive, Classifier):
    """Passive-aggressive learning (Crammer, Dekel, Keshet, Shalev-Shwartz & Singer 2006).

    Parameters
    ----------
    variant : "pa1": steps at most C; "pa2": squared slack; one of "pa1", "pa", "pa2"
    aggressiveness : C, the price of slack; a number from 1e-12 to 1e12
    loss : of "pa1" "hinge", or "logistic", whose step has no closed form; one of logistic, hinge, smoothed-hinge,
        squared-hinge, squared, absolute, quantile, poisson, or a term
    class_weight, interval, calibrate, fit_intercept, standardize, forget : these and others: see `OnlineClassifier`

    Examples
    --------
    >>> model = PassiveAggressiveClassifier()
    >>> model.fit([[0.0, 1.0], [1.0, 0.0]] * 3, ["wet", "dry"] * 3).predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "pa1"
    choices = ("variant",)
    learners: ClassVar[Learners] = {("pa1",): "pa1", ("pa",): "pa", ("pa2",): "pa2"}

    variant: Literal["pa1", "pa", "pa2"] = "pa1"
    aggressiveness: float = 1.0
    loss: Term = "hinge"


@dataclass(kw_only=True, eq=False, repr=False)
class ROMMAClassifier(Named, Classifier):
    """The relaxed online maximum margin algorithm (Li & Long 2002).

    Parameters
    ----------
    variant : learns from mistakes, or from margins below 1; one of "plain", "aggressive"
    class_weight, interval, calibrate, fit_intercept, standardize, forget : these and others: see `OnlineClassifier`

    Examples
    --------
    >>> model = ROMMAClassifier()
    >>> model.fit([[0.0, 1.0], [1.0, 0.0]] * 3, ["wet", "dry"] * 3).predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "romma"
    choices = ("variant",)
    learners: ClassVar[Learners] = {("plain",): "romma", ("aggressive",): "aromma"}

    variant: Literal["plain", "aggressive"] = "plain"


@dataclass(kw_only=True, eq=False, repr=False)
class ALMAClassifier(Named, Classifier):
    """The approximate large margin algorithm (Gentile 2001).

    Parameters
    ----------
    p : of the norm; large p suits few relevant features; a number from 2 to 64
    approximation : alpha, the share of the largest margin to reach; a number from 1e-9 to 1
    step : C, the size of steps; a number from 1e-12 to 1e12
    class_weight, interval, calibrate, fit_intercept, standardize, forget : these and others: see `OnlineClassifier`

    Examples
    --------
    >>> model = ALMAClassifier()
    >>> model.fit([[0.0, 1.0], [1.0, 0.0]] * 3, ["wet", "dry"] * 3).predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "alma"

    p: float = 2.0
    approximation: float = 0.9
    step: float = 1.4142135623730951


@dataclass(kw_only=True, eq=False, repr=False)
class MulticlassGradientClassifier(Named, Classifier):
    """Online gradient descent on the hinge of several classes (Zinkevich 2003; Crammer & Singer 2001).

    Parameters
    ----------
    learning_rate : step size; a number from 1e-30 to 1e9
    power : how fast steps fall: as 1 / t^power; a number from 0 to 10
    class_weight, interval, calibrate, fit_intercept, standardize, forget : these and others: see `OnlineClassifier`

    Examples
    --------
    >>> model = MulticlassGradientClassifier()
    >>> model.fit([[0.0, 1.0], [1.0, 0.0]] * 3, ["wet", "dry"] * 3).predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "ogd-multiclass"

    learning_rate: float = 1.0
    power: float = 0.5


@dataclass(kw_only=True, eq=False, repr=False)
class ElementwiseNewtonClassifier(Named, Classifier):
    """The online Newton step by element-wise multiplication (Charanjeet & Sharma).

    Parameters
    ----------
    regularization : lambda; a number from 1e-12 to 1e12
    learning_rate : the step is this over sqrt(t); a number from 1e-30 to 1e9
    least_margin : margin below which to update; 0 for mistakes alone; a number from 0 to 1e9
    updated : classes: all, or each by its own hinge; pair, all or each
    true_slope : 1 - f for f (1 - f) in b: the logistic loss's own derivative
    squares : x^2 f (1 - f) for f (1 - f) in A
    class_weight, interval, calibrate, fit_intercept, standardize, forget : these and others: see `OnlineClassifier`

    Examples
    --------
    >>> model = ElementwiseNewtonClassifier()
    >>> model.fit([[0.0, 1.0], [1.0, 0.0]] * 3, ["wet", "dry"] * 3).predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "elementwise-ons"

    regularization: float = 0.001
    learning_rate: float = 0.5
    least_margin: float = 1.0
    updated: Literal["pair", "all", "each"] = "pair"
    true_slope: bool = False
    squares: bool = False
