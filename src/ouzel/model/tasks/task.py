"""What every task has in common, which is what a task with one binary state and one column of margins does.

A task is chosen once, when a model is made, and is asked from then on; it holds no data of the stream. What it needs
of its model stands in `Host`, so that it need not know the model's class.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

import numpy as np

from ouzel.errors import OuzelError
from ouzel.kernels.jit import specialise
from ouzel.learners.protocol import ChosenByState, Settings, State
from ouzel.learners.rows import Rows
from ouzel.model.answers import Answers, heaviest_slots, losses_of
from ouzel.model.label_encoder import Classes
from ouzel.model.preparation import Preparation
from ouzel.numerals import is_number
from ouzel.streams.block import LARGEST, Block
from ouzel.streams.labels import check_number

if TYPE_CHECKING:
    from ouzel.model.coverage import Covered

PREDICTING = ("predict_row", 0)  # of the compiled functions of single examples
Module = Any  # of a learner: its functions


class Outcome(NamedTuple):
    """What learning a block gives for evaluation, one entry an example that had a label."""

    margins: np.ndarray  # (n,) or (n, classes) float64, predicted before learning; -inf for a class not known yet
    targets: np.ndarray  # (n,) float64 numbers to predict, or int64 positions of classes
    importances: np.ndarray  # (n,) float32
    losses: np.ndarray  # (n,) float64, the learner's own of the predictions (one against the rest: summed), or none
    groups: Sequence[tuple[np.ndarray, np.ndarray]] = ()  # scores and grades of each group of a ranking, whole
    covered: Covered | None = None  # by intervals and sets, where the model keeps any
    promised: np.ndarray | None = (
        None  # (n, 3) float64, where recalibrated: probability as it was, as told; did it come
    )


class Host(Protocol):
    """What a task uses of the model whose task it is."""

    states: list[State]
    classes: Classes
    examples: int
    seed: int

    @property
    def module(self) -> Module:
        """The learner's functions."""

    @property
    def settings(self) -> Settings:
        """The learner's `Settings`."""

    @property
    def budgeted(self) -> bool:
        """Whether the state keeps to a byte budget."""

    @property
    def slots(self) -> int:
        """Slots that examples may have used so far."""

    @property
    def capacity(self) -> int:
        """Slots that a state has room for."""

    @property
    def compiled(self) -> dict[tuple[str, int], tuple[Any, Any]]:
        """For single examples: a state and a function compiled for it, by its name and the state's place."""

    @property
    def preparation(self) -> Preparation:
        """What is done with examples before they are learnt."""

    def rows(self, block: Block) -> Rows:
        """A block to predict as rows over the slots that the states have room for."""

    def raw_rows(self, block: Block) -> Rows:
        """A block as rows over slots, as its features are."""

    def pieces(self, block: Block, start: int = 0, stop: int | None = None) -> Iterator[tuple[slice, Rows]]:
        """Examples of a block to learn: where they are in it, and as rows."""

    def slot_weights(self) -> np.ndarray:
        """Weights (columns, slots) of features as they are."""


