"""AdaGrad: a step size for each feature."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ouzel.estimators.classifier import Classifier
from ouzel.estimators.named import Learners, Named
from ouzel.estimators.regressor import Regressor


@dataclass(kw_only=True, eq=False, repr=False)
class AdaGrad(Named):
    """The parameters of AdaGrad, whatever the task."""

    learner = "adagrad"
    choices = ("update",)
    learners: ClassVar[Learners] = {("mirror-descent",): "adagrad", ("dual-averaging",): "adagrad-rda"}

    loss: Any = "logistic"
    update: str = "mirror-descent"
    learning_rate: float = 0.25
    l1: float = 0.0
    l2: float = 0.0
    damping: float = 1e-6


@dataclass(kw_only=True, eq=False, repr=False)
class AdaGradClassifier(AdaGrad, Classifier):
    """AdaGrad with a diagonal metric (Duchi, Hazan & Singer 2011), lazily regularised.

    Parameters
    ----------
    loss : "logistic", "hinge", "smoothed-hinge", "squared-hinge", "squared", or a loss term
    update : "mirror-descent" (their eq. 4) or "dual-averaging" (eq. 3, sparser under l1)
    learning_rate : the step size; nearly scale-free, 0.1 to 1 suits most streams
    l1, l2 : strengths of the penalties l1 |w| and l2 w^2 / 2
    damping : added to the root of the sum of squared gradients
    fit_intercept, passes, bits, seed : see `OnlineGradientClassifier`

    Examples
    --------
    >>> model = AdaGradClassifier(l1=1e-3).partial_fit([[0.0, 1.0], [1.0, 0.0]], ["wet", "dry"])
    >>> model.predict([[1.0, 0.0]]).tolist()
    ['dry']
    """


@dataclass(kw_only=True, eq=False, repr=False)
class AdaGradRegressor(AdaGrad, Regressor):
    """AdaGrad on numbers: parameters of `AdaGradClassifier`, losses of regression.

    Examples
    --------
    >>> model = AdaGradRegressor().fit([[0.0], [1.0], [2.0]] * 50, [0.0, 1.0, 2.0] * 50)
    >>> round(model.predict([[1.0]]).item(), 1)
    1.0
    """

    loss: Any = "squared"
    learning_rate: float = 0.5
