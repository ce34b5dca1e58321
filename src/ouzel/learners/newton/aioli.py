"""Improper logistic regression, AIOLI.

Jezequel, Gaillard & Rudi (2020), "Efficient Improper Learning for Online Logistic Regression", COLT, section 3. With z
the prediction of x, p = 1 / (1 + exp(-z)), and B R what |w'x| of the best w is within,
    A = alpha I + sum of p (1 - p) / (1 + B R) x x',    w = A^-1 sum of (p (1 - p) / (1 + B R) z - slope) x,
which minimises the sum of surrogate losses. What is predicted minimises these and the loss of x with either label,
    z = w'x - tanh(z / 2) x'A^-1 x:
closer to 0 in directions that are not known yet. No weights would predict so, which is what improper means, and it
spares regret the factor exp(B R) that all proper learners of logarithmic regret have. An example costs the square of
the number of slots seen so far, as in `online_newton`, whose state this is.

Under other losses, which the paper does not treat, their second derivative is that of A, and z = w'x: with the squared
loss and B R = 0 recursive least squares.
"""

from __future__ import annotations

from math import tanh
from typing import Annotated, Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import dispatch, force_inline, kernel
from ouzel.layout import made_from
from ouzel.learners.limits import bound_all, learnable
from ouzel.learners.loops import learning_margins, predicting_margins
from ouzel.learners.newton.online_newton import (
    State,
    check,
    condition_number,
    downdate,
    fade,
    free_margin,
    gains,
    layout_of,
    onto,
    placed,
    renumber,
    solve,
    swap_classes,
    weights,
)
from ouzel.learners.shared_settings import Loss, Rate
from ouzel.ranges import Range
from ouzel.terms.losses import Logistic, curvature, derivative

__all__ = [
    "State", "check", "condition_number", "fade", "gains", "onto", "renumber", "swap_classes", "weights",
]  # fmt: skip

MOST_STEPS = 50  # of Newton's method for z; it has six digits after some five


class Settings(NamedTuple):
    loss: Loss = Logistic()
    learning_rate: Annotated[Rate, "step size, 1 / alpha"] = 1.0
    largest: Annotated[float, Range(0.0, 1e6), "B R, what |w'x| of the best weights is within"] = 1.0


def layout(dimension: int, settings: Settings) -> State:
    """What a state with room for `dimension` slots is made of."""
    return layout_of(dimension, "aioli")


init, grow = made_from(layout)


@force_inline
def width(state, indices, values):
    """alpha x'A^-1 x; A of slots not seen is alpha I."""
    total = 0.0
    for k in range(len(indices)):
        value = np.float64(values[k])  # whose square is a number
        for j in range(len(indices)):
            first, second = state.place[indices[k]] - 1, state.place[indices[j]] - 1
            if first >= 0 and second >= 0:
                total += value * values[j] * state.inverse[first, second]
            elif indices[k] == indices[j]:
                total += value * values[j]
    return max(total, 0.0)


@dispatch
def shrunk(loss: Any, free: float, spread: float) -> float:
    """The z of z = free - tanh(z / 2) spread under the logistic loss, `free` under others."""


@shrunk.register(object)
def _(loss, free, spread):
    return free


@shrunk.register(Logistic)
def _(loss, free, spread):  # Newton's method comes from below
    size = abs(free)
    z = max(size / (1.0 + 0.5 * spread), size - spread)
    for _ in range(MOST_STEPS):
        bend = tanh(0.5 * z)
        step = (size - z - spread * bend) / (1.0 + 0.5 * spread * (1.0 - bend * bend))
        z += step
        if step <= 1e-15 * z:
            break
    return z if free >= 0.0 else -z


@force_inline
def predict_row(state, indices, values, settings):
    """The margin z of one example."""
    free = free_margin(state, indices, values)
    if free == 0.0:
        return 0.0
    return shrunk(settings.loss, free, settings.learning_rate * width(state, indices, values))


@kernel
def learn_row(state, indices, values, target, importance, settings):
    """Learn one example in place; return the margin predicted before learning."""
    free = free_margin(state, indices, values)
    margin = predict_row(state, indices, values, settings)
    if importance == 0.0:
        return margin
    count = placed(state, indices, values)
    state.counts[0] += 1
    slope = importance * derivative(settings.loss, margin, target)
    along, square, length = solve(state, indices, values, count)
    if not (learnable(slope, length, free) and square > 0.0):
        return margin
    bent = importance * curvature(settings.loss, margin, target) / (1.0 + settings.largest)
    shrink = 1.0 + settings.learning_rate * bent * square
    weight = state.weight[:count]
    weight += settings.learning_rate * (bent * (margin - free) - slope) / shrink * along
    bound_all(weight)
    downdate(state, along, settings.learning_rate * bent / shrink)
    return margin


learn_rows = learning_margins(learn_row)
predict_rows = predicting_margins(predict_row)
