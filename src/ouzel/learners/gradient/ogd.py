"""Online gradient descent.

Zinkevich (2003), "Online Convex Programming and Generalized Infinitesimal Gradient Ascent", ICML. On example t
    w <- w - rate_t * l'(w.x, y) * x,    rate_t = learning_rate / t^power.
The first example steps by the full learning rate; power = 1/2 is the paper's step, power = 0 a constant one.

A step on the gradient descends if it is at most 2 / (beta x'x), where l'' is at most beta. So the default is
1 / (8 beta), with beta = 1/4 of the logistic loss and 1 of the squared one; other losses have that of the logistic.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline
from ouzel.layout import float32, float64, made_from
from ouzel.learners.gains.averaging import averaging
from ouzel.learners.limits import bounded, margin_of, reach_of
from ouzel.learners.loops import learning_margins, predicting_margins
from ouzel.learners.shared_settings import STEP, Loss, Power
from ouzel.learners.states import negating
from ouzel.terms.losses import Logistic, Squared, derivative


class State(NamedTuple):
    weight: np.ndarray  # (d,) float32  w
    seen: np.ndarray  # (1,) float64  t


class Settings(NamedTuple):
    loss: Loss = Logistic()
    learning_rate: Annotated[float, STEP, "step size; by default 0.5, for the squared loss 0.125"] = 0.5
    power: Power = 0.5

    @staticmethod
    def defaults_of(loss: Any) -> dict[str, float]:
        """Defaults that a loss asks for in place of others."""
        return {"learning_rate": 0.125} if isinstance(loss, Squared) else {}


def layout(dimension: int, settings: Settings) -> State:
    """What a state with room for `dimension` slots is made of."""
    return State(weight=float32(dimension), seen=float64(1, least=0.0))


init, grow = made_from(layout)


@force_inline
def predict_row(state, indices, values, settings):
    """The margin of one example."""
    return margin_of(state.weight, indices, values)


@force_inline
def learn_row(state, indices, values, target, importance, settings):
    """Learn one example in place; return the margin predicted before learning."""
    margin = predict_row(state, indices, values, settings)
    if importance == 0.0:
        return margin
    state.seen[0] += 1.0
    slope = importance * derivative(settings.loss, margin, target)
    step = slope * settings.learning_rate / state.seen[0] ** settings.power
    if step != 0.0:
        reach = reach_of(step)
        for k in range(len(indices)):
            if abs(values[k]) < reach:
                state.weight[indices[k]] = bounded(state.weight[indices[k]] - step * values[k])
    return margin


learn_rows = learning_margins(learn_row)
predict_rows = predicting_margins(predict_row)


def weights(state: State, settings: Settings) -> np.ndarray:
    """The weight of every slot."""
    return state.weight


swap_classes = negating("weight")


def fade(state: State, kept: float, settings: Settings) -> None:
    """Have examples until now count for a part of what they did in the size of steps."""
    state.seen[...] *= kept


def _rebuilt(base: State, weight: np.ndarray, totals: dict[str, np.ndarray], settings: Settings) -> State:
    return State(weight.astype(np.float32), totals["seen"])


gains, onto = averaging(weights, _rebuilt)
