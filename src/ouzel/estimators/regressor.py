"""scikit-learn's protocol for regressors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import RegressorMixin

from ouzel.estimators.base import WATCHED, Estimator, as_numbers
from ouzel.model.answers import estimates
from ouzel.model.intervals import intervals_about
from ouzel.model.room import beginning, starting_anew


@dataclass(kw_only=True, eq=False, repr=False)
class Regressor(RegressorMixin, Estimator):
    """Numbers to predict, learnt in units of their own spread unless `scale_targets` is false."""

    task = "regression"
    river_kind = "MiniBatchRegressor"

    scale_targets: bool = True
    interval: Any = None
    interval_by: str | None = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget everything and learn X (n, features), sparse or dense, with targets y (n,), `passes` times."""
        with starting_anew(self):
            return self._learn(X, y, sample_weight, passes=self.passes, watched=WATCHED)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn more examples."""
        with beginning(self):
            return self._learn(X, y, sample_weight, passes=1)

    def predict(self, X: Any) -> np.ndarray:
        """Predict numbers (n,): the margins, or rates under the Poisson loss."""
        margins = self._margins(X)
        return estimates(self.model_.loss, margins)

    if TYPE_CHECKING:

        def predict_one(self, x: dict[Any, Any], **_: Any) -> float: ...

        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float: ...

    def predict_interval(self, X: Any, level: float | None = None) -> np.ndarray:
        """The ends (n, 2) of intervals about the numbers predicted; infinite before anything was learnt.

        For rows that are not learnt; of those that are learnt next, `predict_interval_one` keeps what
        docs/guarantees.md promises. `level` is one of `interval`, if it has several.

        >>> import ouzel
        >>> model = ouzel.OnlineRegressor("adagrad", interval=0.9)
        >>> _ = model.fit([[0.0], [1.0], [2.0]] * 200, [0.0, 1.0, 2.5] * 200)
        >>> low, high = model.predict_interval([[1.0]])[0].tolist()
        >>> low < model.predict([[1.0]]).item() < high
        True
        """
        margins = self._margins(X)
        return intervals_about(self.model_, margins, level, True, self._groups(X))

    def predict_interval_one(self, x: dict[Any, Any], level: float | None = None) -> tuple[float, float]:
        """The ends of the interval of one example, which, if it is learnt next, keeps what `interval` promises."""
        margins = np.array(self._margins_one(x))
        low, high = intervals_about(self.model_, margins, level, False, self._groups_one(x))[0].tolist()
        return low, high

    @property
    def coef_(self) -> np.ndarray:
        """Weights (features,)."""
        return self._shown_weights()[0, 1:]

    @property
    def intercept_(self) -> float:
        """Weight of the constant feature."""
        return float(self._shown_weights()[0, 0])

    def _model_options(self) -> dict[str, Any]:
        kept = {"interval": self.interval, "interval_by": self.interval_by}
        return {**super()._model_options(), "scale_targets": self.scale_targets, **kept}

    def _learn(self, X: Any, y: Any, sample_weight: Any, passes: int, watched: int = 0) -> Self:
        first = not hasattr(self, "model_")
        X, y = self._validated(X, y)
        numbers = as_numbers(y, "numbers to predict")
        model = self._new_model() if first else self.model_
        return self._train(model, self._blocks(model, X, sample_weight, numbers, None), passes, watched)
