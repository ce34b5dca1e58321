"""River's protocol for every estimator: `learn_one`, `predict_one`, `learn_many`, and what River asks of a model.

River itself is never imported. Its `isinstance` looks for an attribute `_last_step` when the plain check fails; that is
the moment at which our classes register as virtual subclasses of River's, so that its metrics and evaluation take them.
"""

from __future__ import annotations

import copy
import sys
from array import array
from collections.abc import Iterator
from itertools import chain
from typing import Any, ClassVar, Self

import numpy as np

from ouzel.errors import DataError
from ouzel.model.answers import probabilities, shown
from ouzel.model.model import Model
from ouzel.sketches.hashing import feature_id
from ouzel.streams.memory import blocks_from
from ouzel.streams.row_order import tidy_row

MOST_CACHED = 1 << 20  # names whose slots are remembered


class Slots(dict[Any, int]):
    """Slot of each feature met in single examples: columns by name where those are known, else hashed once."""

    def __init__(self, model: Model, columns: dict[Any, int]) -> None:
        super().__init__()
        self.model = model
        self.columns = columns
        self.largest = 0  # feature id

    def __missing__(self, name: Any) -> int:
        if len(self) >= MOST_CACHED:
            self.clear()
        feature = self.columns.get(name)
        if feature is None:
            feature = feature_id(name, self.model.seed, self.model.bits)
            if isinstance(name, str):
                self.model.names.remember(feature, name)
        self.largest = max(self.largest, feature)
        self[name] = feature + 1
        return feature + 1


