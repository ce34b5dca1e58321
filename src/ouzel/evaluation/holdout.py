"""Examples that are predicted and never learnt."""

from __future__ import annotations

from typing import Any

import numpy as np

from ouzel.evaluation.metrics import Scores
from ouzel.evaluation.ranking import RARE
from ouzel.model.model import Model
from ouzel.streams.block import Block

LESS = 0.01  # of average precision
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


def warning_of_passes(run: Any) -> str | None:
    """A remark on passes after the first, which may rank examples of a rare class worse; None if there is none.

    Where examples are held out it says what became of their average precision, else how to find out.
    """
    share = run.scores.figures().get("rare_share")
    if run.passed < 2 or share is None or share >= RARE:
        return None
    name = run.model.classes.known[run.scores.rare_class]
    if not run.holdouts:
        return (
            f"class {name} is rare ({share:.2g} of the examples): further passes may rank its examples worse on other "
            "data; see whether they do with --holdout-every 10"
        )
    first, last = (run.holdouts[place].scores.figures().get("average_precision") for place in (0, run.passed - 1))
    if first is None or last is None or last > first - LESS:
        return None
    return (
        f"average precision of class {name} among the examples held out fell from {first:.3g} after one pass to "
        f"{last:.3g} after {run.passed}: one pass ranks a rare class better here"
    )
