"""Named estimators, gaussian. Written by `make estimators`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from ouzel.estimators.classifier import Classifier
from ouzel.estimators.mixins import ConfidenceWeighted
from ouzel.estimators.named import Learners, Named, Term


@dataclass(kw_only=True, eq=False, repr=False)
class SecondOrderPerceptronClassifier(Named, Classifier):
    """The second-order perceptron (Cesa-Bianchi, Conconi & Gentile 2005).

    Parameters
    ----------
    covariance : the correlation matrix: its diagonal, or, for up to 4,096 features, the whole; one of "diagonal",
        "full"
    damping : a, the diagonal of the correlation matrix to begin with; a number from 1e-12 to 1e12
    class_weight, interval, calibrate, fit_intercept, standardize, forget : these and others: see `OnlineClassifier`

    Examples
    --------
    >>> model = SecondOrderPerceptronClassifier()
    >>> model.fit([[0.0, 1.0], [1.0, 0.0]] * 3, ["wet", "dry"] * 3).predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "sop"
    choices = ("covariance",)
    learners: ClassVar[Learners] = {("diagonal",): "sop", ("full",): "sop-full"}

    covariance: Literal["diagonal", "full"] = "diagonal"
    damping: float = 1.0


@dataclass(kw_only=True, eq=False, repr=False)
class ConfidenceWeightedClassifier(ConfidenceWeighted, Classifier):
    """Confidence-weighted learning (Dredze, Crammer & Pereira 2008; Crammer, Dredze & Pereira 2008).

    Parameters
    ----------
    variant : by which the margin is to be wide enough: the deviation (the exact convex form) or the variance; one
        of "deviation", "variance"
    covariance : the diagonal, or, for up to 4,096 features, the whole; one of "diagonal", "full"
    confidence : eta, the probability of a right margin; a number from 0.501 to 0.999999999
    prior : variance of the weights of a margin before any example; a number from 1e-9 to 1e9
    pairwise : a margin has the variance 2 x'Sx; otherwise x'Sx, as in LIBOL
    class_weight, interval, calibrate, fit_intercept, standardize, forget : these and others: see `OnlineClassifier`

    Examples
    --------
    >>> model = ConfidenceWeightedClassifier()
    >>> model.fit([[0.0, 1.0], [1.0, 0.0]] * 3, ["wet", "dry"] * 3).predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "cw"
    choices = ("variant", "covariance")
    learners: ClassVar[Learners] = {
        ("deviation", "diagonal"): "cw",
        ("deviation", "full"): "cw-full",
        ("variance", "diagonal"): "cw-variance",
        ("variance", "full"): "cw-variance-full",
    }

    variant: Literal["deviation", "variance"] = "deviation"
    covariance: Literal["diagonal", "full"] = "diagonal"
    confidence: float = 0.75
    prior: float = 1.0
    pairwise: bool = True


@dataclass(kw_only=True, eq=False, repr=False)
class SoftConfidenceWeightedClassifier(Named, Classifier):
    """Soft confidence-weighted learning (Wang, Zhao & Hoi 2012).

    Parameters
    ----------
    variant : linear slack, or squared slack; one of "scw1", "scw2"
    covariance : the diagonal, or, for up to 4,096 features, the whole; one of "diagonal", "full"
    confidence : eta, the probability of a right margin; a number from 0.501 to 0.999999999
    aggressiveness : C, the price of slack; a number from 1e-12 to 1e12
    prior : variance of the weights of a margin before any example; a number from 1e-9 to 1e9
    pairwise : a margin has the variance 2 x'Sx; otherwise x'Sx, as in LIBOL
    class_weight, interval, calibrate, fit_intercept, standardize, forget : these and others: see `OnlineClassifier`

    Examples
    --------
    >>> model = SoftConfidenceWeightedClassifier()
    >>> model.fit([[0.0, 1.0], [1.0, 0.0]] * 3, ["wet", "dry"] * 3).predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "scw1"
    choices = ("variant", "covariance")
    learners: ClassVar[Learners] = {
        ("scw1", "diagonal"): "scw1",
        ("scw1", "full"): "scw1-full",
        ("scw2", "diagonal"): "scw2",
        ("scw2", "full"): "scw2-full",
    }

    variant: Literal["scw1", "scw2"] = "scw1"
    covariance: Literal["diagonal", "full"] = "diagonal"
    confidence: float = 0.75
    aggressiveness: float = 1.0
    prior: float = 1.0
    pairwise: bool = True


