"""Classes to tell apart, by one binary state, or by one a class.

One binary state serves two classes. From the third on, a binary learner keeps one a class (one against the rest), each
of them fed every example, and one more that stands for every class not seen yet: what a new class starts from.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ouzel.errors import OuzelError
from ouzel.layout import bytes_of, copied
from ouzel.learners.protocol import State
from ouzel.learners.rows import Rows
from ouzel.model import answers
from ouzel.model.answers import Answers, is_probabilistic
from ouzel.model.label_encoder import Classes
from ouzel.model.room import changing
from ouzel.model.scaling import between, joined
from ouzel.model.tasks.task import Host, Outcome, Task, by_known_classes, call_one, losses_against
from ouzel.ranges import memory
from ouzel.streams.block import Block

MANY_NEW = 8  # classes that are new in a block, from which on its pieces are learnt together


class Piece(NamedTuple):
    """Examples of a block among which no class is new but that of the first."""

    classes: int  # known with it, two at least
    start: int
    stop: int


class Classification(Task):
    """Labels are classes, known from the beginning or met on the way."""

    name = "classification"

    def learn(self, model: Host, block: Block, losses: bool = True) -> Outcome:
        """Learn in pieces, cut where a third or later class first appears and the states must follow."""
        known = len(model.classes)
        positions = model.classes.positions(block.labels, block.label_names)
        scores = np.full((block.rows, max(len(model.classes), 2)), -np.inf)
        found_losses = np.empty(block.rows if losses else 0)
        weighed = model.preparation.weigh(model.classes, positions, block, model.examples)
        pieces = _pieces(positions, max(known, 2), max(len(model.classes), 2))
        alone = self.pieces_alone(model, pieces)
        for classes, start, stop in pieces[:alone]:
            self.make_states(model, classes)
            for here, part in model.pieces(weighed, start, stop):
                scores[here, :classes] = self.learn_piece(model, part, positions[here], weighed.weights[here])
        if alone < len(pieces):
            self.learn_together(model, weighed, positions, pieces[alone:], scores)
        for classes, start, stop in pieces if losses else ():
            found_losses[start:stop] = self.losses(scores[start:stop, :classes], positions[start:stop])
        margins = scores if self.columns(len(model.classes)) > 1 else self.margin(scores)
        return Outcome(margins, positions, block.weights, found_losses)

    def pieces_alone(self, model: Host, pieces: list[Piece]) -> int:
        """How many of the pieces of a block are learnt one after the other, before the rest is learnt together."""
        return len(pieces)

    def learn_together(
        self, model: Host, block: Block, positions: np.ndarray, pieces: list[Piece], scores: np.ndarray
    ) -> None:
        """Learn pieces of a block, each of which begins with a new class, and write their `scores` before that."""
        raise NotImplementedError

    def parts(self, outcome: Outcome) -> Iterator[Outcome]:
        """Examples by the classes known when they were predicted."""
        return by_known_classes(outcome, self.margin)

    def check(self, model: Host, block: Block) -> None:
        """Refuse labels that are classes too many, or were not declared."""
        model.classes.check(block.labels, block.label_names)

    def evaluate(self, model: Host, block: Block) -> Outcome:
        """Predict a labelled block without learning it; examples of classes not known yet are left out."""
        positions = model.classes.known_positions(block.labels, block.label_names)
        block, targets = block.select(np.flatnonzero(positions >= 0)), positions[positions >= 0]
        scores = self.scores(model, model.rows(block))
        losses = self.losses(scores, targets)
        margins = scores if self.columns(len(model.classes)) > 1 else self.margin(scores)
        return Outcome(margins, targets, block.weights, losses)

    def learn_one(
        self, model: Host, slots: np.ndarray, values: np.ndarray, label: Any, importance: np.float32
    ) -> list[float]:
        """Learn one example; return its margins before that, one a column."""
        place = model.classes.find(label)
        return self.learn_at(model, slots, values, place if place >= 0 else self._new_class(model, label), importance)

    def _new_class(self, model: Host, label: Any) -> int:
        """The position of a new class; there are states for it before other threads can find it."""
        with changing(model):
            if model.classes.find(label) < 0:
                model.classes.check_new(label)
                self.make_states(model, len(model.classes) + 1)
            return model.classes.position(label)

    def answers(self, model: Host, margins: np.ndarray) -> Answers:
        """Labels, and probabilities where the loss gives them, of margins (n,) or (n, classes)."""
        if not len(classes := model.classes):
            raise OuzelError("the model has learnt no class yet; train it first")
        margins = answers.shown(classes, margins)
        shares = answers.probabilities(self.loss, margins, self.joint) if is_probabilistic(self.loss) else None
        if shares is not None and len(classes) == 1:
            shares = np.ones((len(margins), 1))  # of the only class so far
        return Answers(answers.labels_of(classes, margins), np.atleast_2d(margins.T).T, shares, classes.in_order())

    def answer_one(self, model: Host, margins: list[float]) -> Any:
        """The label that the margins of one example speak for."""
        return answers.label_of(model.classes, margins)

    def columns(self, classes: int) -> int:
        """Columns of margins and weights: 1 for up to two classes, else one a class."""
        return 1 if classes <= 2 else classes

    @abstractmethod
    def learn_piece(self, model: Host, rows: Rows, positions: np.ndarray, importances: np.ndarray) -> np.ndarray:
        """Learn examples among which no class is new to the states; return their `scores` before that."""

    @abstractmethod
    def learn_at(
        self, model: Host, slots: np.ndarray, values: np.ndarray, place: int, importance: np.float32
    ) -> list[float]:
        """Learn one example of the class at `place`, for which the states are ready; return its margins before."""

    @abstractmethod
    def scores(self, model: Host, rows: Rows) -> np.ndarray:
        """A score (n, classes) a class, or two of which the second less the first tells the margin."""

    @abstractmethod
    def margin(self, scores: np.ndarray) -> np.ndarray:
        """The margin (n,) of two classes' scores (n, 2)."""

    @abstractmethod
    def losses(self, scores: np.ndarray, positions: np.ndarray) -> np.ndarray:
        """The learner's own loss (n,) of each example."""


