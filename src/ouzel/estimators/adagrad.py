"""AdaGrad: a step size for each feature."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ouzel.errors import OuzelError
from ouzel.estimators.classifier import Classifier
from ouzel.estimators.regressor import Regressor

LEARNERS = {"mirror-descent": "adagrad", "dual-averaging": "adagrad-rda"}


class _ByUpdate:
    """Which learner the parameter `update` means."""

    update: str

    @classmethod
    def serves(cls, learner: str) -> bool:
        """Whether this class is the estimator of a learner of the catalogue."""
        return learner in LEARNERS.values()

    def _learner_name(self) -> str:
        if self.update not in LEARNERS:
            raise OuzelError(f"update must be one of {', '.join(map(repr, LEARNERS))}; got {self.update!r}")
        return LEARNERS[self.update]


@dataclass(kw_only=True, eq=False, repr=False)
class AdaGradClassifier(_ByUpdate, Classifier):
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

    learner = "adagrad"

    loss: Any = "logistic"
    update: str = "mirror-descent"
    learning_rate: float = 0.25
    l1: float = 0.0
    l2: float = 0.0
    damping: float = 1e-6

    def _settings(self) -> dict[str, Any]:
        return {name: value for name, value in super()._settings().items() if name != "update"}


@dataclass(kw_only=True, eq=False, repr=False)
class AdaGradRegressor(_ByUpdate, Regressor):
    """AdaGrad on numbers: parameters of `AdaGradClassifier`, losses of regression.

    Examples
    --------
    >>> model = AdaGradRegressor().fit([[0.0], [1.0], [2.0]] * 50, [0.0, 1.0, 2.0] * 50)
    >>> round(model.predict([[1.0]]).item(), 1)
    1.0
    """

    learner = "adagrad"

    loss: Any = "squared"
    update: str = "mirror-descent"
    learning_rate: float = 0.5
    l1: float = 0.0
    l2: float = 0.0
    damping: float = 1e-6

    def _settings(self) -> dict[str, Any]:
        return {name: value for name, value in super()._settings().items() if name != "update"}
