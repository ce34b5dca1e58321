"""The loop of WM-Sketch and AWM-Sketch over the features of an example, with and without their extension.

Tai, Sharan, Bailis & Valiant (2018), "Sketching Linear Classifiers over Data Streams", SIGMOD, Algorithms 1 and 2. What
differs is given as functions and compiled in: a learner that does nothing somewhere pays nothing for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ouzel.kernels.jit import force_inline, kernel_of
from ouzel.learners.budget.decaying_weights import product

Function = Callable[..., Any]


@force_inline
def cache_none(state, indices, values):
    """Cache no cells: each feature is looked up when it is read, and again when it moves."""
    return 0, 0.0, np.float32(0.0)


@force_inline
def move_none(state, indices, values, factor, cached, settings):
    """Leave the weights as they are: no cells are cached."""


@force_inline
def value_of_none(state, slot):
    """Return 0: the cells of all features are cached."""
    return np.float32(0.0)


@force_inline
def move_no_other(state, slot, value, slope, factor, settings):
    """Leave the weights as they are: all cells are cached."""


@force_inline
def finish_none(state, step, settings):
    """Do no more: weights have decayed by the scale."""


def learning(
    home: str,
    push: Function,
    value: Function = value_of_none,
    move: Function = move_no_other,
    finish: Function = finish_none,
    cache: Function = cache_none,
    move_cached: Function = move_none,
) -> Function:
    """`learn_shifted` of the learner of a module: an example learnt by the loss of its margin plus a shift.

    `cache(state, indices, values)` finds the cells of the first features of a row: how many, what they add to the
    margin over the scale, and the largest value; `move_cached(state, indices, values, factor, cached, settings)` moves
    them.
    `value(state, slot)` is the weight of another feature over the scale; `move(state, slot, value, slope, factor,
    settings)` moves it. `push` is made by `pushing`, and `finish(state, step, settings)` ends the round.
    """

    @kernel_of(home, inline=True)
    def learn_shifted(state, indices, values, target, importance, shift, loss, settings):
        """Learn one example by the loss of its margin plus a shift; return the margin from before, without it."""
        cached, margin, largest = cache(state, indices, values)
        for k in range(cached, len(indices)):
            margin += product(values[k], value(state, indices[k]))
            largest = max(largest, abs(values[k]))
        margin *= state.scale[0]
        learnt, factor, slope, step = push(state, settings, loss, margin + shift, target, importance, largest)
        if learnt:
            move_cached(state, indices, values, factor, cached, settings)
            for k in range(cached, len(indices)):
                move(state, indices[k], values[k], slope, factor, settings)
            finish(state, step, settings)
        return margin

    return learn_shifted


def learning_row(learn_shifted: Function) -> Function:
    """`learn_row` of such a loop."""

    @kernel_of(learn_shifted, inline=True)
    def learn_row(state, indices, values, target, importance, settings):
        """Learn one example in place; return the margin predicted before learning."""
        return learn_shifted(state, indices, values, target, importance, 0.0, settings.loss, settings)

    return learn_row


def predicting(value: Function) -> Function:
    """`predict_row` of a learner that caches no cells."""

    @kernel_of(value, inline=True)
    def predict_row(state, indices, values, settings):
        """The margin of one example."""
        margin = 0.0
        for k in range(len(indices)):
            margin += product(values[k], value(state, indices[k]))
        return margin * state.scale[0]

    return predict_row
