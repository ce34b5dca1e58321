"""Numbers to predict: one state, and margins that are the numbers, or tell them through the loss's link."""

from __future__ import annotations

from typing import Any

import numpy as np

from ouzel.errors import OuzelError
from ouzel.learners.protocol import ScalesTargets
from ouzel.learners.target_scaling import scaling_targets
from ouzel.model.answers import Answers, estimates
from ouzel.model.tasks.task import Host, Outcome, Task, call_one, losses_against, numbers_of
from ouzel.streams.block import Block
from ouzel.terms.losses import OF_ANY_UNIT, Poisson, link


class Regression(Task):
    """Labels are numbers; with `scale_targets` the learner sees them centred, if it has an intercept, and scaled."""

    name = "regression"
    numbers = True

    def __init__(self, loss: Any, scale_targets: bool = True, intercept: bool = True) -> None:
        super().__init__(loss)
        self.scale_targets = scale_targets and isinstance(loss, OF_ANY_UNIT)
        self.intercept = intercept

    def functions(self, learner: Any) -> Any:
        """A learner's functions, around which the labels are scaled."""
        if not self.scale_targets or isinstance(learner, ScalesTargets):
            return learner
        return scaling_targets(learner, self.intercept)

    def check(self, model: Host, block: Block) -> None:
        """Refuse labels that are not numbers, and negative ones where the loss predicts counts."""
        self._targets(block)

    def check_one(self, model: Host, label: Any) -> None:
        """The same for the label of one example."""
        super().check_one(model, label)
        if isinstance(self.loss, Poisson):
            self._check_counts(np.array([float(label)]))

    def _targets(self, block: Block) -> np.ndarray:
        targets = numbers_of(block)
        self._check_counts(targets)
        return targets

    def _check_counts(self, targets: np.ndarray) -> None:
        if isinstance(self.loss, Poisson) and (targets < 0.0).any():
            found = float(targets[np.argmax(targets < 0.0)])
            raise OuzelError(f"the Poisson loss predicts counts of 0 or more; got the label {found:g}")

    def learn(self, model: Host, block: Block, losses: bool = True) -> Outcome:
        """Learn a labelled block."""
        targets, margins = self._targets(block), np.empty(block.rows)
        for here, rows in model.pieces(block):
            known, out = (targets[here], block.weights[here]), margins[here]
            model.module.learn_rows(model.states[0], rows, *known, model.settings, out)
        found = losses_against(self.loss, margins, targets) if losses else np.empty(0)
        return Outcome(margins, targets, block.weights, found)

    def evaluate(self, model: Host, block: Block) -> Outcome:
        """Predict a labelled block without learning it."""
        targets, margins = self._targets(block), self.margins(model, model.rows(block))
        return Outcome(margins, targets, block.weights, losses_against(self.loss, margins, targets))

    def learn_one(
        self, model: Host, slots: np.ndarray, values: np.ndarray, label: Any, importance: np.float32
    ) -> list[float]:
        """Learn one example; return its margin before that."""
        return [call_one(model, "learn_row", 0, slots, values, float(label), importance, model.settings)]

    def answers(self, model: Host, margins: np.ndarray) -> Answers:
        """What margins (n,) estimate."""
        return Answers(estimates(self.loss, margins), margins[:, None], None, [])

    def answer_one(self, model: Host, margins: list[float]) -> float:
        """What the margin of one example estimates."""
        return link(self.loss, margins[0])