@dataclass(kw_only=True, eq=False, repr=False)
class AROWClassifier(Named, Classifier):
    """Adaptive regularisation of weights (Crammer, Kulesza & Dredze 2009).

    Parameters
    ----------
    covariance : the diagonal, or, for up to 4,096 features, the whole; one of "diagonal", "full"
    regularization : r; a number from 1e-12 to 1e12
    prior : variance of the weights of a margin before any example; a number from 1e-9 to 1e9
    pairwise : a margin has the variance 2 x'Sx; otherwise x'Sx, as in LIBOL
    loss : "hinge" (squared, as in the paper), or "logistic"; one of logistic, hinge, smoothed-hinge, squared-hinge,
        squared, absolute, quantile, poisson, or a term
    class_weight, interval, calibrate, fit_intercept, standardize, forget : these and others: see `OnlineClassifier`

    Examples
    --------
    >>> model = AROWClassifier()
    >>> model.fit([[0.0, 1.0], [1.0, 0.0]] * 3, ["wet", "dry"] * 3).predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "arow"
    choices = ("covariance",)
    learners: ClassVar[Learners] = {("diagonal",): "arow", ("full",): "arow-full"}

    covariance: Literal["diagonal", "full"] = "diagonal"
    regularization: float = 1.0
    prior: float = 1.0
    pairwise: bool = True
    loss: Term = "hinge"


@dataclass(kw_only=True, eq=False, repr=False)
class NAROWClassifier(Named, Classifier):
    """NAROW: second order down to a variance, first order below it (Orabona & Crammer 2010).

    Parameters
    ----------
    covariance : the diagonal, or, for up to 4,096 features, the whole; one of "diagonal", "full"
    bound : b: variances narrow to 1 / b; a number from 1e-12 to 1e12
    prior : variance of the weights of a margin before any example; a number from 1e-9 to 1e9
    pairwise : a margin has the variance 2 x'Sx; otherwise x'Sx, as in LIBOL
    class_weight, interval, calibrate, fit_intercept, standardize, forget : these and others: see `OnlineClassifier`

    Examples
    --------
    >>> model = NAROWClassifier()
    >>> model.fit([[0.0, 1.0], [1.0, 0.0]] * 3, ["wet", "dry"] * 3).predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "narow"
    choices = ("covariance",)
    learners: ClassVar[Learners] = {("diagonal",): "narow", ("full",): "narow-full"}

    covariance: Literal["diagonal", "full"] = "diagonal"
    bound: float = 1.0
    prior: float = 1.0
    pairwise: bool = True


@dataclass(kw_only=True, eq=False, repr=False)
class NHERDClassifier(Named, Classifier):
    """Normal herding (Crammer & Lee 2010).

    Parameters
    ----------
    covariance : the diagonal, or, for up to 4,096 features, the whole; one of "diagonal", "full"
    aggressiveness : C, the price of slack; a number from 1e-12 to 1e12
    prior : variance of the weights of a margin before any example; a number from 1e-9 to 1e9
    pairwise : a margin has the variance 2 x'Sx; otherwise x'Sx, as in LIBOL
    class_weight, interval, calibrate, fit_intercept, standardize, forget : these and others: see `OnlineClassifier`

    Examples
    --------
    >>> model = NHERDClassifier()
    >>> model.fit([[0.0, 1.0], [1.0, 0.0]] * 3, ["wet", "dry"] * 3).predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "nherd"
    choices = ("covariance",)
    learners: ClassVar[Learners] = {("diagonal",): "nherd", ("full",): "nherd-full"}

    covariance: Literal["diagonal", "full"] = "diagonal"
    aggressiveness: float = 1.0
    prior: float = 1.0
    pairwise: bool = True


@dataclass(kw_only=True, eq=False, repr=False)
class IELLIPClassifier(Named, Classifier):
    """The improved ellipsoid method (Yang, Jin & Ye 2009).

    Parameters
    ----------
    covariance : the ellipsoid's matrix: its diagonal, or, for up to 4,096 features, the whole; one of "diagonal",
        "full"
    shrinkage : c; a number of 0 or more and below 1
    decay : b; round t takes the share c b^t from the ellipsoid; a number from 0 to 1
    class_weight, interval, calibrate, fit_intercept, standardize, forget : these and others: see `OnlineClassifier`

    Examples
    --------
    >>> model = IELLIPClassifier()
    >>> model.fit([[0.0, 1.0], [1.0, 0.0]] * 3, ["wet", "dry"] * 3).predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "iellip"
    choices = ("covariance",)
    learners: ClassVar[Learners] = {("diagonal",): "iellip", ("full",): "iellip-full"}

    covariance: Literal["diagonal", "full"] = "diagonal"
    shrinkage: float = 0.1
    decay: float = 0.3
