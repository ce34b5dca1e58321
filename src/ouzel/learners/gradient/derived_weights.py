"""Weights that are worked out when they are needed: `weight_of(state, slot, settings)` is the weight of a slot."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ouzel.kernels.jit import kernel_of
from ouzel.learners.gradient.descent import descending
from ouzel.learners.loops import learning_margins, predicting_margins

Function = Callable[..., Any]


def descending_lazily(weight_of: Function, step: Function) -> tuple[Function, ...]:
    """`predict_row`, `predict_rows`, `learn_row`, `learn_rows` and `weights`; for `step` see `descending`."""
    predict_row = predicting(weight_of)
    learn_row = descending(predict_row, step)
    return predict_row, predicting_margins(predict_row), learn_row, learning_margins(learn_row), weighing(weight_of)


def predicting(weight_of: Function) -> Function:
    """`predict_row`"""

    @kernel_of(weight_of, inline=True)
    def predict_row(state, indices, values, settings):
        """The margin of one example."""
        margin = 0.0
        for k in range(len(indices)):
            margin += np.float64(values[k]) * weight_of(state, indices[k], settings)
        return margin

    return predict_row


def weighing(weight_of: Function) -> Function:
    """`weights`"""

    @kernel_of(weight_of)
    def fill(state, settings, out):
        for slot in range(len(out)):
            out[slot] = weight_of(state, slot, settings)

    def weights(state: Any, settings: Any) -> np.ndarray:
        """The weight of every slot, the penalty applied to all."""
        out = np.empty(len(state[0]))
        fill(state, settings, out)
        return out

    return weights
