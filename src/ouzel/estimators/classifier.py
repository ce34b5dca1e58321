"""scikit-learn's protocol for classifiers."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from ouzel.errors import OuzelError
from ouzel.estimators.base import WATCHED, Estimator
from ouzel.estimators.data import explaining_missing_labels
from ouzel.model.answers import labels_of, probabilities, shown
from ouzel.model.importance import heaviest
from ouzel.model.intervals import labels_in_sets, sets_of
from ouzel.model.remarks import absent_classes
from ouzel.model.room import beginning, starting_anew
from ouzel.model.weight_errors import require_errors, weight_intervals
from ouzel.streams.labels import Label
from ouzel.streams.sources.error_context import wrap_errors

FEW_CLASSES = 20  # numbers of up to so many values may be classes
CLOSE = 1 << 16  # the largest size of whole numbers that are counted each


Method = TypeVar("Method", bound=Callable[..., Any])


def _gives_probabilities(self: Classifier) -> bool:
    if not self._is_probabilistic():
        raise AttributeError("probabilities need a probabilistic loss: loss='logistic'")
    return True


def with_probabilities(method: Method) -> Method:
    """A method that there is where the loss is a probabilistic one."""
    return available_if(_gives_probabilities)(method)


@dataclass(kw_only=True, eq=False, repr=False)
class Classifier(ClassifierMixin, Estimator):
    """Labels of any kind; classes may appear at any time unless they were declared."""

    task = "classification"
    river_kind = "MiniBatchClassifier"

    class_weight: Any = None
    interval: Any = None
    interval_by: str | None = None
    calibrate: bool | None = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget everything and learn X (n, features), sparse or dense, with labels y (n,), `passes` times."""
        with starting_anew(self):
            self._learn(X, y, None, sample_weight, passes=self.passes, watched=WATCHED)
        absent = absent_classes(self.model_)
        if absent is not None:
            warnings.warn(absent, stacklevel=2)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn more examples. `classes`, on the first call, declares all there will be; others are refused then."""
        with beginning(self):
            return self._learn(X, y, classes, sample_weight, passes=1)

    if TYPE_CHECKING:

        def predict_one(self, x: dict[Any, Any], **_: Any) -> Label | None: ...

    def decision_function(self, X: Any) -> np.ndarray:
        """Margins (n,), positive for `classes_[1]`; with more than two classes (n, classes)."""
        margins = self._margins(X)
        return shown(self.model_.classes, self.model_.preparation.recalibrated(self.model_.task, margins))

    def predict(self, X: Any) -> np.ndarray:
        """Labels (n,)."""
        margins = self.decision_function(X)
        return labels_of(self.model_.classes, margins)

    @with_probabilities
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities (n, classes) in the order of `classes_`."""
        margins = self.decision_function(X)
        if len(self.classes_) == 1:
            return np.ones((len(margins), 1))
        return probabilities(self.model_.loss, margins, self.model_.task.joint)

    @with_probabilities
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Logarithms of the probabilities."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict_set(self, X: Any, level: float | None = None) -> np.ndarray:
        """Whether each class is in the set of labels of each row, (n, classes) in the order of `classes_`.

        For rows that are not learnt; of those that are learnt next, `predict_set_one` keeps what docs/guarantees.md
        promises. `level` is one of `interval`, if it has several. A set is empty where no label is likely enough.
        """
        margins = self._margins(X)
        return sets_of(self.model_, margins, level, True, self._groups(X))

    def predict_set_one(self, x: dict[Any, Any], level: float | None = None) -> list[Any]:
        """The labels in the set of one example, which, if it is learnt next, keeps what `interval` promises."""
        margins = np.array(self._margins_one(x))
        margins = margins if len(margins) == 1 else margins[None]
        return labels_in_sets(self.model_, margins, level, False, self._groups_one(x))[0]

    def weight_intervals(self, n: int = 20, level: float = 0.95) -> list[tuple[Any, float, float, float]]:
        """The n heaviest features of two classes with an interval of each weight: (feature, weight, low, high).

        Of examples of a logistic model each interval has the true weight with probability `level`; NaN where too few
        examples have the feature. Of `ons` with the logistic loss alone, without `standardize`, `forget` and
        `class_weight`: docs/guarantees.md says why; others raise an OuzelError.

        >>> import ouzel
        >>> X, y = [[1.0, 0.5], [0.0, 1.0], [1.0, 0.0]] * 30, [0, 1, 1, 1, 0, 0] * 15
        >>> model = ouzel.OnlineClassifier("ons").fit(X, y)
        >>> all(low <= weight <= high for _, weight, low, high in model.weight_intervals())
        True
        """
        check_is_fitted(self, "model_")
        require_errors(self.model_)
        ((_, column),) = heaviest(self.model_, n)
        ends = [interval or (nan, nan) for interval in weight_intervals(self.model_, column, level)]
        return [(feature.name, feature.weight, *pair) for feature, pair in zip(column, ends, strict=True)]

    @property
    def classes_(self) -> np.ndarray:
        """The classes seen (or declared), sorted; an array of objects where they are of several types."""
        check_is_fitted(self, "model_")
        return self.model_.classes.as_array()

    @property
    def coef_(self) -> np.ndarray:
        """Weights (1, features), of `classes_[1]`, or (classes, features)."""
        return self._shown_weights()[:, 1:]

    @property
    def intercept_(self) -> np.ndarray:
        """Weight of the constant feature, (1,) or (classes,)."""
        return self._shown_weights()[:, 0]

    def _model_options(self) -> dict[str, Any]:
        return {
            **super()._model_options(),
            "class_weight": self.class_weight,
            "interval": self.interval,
            "interval_by": self.interval_by,
            "calibrate": bool(self.calibrate),
        }

    def _learn(self, X: Any, y: Any, classes: Any, sample_weight: Any, passes: int, watched: int = 0) -> Self:
        first = not hasattr(self, "model_")
        X, y = self._validated(X, y)
        with explaining_missing_labels(y), wrap_errors("labels"):  # words and numbers together have no order
            values, codes = _classes_of(y)
        labels = values.tolist()
        model = self._new_model(None if classes is None else np.unique(classes).tolist()) if first else self.model_
        if classes is not None and not first and set(np.unique(classes).tolist()) - set(model.classes.known):
            raise OuzelError(f"classes were declared as {model.classes.known} on the first call; got {list(classes)}")
        if model.classes.closed:
            for label in labels:
                model.classes.position(label)
        blocks = self._blocks(model, X, sample_weight, codes.astype(np.float64), labels)
        return self._train(model, blocks, passes, watched)


def _classes_of(y: Any) -> tuple[np.ndarray, np.ndarray]:
    """The classes among labels (n,) sorted, and where in them each label stands.

    >>> _classes_of(np.array([7.0, 3.0, 7.0]))
    (array([3., 7.]), array([1, 0, 1]))
    """
    y = column_or_1d(y, warn=True)
    numbers = _whole_numbers(y)
    if numbers is not None:
        least = numbers.min()
        counts = np.bincount(numbers - least)
        present = np.flatnonzero(counts)
        if len(present) <= FEW_CLASSES:  # scikit-learn has nothing to say of them
            places = np.cumsum(counts > 0) - 1
            return (present + least).astype(y.dtype), places[numbers - least]
    check_classification_targets(y)
    return np.unique(y, return_inverse=True)


def _whole_numbers(y: np.ndarray) -> np.ndarray | None:
    """Labels (n,) as integers if all are whole numbers that lie together; None if they are not."""
    if y.dtype.kind not in "biuf" or not len(y):
        return None
    least, most = float(y.min()), float(y.max())
    if not (least >= -CLOSE and most <= CLOSE):
        return None
    numbers = y.astype(np.int64)
    return numbers if y.dtype.kind != "f" or (numbers == y).all() else None
