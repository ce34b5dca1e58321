"""Learning an example where the weights of some features alone are kept.

What differs between learners is given: `weight_of(state, entry)` reads a weight, `fold(state)` multiplies the scale
into all, and the rest says what becomes of a feature. All are compiled into the functions made here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ouzel.kernels.jit import kernel_of
from ouzel.learners.budget.decaying_weights import product, pushing
from ouzel.sketches.top_k import find, keys

Function = Callable[..., Any]


def predicting(weight_of: Function) -> Function:
    """`predict_row`: features that are not kept count for nothing."""

    @kernel_of(weight_of, inline=True)
    def predict_row(state, indices, values, settings):
        """The margin of one example."""
        margin = 0.0
        for k in range(len(indices)):
            entry = find(state.heap, indices[k])
            if entry >= 0:
                margin += product(values[k], weight_of(state, entry))
        return margin * state.scale[0]

    return predict_row


def estimating(weight_of: Function) -> Function:
    """`estimates` of a learner; `weight_of(state, slot)` is what it makes of a slot's weight, over the scale."""

    @kernel_of(weight_of)
    def write(state, slots, out):
        """Write the weights (n,) of slots (n,)."""
        for k in range(len(slots)):
            out[k] = state.scale[0] * weight_of(state, slots[k])

    def estimates(state: Any, slots: np.ndarray, settings: Any) -> np.ndarray:
        """Weights of the given slots (uint32), as the learner's sketch and what it keeps beside it have them."""
        out = np.empty(len(slots))
        write(state, slots, out)
        return out

    return estimates


def heaviest_by(estimates: Function) -> Function:
    """`top` of a learner whose heap says which slots are heavy, and its sketch how heavy they are now."""

    def top(state: Any, n: int, settings: Any) -> tuple[np.ndarray, np.ndarray]:
        """Slots and weights of the n heaviest in the heap, by the sketch as it is now."""
        slots = keys(state.heap)
        weights = estimates(state, slots, settings)
        order = np.lexsort((slots, -np.abs(weights)))[:n]
        return slots[order].astype(np.int64), weights[order]

    return top


def learning_each(weight_of: Function, fold: Function, learn_feature: Function) -> Function:
    """`learn_row`, feature by feature: `learn_feature(state, slot, change)`."""
    push = pushing(fold)

    @kernel_of(learn_feature, inline=True)
    def learn_row(state, indices, values, target, importance, settings):
        """Learn one example in place; return the margin predicted before learning."""
        margin = 0.0
        largest = np.float32(0.0)
        for k in range(len(indices)):
            largest = max(largest, abs(values[k]))
            entry = find(state.heap, indices[k])
            if entry >= 0:
                margin += product(values[k], weight_of(state, entry))
        margin *= state.scale[0]
        learnt, factor, _, _ = push(state, settings, settings.loss, margin, target, importance, largest)
        if learnt:
            for k in range(len(indices)):
                learn_feature(state, indices[k], -factor * values[k])
        return margin

    return learn_row


def learning_kept_first(weight_of: Function, fold: Function, move: Function, learn_feature: Function) -> Function:
    """Learning that moves the weights of all kept features, `move(state, entry, change)`, before others may enter.

    The function made takes room to work in last: (n or more,) int64.
    """
    push = pushing(fold)

    @kernel_of(learn_feature, inline=True)
    def learn(state, indices, values, target, importance, settings, entries):
        """Learn one example; `entries` takes where its features are kept, -1 for those that are not."""
        margin = 0.0
        largest = np.float32(0.0)
        for k in range(len(indices)):
            entries[k] = find(state.heap, indices[k])
            largest = max(largest, abs(values[k]))
            if entries[k] >= 0:
                margin += product(values[k], weight_of(state, entries[k]))
        margin *= state.scale[0]
        learnt, factor, _, _ = push(state, settings, settings.loss, margin, target, importance, largest)
        if not learnt:
            return margin
        for k in range(len(indices)):
            change = -factor * values[k]
            if entries[k] >= 0 and change != 0.0:
                move(state, entries[k], change)
        for k in range(len(indices)):
            if entries[k] < 0:
                learn_feature(state, indices[k], -factor * values[k])
        return margin

    return learn
