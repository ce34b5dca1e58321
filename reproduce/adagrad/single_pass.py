"""The protocol of the AdaGrad paper's experiments: one pass, the best of several step sizes, the error on a test set.

Duchi, Hazan & Singer (2011), section 6: the step size is that of the run with the fewest mistakes made while training
(each prediction made before its example is learnt). Passive-aggressive learners and AROW have a regularisation
parameter in place of a step size; it is chosen in the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ouzel.model.model import Model
from ouzel.streams.block import Block

TUNED = {"pa1": "aggressiveness", "arow": "regularization"}
"""The setting that is tuned, where it is not the learning rate."""

RANGES = {"pa1": range(-14, 3), "arow": range(-6, 11)}  # of exponents of two, where they are not those of step sizes


class Outcome(NamedTuple):
    """What one pass led to."""

    model: Model
    setting: float  # the step size, or what stands for it
    mistakes: int  # while training
    test_error: float
    nonzero: float  # share of the features seen in training whose weight is not zero


def grid(learner: str) -> list[float]:
    """The step sizes tried."""
    return [2.0**k for k in RANGES.get(learner, range(-6, 11))]


def error_of(model: Model, test: Block) -> float:
    """The share of wrong predictions; a margin of 0 predicts -1, and one that is not a number is wrong."""
    margins = model.margins(test)
    right = np.where(test.labels > 0.0, margins > 0.0, margins <= 0.0)
    return float(1.0 - right.mean())


def one_pass(learner: str, setting: float, train: Block, test: Block, **settings: Any) -> Outcome:
    """Learn `train` once with the hinge loss unless another is given; judge on `test`. Labels are -1 and +1."""
    settings = {TUNED.get(learner, "learning_rate"): setting, **settings}
    if learner not in TUNED:
        settings.setdefault("loss", "hinge")
    model = Model(learner, classes=[-1, 1], standardize=False, **settings)
    mistakes = int((~(model.learn(train).margins * train.labels > 0.0)).sum())
    error = error_of(model, test)
    seen = np.unique(train.indices).astype(np.int64) + 1
    nonzero = float((model.weights()[0][seen] != 0.0).mean())
    return Outcome(model, setting, mistakes, error, nonzero)


def best_pass(
    learner: str, train: Block, test: Block, tried: Sequence[float] | None = None, **settings: Any
) -> Outcome:
    """The pass of the step size that made the fewest mistakes in training, the smallest of equals."""
    outcomes = [one_pass(learner, setting, train, test, **settings) for setting in tried or grid(learner)]
    return min(outcomes, key=lambda outcome: outcome.mistakes)


def hold_out(block: Block, share: float, seed: int) -> tuple[Block, Block]:
    """A random order of a block, cut in two: for training, and a share held out for testing."""
    order = np.random.default_rng(seed).permutation(block.rows)
    held = round(share * block.rows)
    return block.select(order[held:]), block.select(order[:held])
