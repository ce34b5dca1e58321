"""Classes to tell apart, by one binary state, by one a class, or by one state that holds every class.

One binary state serves two classes. From the third on, a binary learner keeps one a class (one against the rest), each
of them fed every example, and one more that stands for every class not seen yet: what a new class starts from.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np

from ouzel.errors import OuzelError
from ouzel.layout import bytes_of, copied
from ouzel.learners.protocol import State
from ouzel.learners.rows import Rows
from ouzel.model import answers
from ouzel.model.answers import Answers, is_probabilistic
from ouzel.model.label_encoder import Classes
from ouzel.model.room import changing
from ouzel.model.tasks.task import Host, Outcome, Task, by_known_classes, call_one, losses_against
from ouzel.ranges import memory
from ouzel.streams.block import Block


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
        start = 0
        for count in range(max(known, 2), max(len(model.classes), 2) + 1):
            beyond = positions[start:] >= count
            stop = start + int(np.argmax(beyond)) if beyond.any() else block.rows
            self.make_states(model, count)
            for here, part in model.pieces(weighed, start, stop):
                found = self.learn_piece(model, part, positions[here], weighed.weights[here])
                scores[here, :count] = found
                if losses:
                    found_losses[here] = self.losses(found, positions[here])
            start = stop
        margins = scores if self.columns(len(model.classes)) > 1 else self.margin(scores)
        return Outcome(margins, positions, block.weights, found_losses)

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
        if (needed := bytes_of(model.module.layout(model.capacity, model.settings)) * columns) > memory():
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
            model.states = [*model.states, model.module.init(model.capacity, model.settings)]
        super().open(model)

    def _spare(self, model: Host) -> State:
        """A state for one more class, or for every class not seen yet."""
        if len(model.states) > 2:
            return copied(model.states[-1])
        return model.module.init(model.capacity, model.settings)

    def learn_piece(self, model: Host, rows: Rows, positions: np.ndarray, importances: np.ndarray) -> np.ndarray:
        """Every state learns every example, as one of its class or of the rest."""
        alone = len(model.states) == 1
        columns = np.empty((len(model.states), len(positions)))
        for place, state in enumerate(model.states):
            targets = _signs(positions, 1 if alone else place)
            model.module.learn_rows(state, rows, targets, importances, model.settings, columns[place])
        return self._of_columns(columns[: self.columns(self._classes(model))])

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


class SharedState(Classification):
    """A learner whose one state holds every class, two at least."""

    def __init__(self, loss: Any) -> None:
        super().__init__(loss)
        self.joint = is_probabilistic(loss)
        self.class_capacity = 0  # classes that the state has columns for

    def shape(self, model: Host, classes: int | None = None) -> tuple[int, ...]:
        """Slots and classes."""
        return model.capacity, self.class_capacity if classes is None else max(classes, 2)

    def make_states(self, model: Host, classes: int) -> None:
        """Have columns for so many classes."""
        if model.states and self.class_capacity >= max(classes, 2):
            return
        make = model.module.grow if model.states else model.module.init
        model.states = [make(*model.states, *self.shape(model, classes), model.settings)]
        self.take(classes)

    def take(self, classes: int) -> None:
        """Take note of how many classes the state has columns for."""
        self.class_capacity = max(classes, 2)

    def learn_piece(self, model: Host, rows: Rows, positions: np.ndarray, importances: np.ndarray) -> np.ndarray:
        """Learn the examples."""
        scores = np.empty((len(positions), self.class_capacity))
        model.module.learn_rows(model.states[0], rows, positions, importances, model.settings, scores)
        return scores

    def learn_at(
        self, model: Host, slots: np.ndarray, values: np.ndarray, place: int, importance: np.float32
    ) -> list[float]:
        """Learn the example."""
        scores = np.empty(self.class_capacity)
        call_one(model, "learn_row", 0, slots, values, place, importance, model.settings, scores)
        return self._margins_of(model, scores)

    def scores(self, model: Host, rows: Rows) -> np.ndarray:
        """The state's own scores."""
        scores = np.empty((len(rows.offsets) - 1, self.class_capacity))
        model.module.predict_rows(model.states[0], rows, model.settings, scores)
        return scores

    def margin(self, scores: np.ndarray) -> np.ndarray:
        """The difference (n,) of two classes' scores; not a number where both are infinite."""
        with np.errstate(invalid="ignore"):
            return scores[:, 1] - scores[:, 0]

    def margins(self, model: Host, rows: Rows) -> np.ndarray:
        """Scores (n, classes), or the margin (n,) of two classes."""
        scores = self.scores(model, rows)
        return scores if self.columns(len(model.classes)) > 1 else self.margin(scores)

    def margins_one(self, model: Host, slots: np.ndarray, values: np.ndarray) -> list[float]:
        """The scores of one example, or the margin of two classes."""
        scores = np.empty(self.class_capacity)
        call_one(model, "predict_row", 0, slots, values, model.settings, scores)
        return self._margins_of(model, scores)

    def _margins_of(self, model: Host, scores: np.ndarray) -> list[float]:
        """The margins of one example's scores (classes,)."""
        return scores.tolist() if len(model.classes) > 2 else [float(scores[1] - scores[0])]

    def weights(self, model: Host) -> np.ndarray:
        """Weights (classes, slots), or (1, slots) of two classes: those of the second less the first's."""
        table = model.module.weights(model.states[0], model.settings)[: model.slots].T
        return table if self.columns(len(model.classes)) > 1 else table[1:2] - table[0:1]

    def top(self, model: Host, n: int) -> list[tuple[np.ndarray, np.ndarray]]:
        """Slots and weights of the n heaviest of each class, or of the second of two."""
        if model.budgeted:
            return model.module.top(model.states[0], n, model.settings, len(model.classes))
        return [answers.heaviest_slots(row, n) for row in model.slot_weights()]

    def losses(self, scores: np.ndarray, positions: np.ndarray) -> np.ndarray:
        """The multinomial loss, or the loss of the true class's lead over the best other."""
        losses = np.empty(len(scores))
        if self.joint:
            answers.multinomial_losses(scores, positions, losses)
        else:
            answers.losses_of_leads(self.loss, scores, positions, losses)
        return losses
