"""River's protocol for every estimator: `learn_one`, `predict_one`, `learn_many`, and what River asks of a model.

River itself is never imported. Its `isinstance` looks for an attribute `_last_step` when the plain check fails; that is
the moment at which our classes register as virtual subclasses of River's, so that its metrics and evaluation take them.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import issparse

from ouzel.estimators.slots import Slots
from ouzel.model.answers import Answers, probabilities_one
from ouzel.model.model import Model
from ouzel.model.room import changing, make_room
from ouzel.streams.block import Block
from ouzel.streams.feature_space import NOTHING_KNOWN
from ouzel.streams.frames import as_table, goes_by_name, table_blocks
from ouzel.streams.labels import encode_labels
from ouzel.streams.memory import blocks_from
from ouzel.streams.weights import as_weight, as_weights

ONE = np.float32(1.0)


class RiverProtocol:
    """Single examples as dictionaries of features. Values, labels and weights are checked."""

    river_kind: ClassVar[str] = ""  # the class of river.base that this is one of
    model_: Model
    get_params: Any
    set_params: Any
    _new_model: Any
    _is_probabilistic: Any
    _reading: Any
    _refuse_names: Any
    missing: Any
    _slots: Slots

    def learn_one(self, x: dict[Any, Any], y: Any, w: float = 1.0) -> Self:
        """Learn one example: features (numbers; a string `v` becomes the feature `name=v`), its label, its weight."""
        self._learn_one(x, y, w)
        return self

    def predict_then_learn_one(self, x: dict[Any, Any], y: Any, w: float = 1.0) -> float | list[float]:
        """Learn one example as `learn_one` does; return the margin predicted for it just before.

        It is what `decision_function` would have given: positive for `classes_[1]`; of three classes and more, a list
        with a margin for each of `classes_`. A class met for the first time counts as known. Numbers to predict have
        the margin alone.
        """
        margins = self._learn_one(x, y, w)
        classes = self.model_.classes
        if len(margins) > 1:
            return [margins[place] for place in classes.order()]
        return float(-margins[0] if classes.reversed_pair() else margins[0])

    def _learn_one(self, x: dict[Any, Any], y: Any, w: float) -> list[float]:
        slots = self._ready()
        model, slots.learning = slots.model, True
        model.task.check_one(model, y)
        weight = ONE if w == 1.0 else as_weight(w)
        row, values = slots.row(x)
        if slots.largest + 2 > model.dimension:
            make_room(model, slots.largest)
        return model.learn_one(row, values, y, weight)

    def predict_one(self, x: dict[Any, Any], **_: Any) -> Any:
        """The label or number predicted for one example; None from a classifier that has seen no class."""
        margins, model = self._margins_one(x), self.model_
        return model.task.answer_one(model, margins)

    def predict_proba_one(self, x: dict[Any, Any], **_: Any) -> dict[Any, float]:
        """Probability of each class seen."""
        if not self._is_probabilistic():
            raise NotImplementedError("probabilities need a probabilistic loss: loss='logistic'")  # as River asks
        margins = self._margins_one(x)
        model = self.model_
        if len(model.classes) < 2:
            return dict.fromkeys(model.classes.known, 1.0)
        margins = model.preparation.recalibrated_one(model.task, margins)
        return probabilities_one(model.loss, model.classes, margins, model.task.joint)

    def learn_many(self, X: Any, y: Any, w: Any = 1.0) -> Self:
        """Learn a data frame, its columns named as the keys that `learn_one` takes, or a list of dictionaries.

        `w` is the weight of each row (n,), or one for all. Rows without a label are left out.
        """
        model = self.begin()
        count = X.shape[0] if hasattr(X, "shape") else len(X)
        weights = as_weights(w if np.ndim(w) else [w] * count, count)
        for block in self._rows(X, y, weights):
            model.learn(block)
        return self

    def predict_many(self, X: Any) -> Any:
        """Predictions of a data frame's rows as a pandas Series."""
        pandas = sys.modules["pandas"]
        answers = self._answers_many(X)
        index = getattr(X, "index", None)
        if answers is None:
            return pandas.Series([None] * X.shape[0], index=index)
        return pandas.Series([value for part in answers for value in part.predicted.tolist()], index=index)

    def predict_proba_many(self, X: Any) -> Any:
        """Probabilities of a data frame's rows as a DataFrame, a column a class."""
        pandas = sys.modules["pandas"]
        if not self._is_probabilistic():
            raise NotImplementedError("probabilities need a probabilistic loss: loss='logistic'")  # as River asks
        answers = self._answers_many(X)
        index = getattr(X, "index", None)
        if answers is None:
            return pandas.DataFrame(index=index)
        shares = [part.probabilities for part in answers if part.probabilities is not None]
        return pandas.DataFrame(np.concatenate(shares), columns=answers[0].classes, index=index)

    def _answers_many(self, X: Any) -> list[Answers] | None:
        """Return answers to a data frame; None from a classifier that has seen no class."""
        model = self.begin()
        if not (model.task.numbers or model.task.groups or len(model.classes)):
            return None
        return [model.answers(block) for block in self._rows(X, None, None, unlabelled=True)]

    def begin(self) -> Model:
        """The model, a new one if nothing was learnt yet."""
        self._ready()
        return self.model_

    def _ready(self) -> Slots:
        """The slots of the model, new ones if it is new."""
        slots = self.__dict__.get("_slots")
        if slots is None or slots.model is not self.__dict__.get("model_"):
            with changing(self):
                slots = self.__dict__.get("_slots")  # another thread may have been here
                if slots is None or slots.model is not self.__dict__.get("model_"):
                    if not hasattr(self, "model_"):
                        self.model_ = self._new_model()
                    self._slots = slots = Slots(self.model_, self._reading(self.model_, NOTHING_KNOWN))
        return slots

    def _margins_one(self, x: dict[Any, Any]) -> list[float]:
        row, values = self._row_one(x)
        return self.model_.margins_one(row, values)

    def _row_one(self, x: dict[Any, Any]) -> tuple[np.ndarray, np.ndarray]:
        """The slots and values of one example to predict, those that the model has room for."""
        slots = self._ready()
        model, slots.learning = slots.model, False
        row, values = slots.row(x)
        if slots.largest + 2 > model.dimension and slots.largest + 1 >= model.reach:
            known = row < model.reach
            row, values = row[known], values[known]
        return row, values

    def _groups_one(self, x: dict[Any, Any]) -> Any:
        """The group (1,) of one example, by key; None where intervals are not kept by groups."""
        slots = self._ready()
        return slots.model.preparation.group_keys_one(slots.model, *slots.row(x))

    def _rows(self, X: Any, y: Any, weights: Any, unlabelled: bool = False) -> Iterator[Block]:
        model = self.model_
        if goes_by_name(X):
            labels = None if y is None else encode_labels(y, X.shape[0])
            return table_blocks(as_table(X), labels, weights, self._reading(model, model.space, unlabelled))
        self._refuse_names()
        said = {} if issparse(X) else {"missing": self.missing}
        return blocks_from(X, y, weights=weights, model=model, **said)

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