class RiverProtocol:
    """Single examples as dictionaries of features. Nothing is checked but that values are finite numbers."""

    river_kind: ClassVar[str] = ""  # the class of river.base that this is one of
    model_: Model
    get_params: Any
    set_params: Any
    _new_model: Any
    _is_probabilistic: Any
    _slots: Slots

    def learn_one(self, x: dict[Any, Any], y: Any, w: float = 1.0) -> Self:
        """Learn one example: features (numbers; a string `v` becomes the feature `name=v`), its label, its weight."""
        model = self.begin()
        slots, values = self._row(x)
        if self._slots.largest + 2 > model.dimension:
            model.make_room(self._slots.largest)
        model.learn_one(slots, values, y, np.float32(w))
        return self

    def predict_one(self, x: dict[Any, Any], **_: Any) -> Any:
        """The label or number predicted for one example; None from a classifier that has seen no class."""
        margins = self._margins_one(x)
        return self.model_.answer_one(margins)

    def predict_proba_one(self, x: dict[Any, Any], **_: Any) -> dict[Any, float]:
        """Probability of each class seen."""
        if not self._is_probabilistic():
            raise NotImplementedError("probabilities need a probabilistic loss: loss='logistic'")  # as River asks
        margins = self._margins_one(x)
        classes = self.model_.classes
        if len(classes) < 2:
            return dict.fromkeys(classes.known, 1.0)
        row = shown(classes, np.array(margins if len(margins) == 1 else [margins]))
        shares = probabilities(self.model_.loss, row, self.model_.task.joint)
        return dict(zip(classes.in_order(), shares[0].tolist(), strict=True))

    def learn_many(self, X: Any, y: Any, **_: Any) -> Self:
        """Learn a data frame, a row an example, its columns named as the keys that `learn_one` takes."""
        model = self.begin()
        for block in self._frame(X, np.asarray(y)):
            model.learn(block)
        return self

    def predict_many(self, X: Any) -> Any:
        """Predictions of a data frame's rows as a pandas Series."""
        pandas = sys.modules["pandas"]
        return pandas.Series([self.predict_one(x) for x in X.to_dict(orient="records")], index=X.index)

    def predict_proba_many(self, X: Any) -> Any:
        """Probabilities of a data frame's rows as a DataFrame, a column a class."""
        pandas = sys.modules["pandas"]
        return pandas.DataFrame([self.predict_proba_one(x) for x in X.to_dict(orient="records")], index=X.index)

    def begin(self) -> Model:
        """The model, a new one if nothing was learnt yet."""
        if not hasattr(self, "model_"):
            self.model_ = self._new_model()
        slots = self.__dict__.get("_slots")
        if slots is None or slots.model is not self.model_:
            columns = {name: k for k, name in enumerate(getattr(self, "feature_names_in_", ()))}
            self._slots = Slots(self.model_, columns)
        return self.model_

    def _row(self, x: dict[Any, Any]) -> tuple[np.ndarray, np.ndarray]:
        """Slots (uint32, ascending as in blocks) and values (float32) of one example, the constant feature included."""
        constant = self.model_.intercept
        try:
            values = np.fromiter(chain(x.values(), (1.0,)) if constant else x.values(), np.float32, len(x) + constant)
        except (TypeError, ValueError):
            return self._row(dict(_as_numbers(x)))
        ids = [*map(self._slots.__getitem__, x), 0] if constant else [*map(self._slots.__getitem__, x)]
        slots = np.frombuffer(array("I", ids), np.uint32)
        end = tidy_row(slots, values)
        if end < 0:
            raise DataError(f"feature values must be finite numbers below 1e37; got {x}")
        return slots[:end], values[:end]

    def _margins_one(self, x: dict[Any, Any]) -> list[float]:
        model = self.begin()
        slots, values = self._row(x)
        if self._slots.largest + 1 >= model.capacity and not model.learner.budgeted:
            known = slots < model.capacity
            slots, values = slots[known], values[known]
        return model.margins_one(slots, values)

    def _frame(self, X: Any, y: np.ndarray) -> Iterator[Any]:
        columns = getattr(self, "feature_names_in_", None)
        X = X if columns is None else X[list(columns)].to_numpy()
        return blocks_from(X, y, bits=self.model_.bits, seed=self.model_.seed)

    # What River asks of an estimator beside learning and predicting.

    @property
    def _last_step(self) -> Any:
        base = sys.modules.get("river.base")
        if base is not None and self.river_kind:
            kind = getattr(base, self.river_kind)
            looks = _looks[type(self)] = _looks.get(type(self), 0) + 1
            if looks <= 2:  # River looks whether there is one, then takes it; from then on we are of its kind
                kind.register(type(self))
                return self
        raise AttributeError("_last_step")

    def clone(self, new_params: dict[str, Any] | None = None, include_attributes: bool = False) -> Self:
        """An estimator with the same parameters, or with some of them changed."""
        fresh = type(self)(**copy.deepcopy(self._get_params())).set_params(**(new_params or {}))
        if include_attributes:
            fresh.__dict__.update(copy.deepcopy(self.__dict__))
        return fresh

    def mutate(self, new_attrs: dict[str, Any]) -> None:
        """Change parameters in place."""
        self.set_params(**new_attrs)

    def _get_params(self) -> dict[str, Any]:
        return self.get_params(deep=False)

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {}

    def _unit_test_skips(self) -> set[str]:
        return set()

    @property
    def _mutable_attributes(self) -> set[str]:
        return set(self._get_params())

    @property
    def _tags(self) -> set[str]:
        return set()

    @property
    def _supervised(self) -> bool:
        return True

    @property
    def _multiclass(self) -> bool:
        return True

    @property
    def _is_stochastic(self) -> bool:
        return False

    @property
    def _raw_memory_usage(self) -> int:
        return self.model_.bytes_used if hasattr(self, "model_") else 0

    @property
    def _memory_usage(self) -> str:
        return f"{self._raw_memory_usage / 1024:.1f} KB"


_looks: dict[type, int] = {}


def _as_numbers(x: dict[Any, Any]) -> Iterator[tuple[Any, float]]:
    """Features with strings turned into `name=value` and missing values left out."""
    for name, value in x.items():
        if isinstance(value, str):
            yield f"{name}={value}", 1.0
        elif value is not None:
            yield name, float(value)