class OneAgainstRest(Classification):
    """A binary learner: one state for two classes, one a class from the third on, each with its own loss."""

    def count(self, classes: Classes) -> int:
        """One state, or one a class and one more for the classes not seen yet."""
        columns = self.columns(len(classes))
        return columns if columns == 1 else columns + (not classes.closed)

    def make_states(self, model: Host, classes: int) -> None:
        """Bring the states up to a number of classes."""
        columns = self.columns(classes)
        if columns == 1:
            super().make_states(model, classes)
            return
        if (
            needed := bytes_of(model.module.layout(model.capacity, model.preparation.sized(model.settings))) * columns
        ) > memory():
            raise OuzelError(
                f"{columns} classes need {needed / 2**30:.0f} GiB of weights, more than this machine has; is this the "
                "label? Numbers to predict want a loss of numbers, such as",
                loss="squared",
            )
        if len(model.states) == 1:
            model.states = [model.module.swap_classes(model.states[0]), model.states[0]]
        while len(model.states) < columns + (not model.classes.closed):
            model.states.append(self._spare(model))

    def open(self, model: Host) -> None:
        """Let classes appear that were not declared: they start from a state that has learnt nothing."""
        if model.classes.closed and len(model.states) > 1:
            model.states = [*model.states, model.module.init(model.capacity, model.preparation.sized(model.settings))]
        super().open(model)

    def _spare(self, model: Host) -> State:
        """A state for one more class, or for every class not seen yet."""
        if len(model.states) > 2:
            return copied(model.states[-1])
        return model.module.init(model.capacity, model.preparation.sized(model.settings))

    def learn_piece(self, model: Host, rows: Rows, positions: np.ndarray, importances: np.ndarray) -> np.ndarray:
        """Every state learns every example, as one of its class or of the rest."""
        alone = len(model.states) == 1
        columns = np.empty((len(model.states), len(positions)))
        for place, state in enumerate(model.states):
            targets = _signs(positions, 1 if alone else place)
            model.module.learn_rows(state, rows, targets, importances, model.settings, columns[place])
        return self._of_columns(columns[: self.columns(self._classes(model))])

    def pieces_alone(self, model: Host, pieces: list[Piece]) -> int:
        """Where many classes are new, pieces are learnt together, unless states forget between them."""
        if len(pieces) < MANY_NEW or model.classes.closed or model.preparation.every:
            return len(pieces)
        return sum(piece.classes <= 3 for piece in pieces)  # until there is a state for classes not seen yet

    def learn_together(
        self, model: Host, block: Block, positions: np.ndarray, pieces: list[Piece], scores: np.ndarray
    ) -> None:
        """The state of the classes not seen yet goes ahead; each other learns its rows of all the pieces at once.

        A state depends on its own rows alone, so that the bits are those of one piece after the other; with a thousand
        new classes a block takes two thousand calls, and not half a million.
        """
        first, stop, weights = pieces[0].start, pieces[-1].stop, block.weights
        begins, seen = [first] * self._classes(model), []
        for classes, start, end in pieces:
            self.make_states(model, classes)
            begins += [start] * (self._classes(model) - len(begins))
            for here, part in model.pieces(block, start, end):
                rest = np.full(here.stop - here.start, -1.0)
                out = np.empty(len(rest))
                model.module.learn_rows(model.states[-1], part, rest, weights[here], model.settings, out)
                seen.append(part)
        whole = joined(seen)
        for place, start in enumerate(begins):
            here, out, rows = slice(start, stop), np.empty(stop - start), between(whole, start - first)
            targets = _signs(positions[here], place)
            model.module.learn_rows(model.states[place], rows, targets, weights[here], model.settings, out)
            scores[here, place] = out

    def learn_at(
        self, model: Host, slots: np.ndarray, values: np.ndarray, place: int, importance: np.float32
    ) -> list[float]:
        """Every state learns the example."""
        if len(model.states) == 1:
            target = 1.0 if place == 1 else -1.0
            return [call_one(model, "learn_row", 0, slots, values, target, importance, model.settings)]
        margins = []
        for k in range(len(model.states)):
            target = 1.0 if place == k else -1.0
            margins.append(call_one(model, "learn_row", k, slots, values, target, importance, model.settings))
        return margins[: self.columns(len(model.classes))]

    def scores(self, model: Host, rows: Rows) -> np.ndarray:
        """The margins of classes, or of two classes the one margin with both signs."""
        return self._of_columns(np.atleast_2d(self.margins(model, rows).T))

    def margin(self, scores: np.ndarray) -> np.ndarray:
        """The margin (n,) itself."""
        return scores[:, 1]

    def losses(self, scores: np.ndarray, positions: np.ndarray) -> np.ndarray:
        """The loss of the one margin, or those of all classes summed."""
        if scores.shape[1] == 2:
            return losses_against(self.loss, scores[:, 1], _signs(positions, 1))
        losses = np.empty(len(scores))
        answers.one_vs_rest_losses(self.loss, np.ascontiguousarray(scores), positions, losses)
        return losses

    def _classes(self, model: Host) -> int:
        """Classes that the states stand for."""
        return 2 if len(model.states) == 1 else len(model.states) - (not model.classes.closed)

    def _of_columns(self, columns: np.ndarray) -> np.ndarray:
        return np.column_stack([-columns[0], columns[0]]) if len(columns) == 1 else columns.T


def _signs(positions: np.ndarray, place: int) -> np.ndarray:
    """1.0 for examples (n,) of the class at `place`, -1.0 for others."""
    return 2.0 * (positions == place) - 1.0


def _pieces(positions: np.ndarray, known: int, classes: int) -> list[Piece]:
    """The pieces of examples (n,) of classes at these positions, of which so many are `known` before, and after.

    >>> _pieces(np.array([0, 2, 1, 3]), 2, 4)
    [Piece(classes=2, start=0, stop=1), Piece(classes=3, start=1, stop=3), Piece(classes=4, start=3, stop=4)]
    """
    found, start = [], 0
    for count in range(known, classes + 1):
        beyond = positions[start:] >= count
        stop = start + int(np.argmax(beyond)) if beyond.any() else len(positions)
        found.append(Piece(count, start, stop))
        start = stop
    return found
