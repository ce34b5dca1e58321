"""Learning by the slope of the loss: what is alike in learners of one margin, whatever they do with a gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ouzel.kernels.jit import kernel_of
from ouzel.terms.losses import derivative

Function = Callable[..., Any]


def descending(predict_row: Function, step: Function) -> Function:
    """`learn_row`: `step(state, indices, values, slope, settings)` learns an example of gradient `slope` x."""

    @kernel_of(step, inline=True)
    def learn_row(state, indices, values, target, importance, settings):
        """Learn one example in place; return the margin predicted before learning."""
        margin = predict_row(state, indices, values, settings)
        if importance != 0.0:
            step(state, indices, values, importance * derivative(settings.loss, margin, target), settings)
        return margin

    return learn_row
