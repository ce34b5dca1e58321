"""Named estimators, sketched_adagrad. Written by `make estimators`."""

from __future__ import annotations

from dataclasses import dataclass

from ouzel.estimators.classifier import Classifier
from ouzel.estimators.named import Named, Term
from ouzel.estimators.regressor import Regressor


@dataclass(kw_only=True, eq=False, repr=False)
class SketchedAdaGradClassifier(Named, Classifier):
    """AdaGrad with the full matrix from a sketch (Feinberg, Chen, Sun, Anil & Hazan 2023).

    Parameters
    ----------
    loss : the loss of one prediction; one of logistic, hinge, smoothed-hinge, squared-hinge, squared, absolute,
        quantile, poisson, or a term
    sketch_size : m, directions that the sketch keeps; a whole number from 0 to 4,096
    learning_rate : step size beyond the sketch, 1 / alpha; a number from 1e-30 to 1e9
    curvature : sigma: 1/4 suits the logistic loss, 1 / (8 C^2) the square loss; a number from 0 to 1e9
    eta : for losses without curvature: added to it as eta / sqrt(t); a number from 0 to 1e9
    sketch_every : gradients between two updates of Oja's directions; more than 1 is slower here; a whole number
        from 1 to 1e9
    normalised : with `diagonal`: as D^-1/4 x / largest; otherwise D^-1/2 x (section 5.2)
    first_square : D of a feature before its first gradient (section 5.2); a number from 1e-12 to 1e12
    earlier : with `diagonal`: D of earlier gradients only, as printed
    bound : beyond `largest`: clip predictions, or project weights; one of clip, project, or a term
    largest : C, the largest prediction; inf for none, as for numbers; a number of 1e-30 or more; infinity is
        allowed
    gamma : of Oja's sketch: c of its steps c / P_i, or c / t; a number from 1e-6 to 1,000
    by_mass : steps c / P_i, each direction its own; otherwise c / t
    start : where Oja's directions begin; one of random, first-seen, ids, or a term
    from_theory : sigma and eta from the loss, `largest` and the regret bound (Theorem 2)
    robust : of Frequent Directions: add half of what they take off each eigenvalue to alpha (RFD-SON)
    dual_averaging : of `sketched-adagrad`: step from 0 by the sum of gradients, in the current metric (FTSL)
    class_weight, interval, calibrate, fit_intercept, standardize, forget : these and others: see `OnlineClassifier`

    Examples
    --------
    >>> model = SketchedAdaGradClassifier()
    >>> model.fit([[0.0, 1.0], [1.0, 0.0]] * 3, ["wet", "dry"] * 3).predict([[1.0, 0.0]]).tolist()
    ['dry']
    """

    learner = "sketched-adagrad"

    loss: Term = "logistic"
    sketch_size: int = 10
    learning_rate: float = 0.5
    curvature: float = 1.0
    eta: float = 0.0
    sketch_every: int = 1
    normalised: bool = True
    first_square: float = 0.1
    earlier: bool = False
    bound: Term = "clip"
    largest: float = float("inf")
    gamma: float = 1.0
    by_mass: bool = True
    start: Term = "random"
    from_theory: bool = False
    robust: bool = False
    dual_averaging: bool = False


@dataclass(kw_only=True, eq=False, repr=False)
class SketchedAdaGradRegressor(Named, Regressor):
    """SketchedAdaGrad on numbers: parameters of `SketchedAdaGradClassifier`, losses of regression.

    Examples
    --------
    >>> model = SketchedAdaGradRegressor().fit([[0.0], [1.0], [2.0]] * 50, [0.0, 1.0, 2.0] * 50)
    >>> bool(model.predict([[2.0]]) > model.predict([[0.0]]))
    True
    """

    learner = "sketched-adagrad"

    loss: Term = "squared"
    sketch_size: int = 10
    learning_rate: float = 0.5
    curvature: float = 1.0
    eta: float = 0.0
    sketch_every: int = 1
    normalised: bool = True
    first_square: float = 0.1
    earlier: bool = False
    bound: Term = "clip"
    largest: float = float("inf")
    gamma: float = 1.0
    by_mass: bool = True
    start: Term = "random"
    from_theory: bool = False
    robust: bool = False
    dual_averaging: bool = False
