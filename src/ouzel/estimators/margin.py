"""Learners of several classes that part the true class from the best wrong one by a step along the example."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ouzel.errors import OuzelError
from ouzel.estimators.classifier import Classifier
from ouzel.estimators.named import Named


@dataclass(kw_only=True, eq=False, repr=False)
class PerceptronClassifier(Named, Classifier):
    """The perceptron (Rosenblatt 1958; several classes as Crammer & Singer 2003).

    Parameters
    ----------
    blame : the wrong classes that a mistake moves: "best", the one of highest score, or "all" that scored no less
    fit_intercept, passes, bits, seed : see `OnlineGradientClassifier`

    Examples
    --------
    >>> model = PerceptronClassifier()
    >>> model.fit([[0.0, 1.0], [1.0, 0.0]] * 2, ["wet", "dry"] * 2).predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "perceptron"
    choices = ("blame",)
    learners = {("best",): "perceptron", ("all",): "perceptron-uniform"}  # noqa: RUF012

    blame: str = "best"


@dataclass(kw_only=True, eq=False, repr=False)
class MulticlassGradientClassifier(Named, Classifier):
    """Online gradient descent on the hinge of several classes (Zinkevich 2003; Crammer & Singer 2001).

    Parameters
    ----------
    learning_rate, power : example t steps by learning_rate / t^power
    fit_intercept, passes, bits, seed : see `OnlineGradientClassifier`

    Examples
    --------
    >>> model = MulticlassGradientClassifier()
    >>> model.fit([[0.0, 1.0], [1.0, 0.0]] * 2, ["wet", "dry"] * 2).predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "ogd-multiclass"

    learning_rate: float = 1.0
    power: float = 0.5


@dataclass(kw_only=True, eq=False, repr=False)
class PassiveAggressiveClassifier(Named, Classifier):
    """Passive-aggressive learning (Crammer, Dekel, Keshet, Shalev-Shwartz & Singer 2006).

    Parameters
    ----------
    variant : "pa", "pa1" (steps at most C) or "pa2" (squared slack)
    aggressiveness : C
    loss : of "pa1" "hinge", or "logistic", whose step has no closed form
    fit_intercept, passes, bits, seed : see `OnlineGradientClassifier`

    Examples
    --------
    >>> model = PassiveAggressiveClassifier(variant="pa2")
    >>> model.fit([[0.0, 1.0], [1.0, 0.0]] * 2, ["wet", "dry"] * 2).predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "pa1"
    choices = ("variant",)
    learners = {("pa",): "pa", ("pa1",): "pa1", ("pa2",): "pa2"}  # noqa: RUF012

    variant: str = "pa1"
    aggressiveness: float = 1.0
    loss: Any = "hinge"

    def _settings(self) -> dict[str, Any]:
        if self.variant != "pa1" and self.loss != "hinge":
            raise OuzelError(f"only variant='pa1' takes another loss than the hinge; got {self.loss!r}")
        return super()._settings()


@dataclass(kw_only=True, eq=False, repr=False)
class ROMMAClassifier(Named, Classifier):
    """The relaxed online maximum margin algorithm (Li & Long 2002).

    Parameters
    ----------
    variant : "plain" (learns from mistakes) or "aggressive" (from margins below 1)
    fit_intercept, passes, bits, seed : see `OnlineGradientClassifier`

    Examples
    --------
    >>> model = ROMMAClassifier()
    >>> model.fit([[0.0, 1.0], [1.0, 0.0]] * 2, ["wet", "dry"] * 2).predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "romma"
    choices = ("variant",)
    learners = {("plain",): "romma", ("aggressive",): "aromma"}  # noqa: RUF012

    variant: str = "plain"


@dataclass(kw_only=True, eq=False, repr=False)
class ALMAClassifier(Named, Classifier):
    """The approximate large margin algorithm (Gentile 2001).

    Parameters
    ----------
    p : of the norm, 2 or more; a large p suits few relevant features
    approximation : alpha, above 0 and at most 1: how much of the largest margin may be missed
    step : C
    fit_intercept, passes, bits, seed : see `OnlineGradientClassifier`

    Examples
    --------
    >>> model = ALMAClassifier()
    >>> model.fit([[0.0, 1.0], [1.0, 0.0]] * 2, ["wet", "dry"] * 2).predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "alma"

    p: float = 2.0
    approximation: float = 0.9
    step: float = 2.0**0.5


@dataclass(kw_only=True, eq=False, repr=False)
class ElementwiseNewtonClassifier(Named, Classifier):
    """The online Newton step by element-wise multiplication.

    Parameters
    ----------
    regularization : lambda
    learning_rate : the step is this over the root of the number of examples
    least_margin : margin below which to update; 0 for mistakes alone
    updated : "pair" for the true class and the best wrong one, "all" classes, or "each" by its own hinge
    true_slope, squares : other readings of the paper's (5) and (6): 1 - f in b; x^2 in A
    fit_intercept, passes, bits, seed : see `OnlineGradientClassifier`

    Examples
    --------
    >>> model = ElementwiseNewtonClassifier()
    >>> model.fit([[0.0, 1.0], [1.0, 0.0]] * 2, ["wet", "dry"] * 2).predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "elementwise-ons"

    regularization: float = 0.001
    learning_rate: float = 0.5
    least_margin: float = 1.0
    updated: str = "pair"
    true_slope: bool = False
    squares: bool = False
