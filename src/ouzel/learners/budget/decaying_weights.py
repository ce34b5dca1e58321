"""Weights under one decaying scale: what learners share that take plain gradient steps with a ridge penalty.

Their states have `scale` (2 or more,) float64, the scale and the number t of examples learnt, and keep weights over the
scale in single precision. An example of importance 0 is predicted and not learnt: nothing changes, t included.

Any finite value, importance and label may come. Products of values and weights are limited to what single precision
holds, so a margin is a number. An example that would move a weight by more than `LARGEST_CHANGE` / t only decays the
weights: they stay below LARGEST_CHANGE (1 + log t), and sums of them are numbers as well.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import Any

import numpy as np

from ouzel.kernels.jit import force_inline, kernel_of
from ouzel.terms.losses import derivative
from ouzel.terms.schedules import rate

SMALLEST_SCALE = 1e-4  # below it, the scale is multiplied into the weights
LARGEST_CHANGE = 1e30
LARGEST_PRODUCT = np.finfo(np.float32).max


@force_inline
def product(value, weight):
    """Their product, kept within single precision; as a double, so that sums of such are numbers."""
    return np.float64(min(max(value * weight, -LARGEST_PRODUCT), LARGEST_PRODUCT))


@force_inline
def next_step(state, settings):
    """The step size of this example; t goes on by one, and weights decay."""
    step = rate(settings.schedule, settings.learning_rate, settings.l2, state.scale[1])
    state.scale[1] += 1.0
    state.scale[0] *= max(1.0 - settings.l2 * step, 0.0)
    return step


@force_inline
def factor_of(state, push, largest):
    """What to multiply values, at most `largest`, by to move weights over the scale; 0 if one would move too far."""
    factor = np.float32(push / state.scale[0])
    return factor if abs(factor) * largest * state.scale[1] < LARGEST_CHANGE else np.float32(0.0)


@force_inline
def _begin(state):
    """Do nothing more."""


def pushing(fold: Callable[..., Any], begin: Callable[..., Any] = _begin) -> Callable[..., Any]:
    """`push`, what learning does between margin and weights.

    `fold(state)` multiplies the scale into the weights; `begin(state)` comes before the step of an example.
    """

    @kernel_of(fold, inline=True)
    def push(state, settings, loss, margin, target, importance, largest):
        """Whether to learn an example whose values are at most `largest`, and what to multiply them by.

        Also the slope of the loss, and the step size.
        """
        slope = importance * derivative(loss, margin, target)
        if importance == 0.0 or not isfinite(slope):
            return False, np.float32(0.0), slope, 0.0
        begin(state)
        step = next_step(state, settings)
        if state.scale[0] < SMALLEST_SCALE:
            fold(state)
        return True, factor_of(state, step * slope, largest), slope, step

    return push


def fade(state: Any, kept: float, settings: Any, adaptive: bool = False) -> None:
    """Let past examples count for a part of what they did: steps grow again, or else weights decay.

    Steps that fall by the root of t grow by the root of 1 / kept, and weights stay what they are. What the schedule's
    steps grow less, the weights lose: all of it where steps are equal, as they nearly are by default. `adaptive`: the
    steps of features fall by sums of squares instead.
    """
    before, after = (
        rate(settings.schedule, settings.learning_rate, settings.l2, seen)
        for seen in (state.scale[1], kept * state.scale[1])
    )
    state.scale[1] *= kept
    if not adaptive:
        state.scale[0] *= min(kept * (after / before) ** 2, 1.0)


def shares(states: list[Any]) -> np.ndarray:
    """The part (workers,) of all examples that each worker has learnt: what its weights count for in a merged model."""
    seen = np.array([state.scale[1] for state in states])
    return seen / max(seen.sum(), 1.0)
