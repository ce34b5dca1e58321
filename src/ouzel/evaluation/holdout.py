"""Examples that are predicted and never learnt."""

from __future__ import annotations

from typing import Any

import numpy as np

from ouzel.classes import tidy
from ouzel.evaluation.metrics import Scores
from ouzel.learners.scoring import losses_of, multiclass_hinge_losses, one_vs_rest_losses
from ouzel.models import Learnt, Model
from ouzel.streams.block import Block

STRETCH = 1000  # examples, at least, between two looks at what was held out


class Holdout:
    """Every n-th example of a pass is held out; each stretch of examples ends with predicting those held out in it.

    A stretch has a fixed number of examples, whatever the blocks, so that the figures do not depend on the blocks.
    """

    def __init__(self, every: int, model: Model) -> None:
        self.every = every
        self.model = model
        self.stretch = every * -(-STRETCH // every)
        self.scores = Scores(model.task, model.loss)
        self._waiting: list[Block] = []

    def divide(self, block: Block, row: int) -> Block:
        """The examples to learn of a block within one stretch that starts at `row` of the pass; the others wait."""
        held = (np.arange(row, row + block.rows) + 1) % self.every == 0
        if not held.any():
            return block
        self._waiting.append(block.select(np.flatnonzero(held)))
        return block.select(np.flatnonzero(~held))

    def settle(self) -> None:
        """Predict what waits with the model as it is now: at the end of a stretch, and of a pass."""
        for block in self._waiting:
            self.scores.add(test(self.model, block))
        self._waiting.clear()


def test(model: Model, block: Block) -> Learnt:
    """What `Model.learn` would report of a block, without learning it; a class never learnt has margin 0."""
    labelled = ~np.isnan(block.labels)
    block = block if labelled.all() else block.select(np.flatnonzero(labelled))
    margins = model.margins(block)
    if model.task == "regression":
        losses = np.empty(block.rows)
        losses_of(model.loss, margins, block.labels, losses)
        return Learnt(margins, block.labels, block.weights, losses)
    targets = _positions(model.classes.known, block)
    known = max(2, len(model.classes))
    if targets.max(initial=0) >= known:  # only then does a two-class margin need columns
        columns = np.column_stack([-margins, margins]) if margins.ndim == 1 else margins
        margins = np.column_stack([columns, np.zeros(block.rows)])
    return Learnt(margins, targets, block.weights, _losses(model, margins, targets))


test.__test__ = False  # type: ignore[attr-defined]  # not one of pytest's


def _positions(known: list[Any], block: Block) -> np.ndarray:
    """Positions of the labels among the known classes; one beyond the last for any other."""
    place = {label: k for k, label in enumerate(known)}
    values, inverse = np.unique(block.labels, return_inverse=True)
    names = block.label_names
    labels = [tidy(value) if names is None else names[int(value)] for value in values]
    return np.array([place.get(label, max(2, len(known))) for label in labels], np.int64)[inverse]


def _losses(model: Model, margins: np.ndarray, targets: np.ndarray) -> np.ndarray:
    losses = np.empty(len(targets))
    if margins.ndim == 1 and not model.learner.multiclass:
        losses_of(model.loss, margins, np.where(targets == 1, 1.0, -1.0), losses)
        return losses
    columns = np.ascontiguousarray(margins if margins.ndim == 2 else np.column_stack([-margins / 2, margins / 2]))
    if model.learner.multiclass:
        multiclass_hinge_losses(columns, targets, losses)
    else:
        one_vs_rest_losses(model.loss, columns, targets, losses)
    return losses
