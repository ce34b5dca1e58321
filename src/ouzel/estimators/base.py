"""What every estimator shares: parameters to a `Model`, arrays to blocks, saving.

An estimator holds no arithmetic. Its constructor stores parameters; `partial_fit` checks its input and hands blocks to
the model, `learn_one` (in `river.py`) hands over single examples unchecked.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from ouzel.estimators.river import RiverProtocol
from ouzel.model.answers import shown_top
from ouzel.model.model import Model
from ouzel.ranges import Bits, Passes, Seed, checked
from ouzel.streams.block import Block
from ouzel.streams.memory import to_block

COMMON = ("fit_intercept", "passes", "bits", "seed")
"""Parameters that are not settings of the learner."""

ORDER_MATTERS = "one pass over a stream: the result depends on the order of examples, and a weight is not a repetition"

EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": ORDER_MATTERS,
    "check_sample_weight_equivalence_on_sparse_data": ORDER_MATTERS,
}
"""scikit-learn's checks that no online learner can pass (its SGDClassifier is excused too), each with its reason."""


@dataclass(kw_only=True, eq=False, repr=False)
class Estimator(RiverProtocol, BaseEstimator):
    """A learner of the catalogue as an estimator; subclasses name it and list its settings as further fields."""

    learner: ClassVar[str]  # name in the catalogue
    task: ClassVar[str]  # "classification" or "regression"

    fit_intercept: bool = True
    passes: Passes = 1
    bits: Bits = 18
    seed: Seed = 0

    def top_weights(self, n: int = 20) -> Any:
        """The n heaviest (feature, weight), heaviest first; features are names where names are known.

        With three classes or more: a dict from each class to such a list. Positive weights speak for `classes_[1]`.
        """
        check_is_fitted(self, "model_")
        columns = [[(self._feature(feature), weight) for feature, weight in column] for column in self.model_.top(n)]
        found = shown_top(self.model_.classes, columns)
        return found[0][1] if len(found) == 1 else dict(found)

    def save(self, path: str | Path) -> None:
        """Write the model to one file that `ouzel.load` reads; the file holds no code."""
        from ouzel.model import persistence

        check_is_fitted(self, "model_")
        if hasattr(self, "feature_names_in_"):
            self.model_.names.update(enumerate(map(str, self.feature_names_in_)))
        persistence.save(self.model_, path)

    @property
    def bytes_used_(self) -> int:
        """Bytes the learner's state takes."""
        check_is_fitted(self, "model_")
        return self.model_.bytes_used

    @classmethod
    def serves(cls, learner: str) -> bool:
        """Whether this class is the estimator of a learner of the catalogue."""
        return cls.choice(learner) is not None

    @classmethod
    def choice(cls, learner: str) -> dict[str, Any] | None:
        """The parameters that pick a learner of the catalogue; None if this class is the estimator of others."""
        return {} if learner == cls.learner else None

    def _learner_name(self) -> str:
        """Name in the catalogue; classes whose parameters pick among several learners override it."""
        return self.learner

    def _settings(self) -> dict[str, Any]:
        """The parameters that are settings of the learner."""
        return {name: value for name, value in self.get_params(deep=False).items() if name not in COMMON}

    def _new_model(self, classes: Iterable[Any] | None = None) -> Model:
        given = checked(Estimator, {name: getattr(self, name) for name in ("passes", "bits", "seed")})
        return Model(
            self._learner_name(),
            task=self.task,
            classes=classes,
            intercept=self.fit_intercept,
            bits=given["bits"],
            seed=given["seed"],
            **self._settings(),
        )

    def _feature(self, feature: int) -> Any:
        """What a person calls a feature id."""
        columns = getattr(self, "feature_names_in_", ())
        return str(columns[feature]) if 0 <= feature < len(columns) else self.model_.feature_name(feature)

    def _block(self, X: Any, sample_weight: Any, labels: np.ndarray | None, label_names: list[Any] | None) -> Block:
        """Checked arrays as one block; examples of weight 0 are left out."""
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, X, dtype=np.float32, ensure_non_negative=True)
        block = to_block(X, labels, label_names=label_names, weights=weights)
        if weights is not None and not weights.all():
            block = block.select(np.flatnonzero(weights))
        return block

    def _checked(self, X: Any, reset: bool = False) -> Any:
        return validate_data(self, X, reset=reset, accept_sparse="csr", dtype=[np.float32, np.float64])

    def _margins(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "model_")
        return self.model_.margins(self._block(self._checked(X), None, None, None))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
