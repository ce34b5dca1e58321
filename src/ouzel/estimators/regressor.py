"""scikit-learn's protocol for regressors."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ouzel.errors import OuzelError
from ouzel.estimators.base import Estimator
from ouzel.model.answers import estimates


class Regressor(RegressorMixin, Estimator):
    """Numbers to predict."""

    task = "regression"

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget everything and learn X (n, features), sparse or dense, with targets y (n,), `passes` times."""
        self.__dict__.pop("model_", None)
        return self._learn(X, y, sample_weight, passes=self.passes)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn more examples."""
        return self._learn(X, y, sample_weight, passes=1)

    def predict(self, X: Any) -> np.ndarray:
        """What the margins estimate (n,): themselves, or a rate under the Poisson loss."""
        margins = self._margins(X)
        return estimates(self.model_.loss, margins)

    @property
    def coef_(self) -> np.ndarray:
        """Weights (features,)."""
        check_is_fitted(self, "model_")
        weights = self.model_.weights()[0][1:]
        return np.pad(weights, (0, max(0, getattr(self, "n_features_in_", 0) - len(weights))))

    @property
    def intercept_(self) -> float:
        """Weight of the constant feature."""
        check_is_fitted(self, "model_")
        return float(self.model_.weights()[0][0])

    def _learn(self, X: Any, y: Any, sample_weight: Any, passes: int) -> Self:
        first = not hasattr(self, "model_")
        X, y = validate_data(
            self, X, y, reset=first, accept_sparse="csr", dtype=[np.float32, np.float64], y_numeric=True
        )
        block = self._block(X, sample_weight, np.asarray(y, np.float64), None)
        if block.rows == 0:
            raise OuzelError("nothing to learn: every example has weight 0")
        model = self._new_model() if first else self.model_
        for _ in range(passes):
            model.learn(block)
        self.model_ = model
        return self
