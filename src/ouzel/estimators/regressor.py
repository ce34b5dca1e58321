"""scikit-learn's protocol for regressors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin

from ouzel.estimators.base import Estimator, as_numbers
from ouzel.model.answers import estimates
from ouzel.model.room import beginning


@dataclass(kw_only=True, eq=False, repr=False)
class Regressor(RegressorMixin, Estimator):
    """Numbers to predict, learnt in units of their own spread unless `scale_targets` is false."""

    task = "regression"
    river_kind = "MiniBatchRegressor"

    scale_targets: bool = True

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget everything and learn X (n, features), sparse or dense, with targets y (n,), `passes` times."""
        self.__dict__.pop("model_", None)
        return self._learn(X, y, sample_weight, passes=self.passes)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn more examples."""
        with beginning(self):
            return self._learn(X, y, sample_weight, passes=1)

    def predict(self, X: Any) -> np.ndarray:
        """Predict numbers (n,): the margins, or rates under the Poisson loss."""
        margins = self._margins(X)
        return estimates(self.model_.loss, margins)

    @property
    def coef_(self) -> np.ndarray:
        """Weights (features,)."""
        return self._shown_weights()[0, 1:]

    @property
    def intercept_(self) -> float:
        """Weight of the constant feature."""
        return float(self._shown_weights()[0, 0])

    def _model_options(self) -> dict[str, Any]:
        return {**super()._model_options(), "scale_targets": self.scale_targets}

    def _learn(self, X: Any, y: Any, sample_weight: Any, passes: int) -> Self:
        first = not hasattr(self, "model_")
        X, y = self._validated(X, y)
        numbers = as_numbers(y, "numbers to predict")
        model = self._new_model() if first else self.model_
        return self._train(model, self._blocks(model, X, sample_weight, numbers, None), passes)
