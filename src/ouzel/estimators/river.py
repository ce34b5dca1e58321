"""River's protocol for every estimator: `learn_one`, `predict_one`, `learn_many`, and what River asks of a model.

River itself is never imported. Its `isinstance` looks for an attribute `_last_step` when the plain check fails; that is
the moment at which our classes register as virtual subclasses of River's, so that its metrics and evaluation take them.
"""

from __future__ import annotations

import copy
import sys
from array import array
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Self

import numpy as np

from ouzel.errors import DataError
from ouzel.model.answers import Answers, probabilities, shown
from ouzel.model.model import Model
from ouzel.streams.block import Block
from ouzel.streams.dictionaries import plain_features
from ouzel.streams.feature_space import NUMBER, FeatureSpace, meet, own_id
from ouzel.streams.frames import as_table, is_table, table_blocks
from ouzel.streams.memory import blocks_from
from ouzel.streams.row_order import tidy_row
from ouzel.streams.targets import encode_labels

MOST_CACHED = 1 << 20  # names whose slots are remembered
NOT_BY_VALUE = -1  # the slot of what is not a number of a feature of its own: a category, or a column not known


class Slots(dict[Any, int]):
    """Slot of each feature met in single examples, found once; -1 of one that a model of an array's columns has not."""

    def __init__(self, model: Model) -> None:
        super().__init__()
        self.model = model
        self.largest = 0  # feature id
        self.learning = False

    def __missing__(self, name: Any) -> int:
        if len(self) >= MOST_CACHED:
            self.clear()
        model, space = self.model, self.model.space
        if space.kinds.get(name, NUMBER) != NUMBER:
            return NOT_BY_VALUE
        feature = space.id_of(name, model.seed, model.bits)
        if isinstance(name, str):
            column = name if name in space.kinds else str(name).partition("=")[0]
            given = FeatureSpace(named=True, loose=column not in space.kinds)
        else:
            given = FeatureSpace(lowest=0, highest=feature, loose=True)
        if feature is None and space.kinds:
            return NOT_BY_VALUE
        known = meet(
            space, given if space.width is None or feature is None else given._replace(named=False), self.learning
        )
        if self.learning:
            model.space = known
        assert feature is not None
        if isinstance(name, str) and not isinstance(own_id(name), int):
            model.names.remember(feature, name)
        self.largest = max(self.largest, feature)
        if self.learning or (space.named if isinstance(name, str) else feature <= (space.highest or -1)):
            self[name] = feature + 1
        return feature + 1

    def _given(self, name: Any, feature: int | None) -> FeatureSpace:
        """What is said by a feature given alone; a column's own name, or a word of it, brings nothing new."""
        space = self.model.space
        if isinstance(own_id(name), int) or (space.width is not None and feature is not None):
            named = isinstance(name, str) and space.width is None  # written in digits it is a name as well
            return FeatureSpace(named, 0, feature, loose=True)
        column = name if name in space.kinds else str(name).partition("=")[0]
        return FeatureSpace(named=True, loose=column not in space.kinds)


class RiverProtocol:
    """Single examples as dictionaries of features. Nothing is checked but that values are finite numbers."""

    river_kind: ClassVar[str] = ""  # the class of river.base that this is one of
    model_: Model
    get_params: Any
    set_params: Any
    _new_model: Any
    _is_probabilistic: Any
    _reading: Any
    _slots: Slots

    def learn_one(self, x: dict[Any, Any], y: Any, w: float = 1.0) -> Self:
        """Learn one example: features (numbers; a string `v` becomes the feature `name=v`), its label, its weight."""
        model = self.begin()
        self._slots.learning = True
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
        labels = encode_labels(y, X.shape[0])
        for block in self._frame(X, labels):
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
        found = [part.probabilities for part in answers]
        shares = [np.ones((len(part.margins), 1)) if p is None else p for part, p in zip(answers, found, strict=True)]
        return pandas.DataFrame(np.concatenate(shares), columns=answers[0].classes, index=index)

    def _answers_many(self, X: Any) -> list[Answers] | None:
        """What the model says of a data frame; None from a classifier that has seen no class."""
        model = self.begin()
        if not (model.task.numbers or model.task.groups or len(model.classes)):
            return None
        return [model.answers(block) for block in self._frame(X, None, unlabelled=True)]

    def begin(self) -> Model:
        """The model, a new one if nothing was learnt yet."""
        if not hasattr(self, "model_"):
            self.model_ = self._new_model()
        slots = self.__dict__.get("_slots")
        if slots is None or slots.model is not self.model_:
            self._slots = Slots(self.model_)
        return self.model_

    def _row(self, x: Mapping[Any, Any], plain: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """Slots (uint32, ascending as in blocks) and values (float32) of one example, the constant feature included.

        What is not `plain`, numbers of features that are known by name, is made so.
        """
        try:
            ids, numbers = [*map(self._slots.__getitem__, x)], [*x.values()]
            if self.model_.intercept:
                ids.append(0)
                numbers.append(1.0)
            slots, values = np.frombuffer(array("I", ids), np.uint32), np.frombuffer(array("f", numbers), np.float32)
            end = tidy_row(slots, values)
        except (TypeError, OverflowError):
            end = -1
        if end < 0:
            if plain:
                raise DataError(f"feature values must be finite numbers below 1e37; got {x}")
            return self._row(self._by_value(x), plain=True)
        return slots[:end], values[:end]

    def _by_value(self, x: Mapping[Any, Any]) -> dict[Any, float]:
        """Features by name and number of what also has words, missing values or columns that are not known."""
        space = self.model_.space
        found = plain_features(x, space, space.indicator)
        if space.width is None:
            return found
        return {name: value for name, value in found.items() if not (isinstance(name, str) and name not in space.kinds)}

    def _margins_one(self, x: dict[Any, Any]) -> list[float]:
        model = self.begin()
        self._slots.learning = False
        slots, values = self._row(x)
        if self._slots.largest + 1 >= model.capacity and not model.learner.budgeted:
            known = slots < model.capacity
            slots, values = slots[known], values[known]
        return model.margins_one(slots, values)

    def _frame(self, X: Any, labels: Any, unlabelled: bool = False) -> Iterator[Block]:
        model = self.model_
        if not is_table(X):
            return blocks_from(X, None if labels is None else np.asarray(labels[0]), model=model)
        return table_blocks(as_table(X), labels, None, self._reading(model, model.space, unlabelled))

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