class Task(ABC):
    """One binary state, one column; a subclass says what labels are and how they are learnt."""

    name: ClassVar[str]  # in a model's file, on the command line and in reports
    numbers: ClassVar[bool] = False  # whether labels are numbers to predict, so that there is no right or wrong
    groups: ClassVar[bool] = (
        False  # whether examples are learnt by the groups they come in, so that figures are of pairs
    )
    joint: bool = False  # whether margins of several classes are scores learnt together

    def __init__(self, loss: Any) -> None:
        self.loss = loss

    @abstractmethod
    def learn(self, model: Host, block: Block, losses: bool = True) -> Outcome:
        """Learn a labelled block; the outcome has `losses` if they are asked for, and else an array of none."""

    def check(self, model: Host, block: Block) -> None:
        """Raise the OuzelError that learning these labels would raise, and change nothing."""
        numbers_of(block)

    def check_one(self, model: Host, label: Any) -> None:
        """The same for the label of one example."""
        if self.numbers:
            check_number(label)
        else:
            model.classes.check_one(label)

    @abstractmethod
    def evaluate(self, model: Host, block: Block) -> Outcome:
        """Predict a labelled block without learning it."""

    @abstractmethod
    def learn_one(
        self, model: Host, slots: np.ndarray, values: np.ndarray, label: Any, importance: np.float32
    ) -> list[float]:
        """Learn one example; return its margins before that, one a column."""

    @abstractmethod
    def answers(self, model: Host, margins: np.ndarray) -> Answers:
        """What margins, as `margins` gives them, say."""

    @abstractmethod
    def answer_one(self, model: Host, margins: list[float]) -> Any:
        """What the margins of one example, as `margins_one` gives them, say."""

    def parts(self, outcome: Outcome) -> Iterator[Outcome]:
        """An outcome as if blocks ended wherever its columns change, so that what is counted ends at a row."""
        yield outcome

    def functions(self, learner: Module) -> Module:
        """A learner's functions as this task uses them."""
        return learner

    def columns(self, classes: int) -> int:
        """Columns of margins and weights with so many classes known."""
        return 1

    def count(self, classes: Classes) -> int:
        """States with these classes known."""
        return 1

    def shape(self, model: Host, classes: int | None = None) -> tuple[int, ...]:
        """What a state is made for: the slots, for some learners the classes, by default as many as it has now."""
        return (model.capacity,)

    def make_states(self, model: Host, classes: int) -> None:
        """Bring the states up to a number of classes."""
        model.states = model.states or [model.module.init(model.capacity, model.preparation.sized(model.settings))]

    def take(self, classes: int) -> None:  # noqa: B027 most tasks have nothing to note
        """Take note that the model was given states for so many classes."""

    def open(self, model: Host) -> None:
        """Let classes appear that were not declared."""
        model.classes.closed = False

    def margins(self, model: Host, rows: Rows) -> np.ndarray:
        """Margins (n,), or (n, columns)."""
        found = np.empty((self.columns(len(model.classes)), len(rows.offsets) - 1))
        for row, state in zip(found, model.states, strict=False):
            model.module.predict_rows(state, rows, model.settings, row)
        return found[0] if len(found) == 1 else found.T

    def margins_one(self, model: Host, slots: np.ndarray, values: np.ndarray) -> list[float]:
        """The margins of one example, one a column."""
        if len(model.states) == 1:
            known, state = model.compiled.get(PREDICTING), model.states[0]
            if (
                known is not None and known[0] is state
            ):  # as `call_one` does: most of the time it would take is its call
                return [known[1](state, slots, values, model.settings)]
        columns = self.columns(len(model.classes))
        return [call_one(model, "predict_row", k, slots, values, model.settings) for k in range(columns)]

    def weights(self, model: Host) -> np.ndarray:
        """Weights (columns, slots), slot 0 first."""
        states = model.states[: self.columns(len(model.classes))]
        return np.stack([model.module.weights(state, model.settings)[: model.slots] for state in states])

    def top(self, model: Host, n: int) -> list[tuple[np.ndarray, np.ndarray]]:
        """Slots and weights of the n heaviest of each column."""
        if not model.budgeted:
            return [heaviest_slots(row, n) for row in model.slot_weights()]
        states = model.states[: self.columns(len(model.classes))]
        return [model.module.top(state, n, model.settings) for state in states]


def losses_against(loss: Any, margins: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """The loss (n,) of each margin (n,) against its target (n,)."""
    losses = np.empty(len(margins))
    losses_of(loss, margins, targets, losses)
    return losses


def numbers_of(block: Block) -> np.ndarray:
    """Labels (n,) that are numbers; whole ones of many digits may have been read as words."""
    if block.label_names is not None:
        for name in block.label_names:
            if isinstance(name, bool) or not is_number(str(name)):
                raise OuzelError(
                    f"the label {name!r} is not a number to predict; choose another column, or a loss of classes"
                )
        numbers = np.array([*map(float, block.label_names)])
        block = block._replace(labels=numbers[block.labels.astype(np.int64)])
    beyond = np.abs(block.labels) > LARGEST
    if beyond.any():
        check_number(block.labels[np.argmax(beyond)])
    return block.labels


def call_one(model: Host, name: str, place: int, *arguments: Any) -> Any:
    """What a function of the learner does with one state and one example, the types of which a learner fixes."""
    state = model.states[place]
    known = model.compiled.get((name, place))
    if known is not None and known[0] is state:
        function = known[1]
    else:
        module = model.module
        rule = module.rule_of(state) if isinstance(module, ChosenByState) else module
        function = specialise(getattr(rule, name), state, *arguments)
        model.compiled[name, place] = state, function
    return function(state, *arguments)


def by_known_classes(outcome: Outcome, margin: Callable[[np.ndarray], np.ndarray]) -> Iterator[Outcome]:
    """Split an outcome by the classes known when each example was predicted.

    A part has a column for each of its classes, or one if there are two: `margin` makes it of their scores (n, 2).

    >>> margins = np.array([[-1.0, 1.0, -np.inf], [2.0, -2.0, -np.inf], [1.0, 0.0, -1.0]])
    >>> outcome = Outcome(margins, np.array([1, 0, 2]), np.ones(3, np.float32), np.zeros(3))
    >>> [part.margins.tolist() for part in by_known_classes(outcome, lambda scores: scores[:, 1])]
    [[1.0, -2.0], [[1.0, 0.0, -1.0]]]
    """
    margins, targets = outcome.margins, outcome.targets
    if margins.ndim == 1 or not len(margins) or margins[:, -1].min() > -np.inf:
        yield outcome
        return
    unknown = np.cumprod(margins[:, ::-1] == -np.inf, axis=1).sum(axis=1)  # columns behind the last known one
    counts = np.maximum(margins.shape[1] - unknown, np.maximum(targets + 1, 2))
    ends = [*(np.flatnonzero(np.diff(counts)) + 1).tolist(), len(margins)]
    for start, stop in zip([0, *ends], ends, strict=False):
        here = slice(start, stop)
        scores = np.ascontiguousarray(margins[here, : counts[start]])
        columns = margin(scores) if scores.shape[1] == 2 else scores
        yield Outcome(columns, targets[here], outcome.importances[here], outcome.losses[here])
