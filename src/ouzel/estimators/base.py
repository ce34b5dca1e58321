"""What every estimator shares: parameters to a `Model`, arrays to blocks, saving.

An estimator holds no arithmetic. Its constructor stores parameters; `partial_fit` checks its input and hands blocks to
the model, `learn_one` (in `river.py`) hands over single examples unchecked.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from ouzel.errors import OuzelError
from ouzel.estimators.river import RiverProtocol
from ouzel.learners import catalogue
from ouzel.model.answers import is_probabilistic, shown_top
from ouzel.model.model import Model
from ouzel.model.settings import resolve_settings
from ouzel.model.tasks.choose import settings_for
from ouzel.ranges import Bits, Passes, Seed, checked
from ouzel.streams.block import Block
from ouzel.streams.memory import check_sparse, to_block

COMMON = ("fit_intercept", "passes", "bits", "seed", "pairs", "scale_targets")
"""Parameters that are not settings of the learner."""

ORDER_MATTERS = "one pass over a stream: the result depends on the order of examples, and a weight is not a repetition"

EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": ORDER_MATTERS,
    "check_sample_weight_equivalence_on_sparse_data": ORDER_MATTERS,
}
"""scikit-learn's checks that no online learner can pass (its SGDClassifier is excused too), each with its reason."""


@dataclass(kw_only=True, eq=False, repr=False)
class Estimator(RiverProtocol, BaseEstimator):
    """A learner of the catalogue as an estimator; a subclass says which, and with what settings."""

    task: ClassVar[str]  # as a `Model` takes it

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

    # What a subclass says.

    def _learner_name(self) -> str:
        """Name in the catalogue."""
        raise NotImplementedError

    def _settings(self) -> dict[str, Any]:
        """The settings of the learner that were given."""
        raise NotImplementedError

    @classmethod
    def around(cls, model: Model) -> Self | None:
        """An estimator with the parameters of a model, around it; None if this class cannot say what the model is."""
        raise NotImplementedError

    # From parameters to a model.

    def _resolved(self) -> Any:
        """The learner's `Settings`; the seed is that of its sketch, too, unless that has one of its own."""
        learner, given = catalogue.find(self._learner_name()), self._settings()
        if "sketch_seed" in learner.settings._fields and given.get("sketch_seed") is None:
            given["sketch_seed"] = checked(Estimator, {"seed": self.seed})["seed"]
        return resolve_settings(learner, settings_for(self.task, learner, given))

    def _new_model(self, classes: Iterable[Any] | None = None) -> Model:
        given = checked(Estimator, {name: getattr(self, name) for name in ("bits", "seed")})
        settings = self._resolved()._asdict()
        return Model(
            self._learner_name(), task=self.task, classes=classes, **self._model_options(), **given, **settings
        )

    def _model_options(self) -> dict[str, Any]:
        """What else the model takes."""
        return {"intercept": self.fit_intercept}

    def _is_probabilistic(self) -> bool:
        """Whether margins estimate probabilities."""
        if hasattr(self, "model_"):
            return is_probabilistic(self.model_.loss)
        try:
            return is_probabilistic(getattr(self._resolved(), "loss", None))
        except OuzelError:
            return False  # `fit` says what is wrong

    # From arrays to blocks.

    def _validated(self, X: Any, y: Any, **how: Any) -> tuple[Any, Any]:
        """X and y checked, against the features met before if there are any."""
        check_sparse(X)  # before scikit-learn looks at the matrix
        first = not hasattr(self, "model_")
        X, y = validate_data(self, X, y, reset=first, accept_sparse="csr", dtype=[np.float32, np.float64], **how)
        return X, y

    def _train(self, model: Model, block: Block, passes: int) -> Self:
        """Have the model learn a block so many times."""
        if block.rows == 0:
            raise OuzelError("nothing to learn: every example has weight 0")
        for _ in range(checked(Estimator, {"passes": passes})["passes"]):
            model.learn(block)
        self.model_ = model
        return self

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

    def _margins(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "model_")
        check_sparse(X)
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=[np.float32, np.float64])
        return self.model_.margins(self._block(X, None, None, None))

    def _shown_weights(self) -> np.ndarray:
        """Weights (columns, 1 + features) in the order and with the signs of margins as shown."""
        check_is_fitted(self, "model_")
        table = self.model_.shown_weights()
        width = 1 + getattr(self, "n_features_in_", table.shape[1] - 1)
        return np.pad(table, ((0, 0), (0, max(0, width - table.shape[1]))))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def as_numbers(y: Any, what: str) -> np.ndarray:
    """Numbers (n,) to predict or to rank by, or an error of one line."""
    try:
        return np.asarray(y, np.float64)
    except (TypeError, ValueError):
        odd = next((value for value in np.asarray(y).ravel().tolist() if not isinstance(value, (int, float))), y)
        raise OuzelError(f"y must be {what}; got {odd!r}") from None
