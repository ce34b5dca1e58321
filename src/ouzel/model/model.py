"""A learner at work on a stream: labels become targets, features slots, and the state grows as the stream needs it.

What the estimators and the command line share. One binary state serves two classes; from the third class on, a binary
learner keeps one state a class (one against the rest), each of them fed every example, and one more that stands for
every class not seen yet: what a new class starts from.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from ouzel.errors import OuzelError, RoomError
from ouzel.layout import bytes_of
from ouzel.learners import catalogue
from ouzel.learners.rows import Rows, largest_id, to_rows
from ouzel.model import tasks
from ouzel.model.heaviest import heaviest_slots
from ouzel.model.label_encoder import Classes
from ouzel.model.losses import is_probabilistic
from ouzel.model.settings import resolve_settings
from ouzel.model.tasks import Learnt
from ouzel.ranges import Bits, Range, Seed, memory, ranged
from ouzel.streams.block import Block
from ouzel.streams.feature_names import FeatureNames
from ouzel.streams.label_values import Label
from ouzel.terms.losses import REGRESSION, Hinge
from ouzel.terms.names import name_of

SMALLEST_TABLE = 1024  # slots of a new state
SMALLEST_MATRIX = 32  # the same, of a learner that keeps a number for every pair of slots
SLOT_LIMIT = 1 << 32
NAMES_EVERY = 4096  # single examples between two looks at which names a budgeted learner still needs


class Model:
    """A learner with its settings, its classes and all it has learnt.

    `learner` is a name of the catalogue; `settings` are fields of that learner's `Settings`, terms by name or instance.
    `classes` declares the classes beforehand; no other is taken then. `task` is "classification", "regression" or
    "ranking", by default which of the first two the loss is for. `bits` and `seed` say how the stream's names were
    hashed. A ranking model learns so many `pairs` of each group, 0 for all, drawn with the seed. A model that is not to
    `begin` has no states: they come from a file.

    Examples
    --------
    >>> from ouzel.streams.memory import blocks_from
    >>> model = Model("ogd", loss="logistic")
    >>> for block in blocks_from([({"sun": 1.0}, "dry"), ({"cloud": 1.0}, "wet")]):
    ...     learnt = model.learn(block)
    >>> model.examples, model.classes.known
    (2, ['dry', 'wet'])
    """

    @ranged
    def __init__(
        self,
        learner: str = "auto",
        *,
        intercept: bool = True,
        classes: Iterable[Label] | None = None,
        task: str | None = None,
        bits: Bits = 18,
        seed: Seed = 0,
        pairs: Annotated[int, Range(0, whole=True, each=64), "pairs drawn of each group to rank; 0 for all"] = 0,
        begin: bool = True,
        **settings: Any,
    ) -> None:
        self.learner = catalogue.find(learner)
        self.settings = resolve_settings(self.learner, settings)
        self.intercept = bool(intercept)
        self.loss = getattr(self.settings, "loss", Hinge())
        self.task = task or ("regression" if isinstance(self.loss, REGRESSION) else "classification")
        self.classes = Classes(classes or (), closed=classes is not None)
        self.bits = bits
        self.seed = seed
        self.pairs = pairs
        if self.task == "ranking" and (self.multiclass or isinstance(self.loss, REGRESSION)):
            raise OuzelError(
                "ranking takes a learner of two classes and a loss of classes, such as adagrad and hinge; "
                f"got {learner} and {name_of(self.loss)}"
            )
        self.names = FeatureNames()
        self.examples = 0
        self.unlabelled = 0
        self.dimension = 1  # slots that examples may have used so far; slot 0 is the constant feature
        self.states: list[Any] = []
        self.room = 0  # classes that a multiclass learner's state has columns for
        if begin:
            self.make_states(len(self.classes))

    @cached_property
    def module(self) -> Any:
        """The learner's functions; those for the task and the loss, where a learner has several."""
        module = self.learner.module
        return module.module_for(self.task, self.loss) if hasattr(module, "module_for") else module

    @cached_property
    def multiclass(self) -> bool:
        """Whether one state holds every class."""
        return getattr(self.module, "MULTICLASS", False)

    @property
    def joint(self) -> bool:
        """Whether three or more classes learn the multinomial loss together, and not each its own."""
        return getattr(self.module, "JOINT", False) and is_probabilistic(self.loss)

    @cached_property
    def budgeted(self) -> bool:
        """Whether the state keeps to a byte budget and takes any id."""
        return self.learner.budgeted

    @cached_property
    def compiled(self) -> dict[tuple[str, int], tuple[Any, Any]]:
        """For single examples: a state, and a function compiled for it, by its name and the state's place."""
        return {}

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("module", "compiled")}

    @property
    def columns(self) -> int:
        """Columns of margins and weights: 1 for regression and up to two classes, else the number of classes."""
        return self._columns(len(self.classes))

    @property
    def capacity(self) -> int:
        """Slots the state has room for: a function of `dimension` alone, however the stream was cut into blocks."""
        matrix = getattr(self.settings, "full", 0.0) or getattr(self.module, "WHOLE_MATRIX", False)
        return max(SMALLEST_MATRIX if matrix else SMALLEST_TABLE, 1 << max(self.dimension - 2, 0).bit_length()) + 1

    @property
    def bytes_used(self) -> int:
        """Bytes the states hold; a budgeted learner counts as its paper does."""
        count = getattr(self.module, "bytes_used", lambda state: sum(array.nbytes for array in state))
        return sum(int(count(state)) for state in self.states)

    def layouts(self) -> list[Any]:
        """What each state is made of, by the classes, the dimension and the settings (see `ouzel.layout`)."""
        if self.multiclass:
            return [self.module.layout(self.capacity, self._room(len(self.classes)), self.settings)]
        return [self.module.layout(self.capacity, self.settings)] * self._states(len(self.classes))

    def take(self, states: list[Any]) -> None:
        """Have these states, which are of `layouts`."""
        self.states, self.room = states, self._room(len(self.classes)) if self.multiclass else 0

    def learn(self, block: Block) -> Learnt:
        """Learn a block; return the margins predicted before each example was learnt, beside its target.

        With up to two classes a margin is positive for the second class seen. Examples without a label are left out.
        A ranking model gives an entry a pair of the block's groups, which are taken as whole.
        """
        block = self._labelled(block)
        self._make_room(block)
        learn = {"regression": tasks.learn_numbers, "ranking": tasks.learn_groups}.get(self.task, tasks.learn_classes)
        learnt = learn(self, self._rows(block), block)
        self.examples += block.rows
        if block.names is not None:
            self.names.add(block.names)
            self._forget_names()
        return learnt

    def learn_one(self, slots: np.ndarray, values: np.ndarray, label: Any, importance: np.float32) -> None:
        """Learn one example given as slots (uint32, the constant's included) and values (float32) known to be sound."""
        self.examples += 1
        tasks.learn_one(self, slots, values, label, importance)
        if self.examples % NAMES_EVERY == 0:
            self._forget_names()

    def margins(self, block: Block) -> np.ndarray:
        """Margins (n,) or (n, classes) of a block; nothing is learnt, features never seen count for nothing."""
        rows = self._rows(block)
        if self.multiclass:
            scores = np.empty((block.rows, self.room))
            self.module.predict_rows(self.states[0], rows, self.settings, scores)
            return scores if self.columns > 1 else tasks.difference(scores)
        margins = np.empty((self.columns, block.rows))
        for row, state in zip(margins, self.states, strict=False):
            self.module.predict_rows(state, rows, self.settings, row)
        return margins[0] if self.columns == 1 else margins.T

    def judge(self, block: Block) -> Learnt:
        """Predict labelled examples without learning them; those of classes not known yet are left out."""
        return tasks.judge(self, block)

    def margins_one(self, slots: np.ndarray, values: np.ndarray) -> list[float]:
        """The margins of one example, one a column."""
        return tasks.margins_one(self, slots, values)

    def make_room(self, largest: int) -> None:
        """Have room for feature id `largest` and all below it."""
        if largest + 2 <= self.dimension:
            return
        dimension, capacity = self.dimension, self.capacity
        self.dimension = largest + 2
        if self.budgeted or self.capacity == capacity:
            return
        shape = (self.capacity, self.room) if self.multiclass else (self.capacity,)
        try:
            needed = bytes_of(self.module.layout(*shape, self.settings)) * len(self.states)
            if needed > memory():
                raise OuzelError(
                    f"feature id {largest} needs {needed / 2**30:.0f} GiB of weights, more than this machine has; "
                    "renumber the ids, or use a learner with a byte budget (awm), which takes any id"
                )
            self.compiled.clear()  # it holds the states that are replaced
            self.states = [self.module.grow(state, *shape, self.settings) for state in self.states]
        except OuzelError as error:
            self.dimension = dimension
            raise RoomError(str(error)) from None

    def weights(self) -> np.ndarray:
        """Weights (columns, dimension), slot 0 first; not for learners of a byte budget, which know only their top."""
        if self.multiclass:
            table = self.module.weights(self.states[0], self.settings)[: self.dimension].T
            return table if self.columns > 1 else table[1:2] - table[0:1]
        states = self.states[: self.columns]
        return np.stack([self.module.weights(state, self.settings)[: self.dimension] for state in states])

    def top(self, n: int) -> list[list[tuple[int, float]]]:
        """The n heaviest (feature id, weight) of each column, heaviest first; id -1 is the constant feature."""
        if self.budgeted and self.multiclass:
            found = self.module.top(self.states[0], n, self.settings, len(self.classes))
        elif self.budgeted:
            found = [self.module.top(state, n, self.settings) for state in self.states[: self.columns]]
        else:
            found = [heaviest_slots(row, n) for row in self.weights()]
        return [
            [(int(slot) - 1, float(weight)) for slot, weight in zip(slots, weights, strict=True)]
            for slots, weights in found
        ]

    def _columns(self, classes: int) -> int:
        return 1 if self.task != "classification" or classes <= 2 else classes

    def make_states(self, classes: int) -> None:
        """Bring the states up to a number of classes."""
        if self.multiclass:
            if self.room < self._room(classes):
                self.room = self._room(classes)
                make = self.module.grow if self.states else self.module.init
                self.states = [make(*self.states, self.capacity, self.room, self.settings)]
            return
        columns = self._columns(classes)
        if columns == 1:
            self.states = self.states or [self.module.init(self.capacity, self.settings)]
            return
        needed = bytes_of(self.module.layout(self.capacity, self.settings)) * columns
        if needed > memory():
            raise OuzelError(
                f"{columns} classes need {needed / 2**30:.0f} GiB of weights, more than this machine has; is this the "
                "label? Numbers to predict want a loss of numbers, such as",
                loss="squared",
            )
        if len(self.states) == 1:
            self.states = [self.module.mirror(self.states[0]), self.states[0]]
        while len(self.states) < self._states(classes):
            self.states.append(self._spare_state())

    def _states(self, classes: int) -> int:
        """States of a binary learner: one, or one a class and one more for the classes not seen yet."""
        columns = self._columns(classes)
        return columns if columns == 1 else columns + (not self.classes.closed)

    def _room(self, classes: int) -> int:
        """Classes that a multiclass learner's state has columns for."""
        return max(classes, 2)

    def _spare_state(self) -> Any:
        """A state for one more class, or for every class not seen yet."""
        if len(self.states) > 2:
            return type(self.states[-1])(*(array.copy() for array in self.states[-1]))
        if self.states and hasattr(self.module, "unseen"):
            return self.module.unseen(self.states[0])
        return self.module.init(self.capacity, self.settings)

    def _rows(self, block: Block) -> Rows:
        limit = SLOT_LIMIT if self.budgeted else self.capacity
        return to_rows(block.offsets, block.indices, block.values, self.intercept, np.uint64(limit))

    def _labelled(self, block: Block) -> Block:
        """The block without the examples that have no label."""
        missing = np.isnan(block.labels)
        if not missing.any():
            return block
        self.unlabelled += int(missing.sum())
        return block.select(np.flatnonzero(~missing))

    def _make_room(self, block: Block) -> None:
        if block.nonzeros:
            self.make_room(int(largest_id(block.indices, block.offsets[0], block.offsets[-1])))

    def _forget_names(self) -> None:
        """A budgeted learner keeps the names of its members only."""
        if self.budgeted:
            self.names.restrict(np.concatenate([self.module.members(state) for state in self.states]) - 1)
