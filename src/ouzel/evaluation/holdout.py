"""Examples that are predicted and never learnt."""

from __future__ import annotations

import numpy as np

from ouzel.evaluation.metrics import Scores
from ouzel.model.model import Model
from ouzel.streams.block import Block

STRETCH = 1000  # examples, at least, between two looks at what was held out


class Holdout:
    """Every n-th example of a pass is held out; each stretch of examples ends with predicting those held out in it.

    A stretch has a fixed number of examples, whatever the blocks, so that the figures do not depend on the blocks. An
    example of a class that is not known by then is left out.
    """

    def __init__(self, every: int, model: Model) -> None:
        self.every = every
        self.model = model
        self.stretch = every * -(-STRETCH // every)
        self.scores = Scores(model.task)
        self.waiting: list[Block] = []  # held out and not judged yet

    def divide(self, block: Block, row: int) -> Block:
        """The examples to learn of a block within one stretch that starts at `row` of the pass; the others wait."""
        is_held_out = (np.arange(row, row + block.rows) + 1) % self.every == 0
        if not is_held_out.any():
            return block
        self.waiting.append(block.select(np.flatnonzero(is_held_out)))
        return block.select(np.flatnonzero(~is_held_out))

    def evaluate_pending(self) -> None:
        """Predict what waits with the model as it is now: at the end of a stretch, and of a pass."""
        for block in self.waiting:
            self.scores.add(self.model.evaluate(block))
        self.waiting.clear()
