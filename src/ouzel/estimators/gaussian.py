"""Learners of several classes with a second-order matrix over the features, its diagonal or whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ouzel.estimators.classifier import Classifier
from ouzel.estimators.named import Named, with_full


@dataclass(kw_only=True, eq=False, repr=False)
class _Gaussian(Named, Classifier):
    """The matrix is diagonal or full; the last of the choices says which."""

    choices: ClassVar[tuple[str, ...]] = ("covariance",)

    covariance: str = "diagonal"


@dataclass(kw_only=True, eq=False, repr=False)
class _Distribution(_Gaussian):
    """A Gaussian over the weights."""

    prior: float = 1.0
    pairwise: bool = True


@dataclass(kw_only=True, eq=False, repr=False)
class SecondOrderPerceptronClassifier(_Gaussian):
    """The second-order perceptron (Cesa-Bianchi, Conconi & Gentile 2005).

    Parameters
    ----------
    damping : the diagonal of the correlation matrix to begin with
    covariance : "diagonal", or "full" for up to 4,096 features
    fit_intercept, passes, bits, seed : see `OnlineGradientClassifier`

    Examples
    --------
    >>> model = SecondOrderPerceptronClassifier()
    >>> model.fit([[0.0, 1.0], [1.0, 0.0]] * 2, ["wet", "dry"] * 2).predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "sop"
    learners = with_full(("sop",))

    damping: float = 1.0


@dataclass(kw_only=True, eq=False, repr=False)
class ConfidenceWeightedClassifier(_Distribution):
    """Confidence-weighted learning (Dredze, Crammer & Pereira 2008; Crammer, Dredze & Pereira 2008).

    Parameters
    ----------
    variant : "deviation" (the exact convex form) or "variance": by which the margin is to be wide enough
    confidence : probability with which every example is to be right
    prior : variance of the weights before any example
    pairwise : whether a margin has the variance of a difference of two scores, 2 x'Sx, or LIBOL's x'Sx
    covariance : "diagonal", or "full" for up to 4,096 features
    fit_intercept, passes, bits, seed : see `OnlineGradientClassifier`

    Examples
    --------
    >>> model = ConfidenceWeightedClassifier()
    >>> model.fit([[0.0, 1.0], [1.0, 0.0]] * 2, ["wet", "dry"] * 2).predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "cw"
    choices = ("variant", "covariance")
    learners = with_full(("deviation", "cw"), ("variance", "cw-variance"))

    variant: str = "deviation"
    confidence: float = 0.75

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # it must fit every example, the wrongly labelled too
        return tags


@dataclass(kw_only=True, eq=False, repr=False)
class SoftConfidenceWeightedClassifier(_Distribution):
    """Soft confidence-weighted learning (Wang, Zhao & Hoi 2012).

    Parameters
    ----------
    variant : "scw1" (linear slack) or "scw2" (squared slack)
    confidence, prior, pairwise, covariance : see `ConfidenceWeightedClassifier`
    aggressiveness : C, the price of slack
    fit_intercept, passes, bits, seed : see `OnlineGradientClassifier`

    Examples
    --------
    >>> model = SoftConfidenceWeightedClassifier()
    >>> model.fit([[0.0, 1.0], [1.0, 0.0]] * 2, ["wet", "dry"] * 2).predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "scw1"
    choices = ("variant", "covariance")
    learners = with_full(("scw1", "scw1"), ("scw2", "scw2"))

    variant: str = "scw1"
    confidence: float = 0.75
    aggressiveness: float = 1.0


@dataclass(kw_only=True, eq=False, repr=False)
class AROWClassifier(_Distribution):
    """Adaptive regularisation of weights (Crammer, Kulesza & Dredze 2009).

    Parameters
    ----------
    loss : "hinge" (squared, as in the paper), or "logistic"
    regularization : r
    prior : variance of the weights before any example
    pairwise : whether a margin has the variance of a difference of two scores, 2 x'Sx, or LIBOL's x'Sx
    covariance : "diagonal", or "full" for up to 4,096 features
    fit_intercept, passes, bits, seed : see `OnlineGradientClassifier`

    Examples
    --------
    >>> model = AROWClassifier()
    >>> model.fit([[0.0, 1.0], [1.0, 0.0]] * 2, ["wet", "dry"] * 2).predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "arow"
    learners = with_full(("arow",))

    loss: Any = "hinge"
    regularization: float = 1.0


@dataclass(kw_only=True, eq=False, repr=False)
class NAROWClassifier(_Distribution):
    """AROW whose regularisation follows the variance (Orabona & Crammer 2010).

    Parameters
    ----------
    bound : b; once the variance of a margin is below 1 / b its examples are not learnt, late classes neither
    prior : variance of the weights before any example
    pairwise : whether a margin has the variance of a difference of two scores, 2 x'Sx, or LIBOL's x'Sx
    covariance : "diagonal", or "full" for up to 4,096 features
    fit_intercept, passes, bits, seed : see `OnlineGradientClassifier`

    Examples
    --------
    >>> model = NAROWClassifier()
    >>> model.fit([[0.0, 1.0], [1.0, 0.0]] * 2, ["wet", "dry"] * 2).predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "narow"
    learners = with_full(("narow",))

    bound: float = 10.0


@dataclass(kw_only=True, eq=False, repr=False)
class NHERDClassifier(_Distribution):
    """Normal herding (Crammer & Lee 2010).

    Parameters
    ----------
    aggressiveness : C, the price of slack
    prior : variance of the weights before any example
    pairwise : whether a margin has the variance of a difference of two scores, 2 x'Sx, or LIBOL's x'Sx
    covariance : "diagonal", or "full" for up to 4,096 features
    fit_intercept, passes, bits, seed : see `OnlineGradientClassifier`

    Examples
    --------
    >>> model = NHERDClassifier()
    >>> model.fit([[0.0, 1.0], [1.0, 0.0]] * 2, ["wet", "dry"] * 2).predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "nherd"
    learners = with_full(("nherd",))

    aggressiveness: float = 1.0


@dataclass(kw_only=True, eq=False, repr=False)
class IELLIPClassifier(_Gaussian):
    """The improved ellipsoid method (Yang, Jin & Ye 2009).

    Parameters
    ----------
    shrinkage, decay : c and b; round t takes the share c b^t from the ellipsoid
    covariance : "diagonal", or "full" for up to 4,096 features
    fit_intercept, passes, bits, seed : see `OnlineGradientClassifier`

    Examples
    --------
    >>> model = IELLIPClassifier()
    >>> model.fit([[0.0, 1.0], [1.0, 0.0]] * 2, ["wet", "dry"] * 2).predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "iellip"
    learners = with_full(("iellip",))

    shrinkage: float = 0.1
    decay: float = 0.3
