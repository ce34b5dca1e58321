"""Learners of several classes that part the true class from the best wrong one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ouzel.errors import OuzelError
from ouzel.estimators.classifier import Classifier


@dataclass(kw_only=True, eq=False, repr=False)
class _Variants(Classifier):
    """A parameter `variant` picks among several learners of the catalogue."""

    learners: ClassVar[dict[str, str]]

    @classmethod
    def serves(cls, learner: str) -> bool:
        """Whether this class is the estimator of a learner of the catalogue."""
        return learner in cls.learners.values()

    def _learner_name(self) -> str:
        variant = self.get_params(deep=False)["variant"]
        if variant not in self.learners:
            raise OuzelError(f"variant must be one of {', '.join(map(repr, self.learners))}; got {variant!r}")
        return self.learners[variant]

    def _settings(self) -> dict[str, Any]:
        return {name: value for name, value in super()._settings().items() if name != "variant"}


@dataclass(kw_only=True, eq=False, repr=False)
class PerceptronClassifier(Classifier):
    """The perceptron (Rosenblatt 1958; several classes as Crammer & Singer 2003).

    Parameters
    ----------
    fit_intercept, passes, bits, seed : see `OnlineGradientClassifier`

    Examples
    --------
    >>> PerceptronClassifier().fit([[0.0, 1.0], [1.0, 0.0]] * 2, ["wet", "dry"] * 2).predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "perceptron"


@dataclass(kw_only=True, eq=False, repr=False)
class PassiveAggressiveClassifier(_Variants):
    """Passive-aggressive learning (Crammer, Dekel, Keshet, Shalev-Shwartz & Singer 2006).

    Parameters
    ----------
    variant : "pa", "pa1" (steps at most C) or "pa2" (squared slack)
    aggressiveness : C
    fit_intercept, passes, bits, seed : see `OnlineGradientClassifier`

    Examples
    --------
    >>> model = PassiveAggressiveClassifier(variant="pa2")
    >>> model.fit([[0.0, 1.0], [1.0, 0.0]] * 2, ["wet", "dry"] * 2).predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "pa1"
    learners = {"pa": "pa", "pa1": "pa1", "pa2": "pa2"}  # noqa: RUF012

    variant: str = "pa1"
    aggressiveness: float = 1.0


@dataclass(kw_only=True, eq=False, repr=False)
class ROMMAClassifier(_Variants):
    """The relaxed online maximum margin algorithm (Li & Long 2002).

    Parameters
    ----------
    variant : "plain" (learns from mistakes) or "aggressive" (from margins below 1)
    fit_intercept, passes, bits, seed : see `OnlineGradientClassifier`

    Examples
    --------
    >>> ROMMAClassifier().fit([[0.0, 1.0], [1.0, 0.0]] * 2, ["wet", "dry"] * 2).predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "romma"
    learners = {"plain": "romma", "aggressive": "aromma"}  # noqa: RUF012

    variant: str = "plain"


@dataclass(kw_only=True, eq=False, repr=False)
class SecondOrderPerceptronClassifier(Classifier):
    """The second-order perceptron, diagonal (Cesa-Bianchi, Conconi & Gentile 2005).

    Parameters
    ----------
    damping : the diagonal of the correlation matrix to begin with
    fit_intercept, passes, bits, seed : see `OnlineGradientClassifier`

    Examples
    --------
    >>> model = SecondOrderPerceptronClassifier()
    >>> model.fit([[0.0, 1.0], [1.0, 0.0]] * 2, ["wet", "dry"] * 2).predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "sop"

    damping: float = 1.0


@dataclass(kw_only=True, eq=False, repr=False)
class ConfidenceWeightedClassifier(Classifier):
    """Exact convex confidence-weighted learning, diagonal (Crammer, Dredze & Pereira 2008).

    Parameters
    ----------
    confidence : probability with which every example is to be right
    prior : variance of the weights before any example
    fit_intercept, passes, bits, seed : see `OnlineGradientClassifier`

    Examples
    --------
    >>> model = ConfidenceWeightedClassifier()
    >>> model.fit([[0.0, 1.0], [1.0, 0.0]] * 2, ["wet", "dry"] * 2).predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "cw"

    confidence: float = 0.75
    prior: float = 1.0

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # it must fit every example, the wrongly labelled too
        return tags


@dataclass(kw_only=True, eq=False, repr=False)
class SoftConfidenceWeightedClassifier(_Variants):
    """Soft confidence-weighted learning, diagonal (Wang, Zhao & Hoi 2012).

    Parameters
    ----------
    variant : "scw1" (linear slack) or "scw2" (squared slack)
    confidence, prior : see `ConfidenceWeightedClassifier`
    aggressiveness : C, the price of slack
    fit_intercept, passes, bits, seed : see `OnlineGradientClassifier`

    Examples
    --------
    >>> model = SoftConfidenceWeightedClassifier()
    >>> model.fit([[0.0, 1.0], [1.0, 0.0]] * 2, ["wet", "dry"] * 2).predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "scw1"
    learners = {"scw1": "scw1", "scw2": "scw2"}  # noqa: RUF012

    variant: str = "scw1"
    confidence: float = 0.75
    aggressiveness: float = 1.0
    prior: float = 1.0


@dataclass(kw_only=True, eq=False, repr=False)
class AROWClassifier(Classifier):
    """Adaptive regularisation of weights, diagonal (Crammer, Kulesza & Dredze 2009).

    Parameters
    ----------
    regularization : r
    prior : variance of the weights before any example
    fit_intercept, passes, bits, seed : see `OnlineGradientClassifier`

    Examples
    --------
    >>> AROWClassifier().fit([[0.0, 1.0], [1.0, 0.0]] * 2, ["wet", "dry"] * 2).predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "arow"

    regularization: float = 1.0
    prior: float = 1.0


@dataclass(kw_only=True, eq=False, repr=False)
class ElementwiseNewtonClassifier(Classifier):
    """The online Newton step by element-wise multiplication.

    Parameters
    ----------
    regularization : lambda
    learning_rate : the step is this over the root of the number of examples
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
