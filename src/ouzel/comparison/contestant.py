"""Learners of other libraries in a comparison: objects with River's protocol, or with scikit-learn's `partial_fit`.

They see what Ouzel's learners see: features by name where the stream has names, by id elsewhere. Those of River are
given one example at a time; those of scikit-learn some, each predicted before it is learnt, by a model that lags behind
by as many: 1, 1, 2, 4, … up to 64 examples. Their loss is 1 for a wrong class, for what they minimise is not known.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ouzel.errors import OuzelError
from ouzel.model.label_encoder import Classes
from ouzel.model.tasks.classification import OneAgainstRest
from ouzel.model.tasks.regression import Regression
from ouzel.model.tasks.task import Outcome, losses_against
from ouzel.streams.block import Block
from ouzel.streams.feature_names import FeatureNames
from ouzel.streams.labels import Label, labels_in, sort_key
from ouzel.terms.losses import Hinge, Squared

TOGETHER = 64  # examples that scikit-learn's are given at a time
TRUTHS = {-1: False, 0: False, 1: True}  # River's classifiers of two classes want truth values

_KNOWN: dict[str, Any] = {}  # what was entered, by the names under which it stands in tables


class Entered(NamedTuple):
    """Diagnostics of a learner from another library, like those of a learner of the catalogue."""

    name: str
    budgeted: bool = True  # whether its weights are not asked for


class NoSettings(NamedTuple):
    """Return no diagnostics, as there are none."""


def is_contestant(found: Any) -> bool:
    """Whether an object learns and predicts by one of the two protocols."""
    return (hasattr(found, "learn_one") and hasattr(found, "predict_one")) or (
        hasattr(found, "partial_fit") and hasattr(found, "predict")
    )


def enter(found: Any, name: str = "", taken: Sequence[str] = ()) -> str:
    """Enter a learner, or a function that makes one; return its unique name. Each contest copies it."""
    made = found
    if isinstance(found, type) or not is_contestant(found):
        try:
            made = found()
        except Exception as error:
            raise OuzelError(f"{name or repr(found)} cannot be made without arguments ({error})") from None
    if not is_contestant(made):
        raise OuzelError(f"{name or repr(made)} is not a learner: it has neither learn_one nor partial_fit")
    name = name or type(made).__name__
    names = itertools.chain([name], (f"{name} {number}" for number in itertools.count(2)))
    title = next(title for title in names if title not in taken)
    _KNOWN[title] = found
    return title


def entered(name: str) -> bool:
    """Whether a name is that of a learner from outside."""
    return name in _KNOWN


class Contestant:
    """A learner from outside at work on blocks: as much of a `Model` as a comparison asks for."""

    module = None
    settings = NoSettings()
    bytes_used = None
    standardize = class_weight = None  # how it sees features and classes is its own affair
    columns = 0  # of weights
    states: tuple[Any, ...] = ()

    def __init__(self, name: str, *, classes: Iterable[Label] | None = None, bits: int = 18, **_: Any) -> None:
        found = _KNOWN[name]
        self.learner = Entered(name)
        self.own = copy.deepcopy(found) if is_contestant(found) and not isinstance(found, type) else found()
        self.task = Regression(Squared(), scale_targets=False) if _of_numbers(self.own) else OneAgainstRest(Hinge())
        self.classes = Classes(classes or (), closed=classes is not None)
        self.bits, self.names = bits, FeatureNames()
        self.fitted, self.width = 0, 0
        self.begun_with: set[Label] = set()

    def learn(self, block: Block) -> Outcome:
        """Predict and learn the labelled examples of a block."""
        block = block.select(np.flatnonzero(~np.isnan(block.labels)))
        if block.names is not None:
            self.names.add(block.names)
        labels = labels_in(block)
        try:
            predictions = (
                self._one_by_one(block, labels) if hasattr(self.own, "learn_one") else self._some(block, labels)
            )
        except OuzelError:
            raise
        except Exception as error:
            reason = " ".join(str(error).split()) or type(error).__name__
            words = not self.task.numbers and any(isinstance(label, str) for label in labels)
            advice = "; if it wants no words as labels, name the class that is +1 (--label-positive)" if words else ""
            raise OuzelError(f"{self.learner.name}: cannot learn this stream ({reason}){advice}") from error
        return self._outcome(block, predictions)

    def _one_by_one(self, block: Block, labels: list[Any]) -> list[Any]:
        predictions, offsets = [], block.offsets.tolist()
        names = {feature: self.names.name(feature) or feature for feature in np.unique(block.indices).tolist()}
        indices, values = block.indices.tolist(), block.values.tolist()
        for row, label in enumerate(labels):
            here = slice(offsets[row], offsets[row + 1])
            x = {names[feature]: value for feature, value in zip(indices[here], values[here], strict=True)}
            predictions.append(self.own.predict_one(x))
            self.own.learn_one(x, TRUTHS.get(label, label) if not self.task.numbers else label)
        return [_plain(answer) for answer in predictions]

    def _some(self, block: Block, labels: list[Any]) -> list[Any]:
        predictions: list[Any] = []
        X = self._matrix(block)
        self._begin_with(labels)
        more = {} if self.task.numbers else {"classes": np.array(sorted(self.begun_with, key=sort_key))}
        while len(predictions) < block.rows:
            here = slice(len(predictions), min(block.rows, len(predictions) + min(max(self.fitted, 1), TOGETHER)))
            count = here.stop - here.start
            predictions += self.own.predict(X[here]).tolist() if self.fitted else [None] * count
            self.own.partial_fit(X[here], np.array(labels[here]), **({} if self.fitted else more))
            self.fitted += count
        return predictions

    def _begin_with(self, labels: list[Any]) -> None:
        """Tell the classes, which scikit-learn's learners want to know at the beginning."""
        if not self.fitted:
            self.begun_with = set(self.classes.known) | set(labels)
        late = set() if self.task.numbers else set(labels) - self.begun_with
        if late:
            raise OuzelError(
                f"{self.learner.name}: takes no class that comes late, as {late.pop()!r} does; shuffle the examples, "
                "or in Python declare classes"
            )

    def _matrix(self, block: Block) -> Any:
        import scipy.sparse as sparse

        space = block.space
        self.width = self.width or space.width or 1 << self.bits
        indices = block.indices.astype(np.int64)
        if space.width is None:
            indices %= self.width
        matrix = sparse.csr_matrix((block.values, indices, block.offsets.astype(np.int64)), (block.rows, self.width))
        matrix.sum_duplicates()
        return matrix

    def _outcome(self, block: Block, predictions: list[Any]) -> Outcome:
        if self.task.numbers:
            margins = np.array([0.0 if number is None else number for number in predictions], float)
            return Outcome(margins, block.labels, block.weights, losses_against(self.task.loss, margins, block.labels))
        targets = self.classes.positions(block.labels, block.label_names)
        places = {label: place for place, label in enumerate(self.classes.known)}
        chosen = np.array([-1 if label is None else self._place(label, places) for label in predictions], np.intp)
        scores = np.zeros((block.rows, max(2, len(self.classes))))
        rows = np.flatnonzero(chosen >= 0)
        scores[rows, chosen[rows]] = 1.0
        margins = scores if len(self.classes) > 2 else scores[:, 1] - scores[:, 0]
        return Outcome(margins, targets, block.weights, (chosen != targets).astype(float))

    def _place(self, label: Any, places: dict[Any, int]) -> int:
        """Where a class predicted stands; River's truth values are the numbers that they were given for."""
        found = places.get(label, -1)
        return places.get(-1, found) if found < 0 and label is False else found


def _of_numbers(found: Any) -> bool:
    """Whether a learner predicts numbers, by the classes that it is of; a pipeline by its last step."""
    last = getattr(found, "_last_step", None) or getattr(found, "_final_estimator", found)
    return any("Regressor" in kind.__name__ for kind in type(last).__mro__)


def _plain(answer: Any) -> Any:
    return answer.item() if isinstance(answer, np.generic) else answer
