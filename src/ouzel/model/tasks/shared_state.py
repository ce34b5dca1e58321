"""Classes to tell apart by one state that holds every class."""

from __future__ import annotations

from typing import Any

import numpy as np

from ouzel.learners.rows import Rows
from ouzel.model import answers
from ouzel.model.answers import is_probabilistic
from ouzel.model.tasks.classification import Classification
from ouzel.model.tasks.task import Host, call_one


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
        model.states = [make(*model.states, *self.shape(model, classes), model.preparation.sized(model.settings))]
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
