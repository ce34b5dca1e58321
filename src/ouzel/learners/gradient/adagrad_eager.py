"""AdaGrad with a diagonal metric, every weight updated on every example.

Duchi, Hazan & Singer (2011), "Adaptive Subgradient Methods", JMLR 12, Figure 1 with the updates of sections 5.2 to
5.4: weights kept to a ball (`L1Ball`, `L2Ball`), or penalised by a norm of them all (`L2Norm`, `MaxNorm`). With
    h = damping + sqrt(sum of g^2),    w = argmin <u, x> + strength r(x) + <x, h x> / 2,
where u = rate g - h w and strength = rate (mirror descent, eq. 4), or u = rate sum of g and strength = rate t (dual
averaging, eq. 3).

Here one weight depends on all the others, so there is no lazy form: an example costs the number of slots, which is why
there is a limit to it. Penalties that are sums over single weights belong to `adagrad` and `adagrad_rda`.
"""

from __future__ import annotations

from math import isfinite, sqrt
from typing import Any, NamedTuple

import numpy as np

from ouzel.errors import OuzelError
from ouzel.kernels.jit import force_inline
from ouzel.layout import float64, made_from
from ouzel.learners.gains.duals import averaging_duals
from ouzel.learners.gains.growth import growing
from ouzel.learners.gains.sums import summed_at_first
from ouzel.learners.gradient.descent import descending
from ouzel.learners.gradient.domain_steps import from_domain
from ouzel.learners.limits import has_square
from ouzel.learners.loops import learning_margins, predicting_margins
from ouzel.learners.shared_settings import Damping, DualAveraging, FromDomain, Loss, Penalty, Rate
from ouzel.learners.states import negating
from ouzel.terms.losses import Logistic
from ouzel.terms.penalties.diagonal_prox import minimise, require_minimiser
from ouzel.terms.penalties.l1_and_l2 import NoPenalty

MOST_SLOTS = 2**20 + 1


class State(NamedTuple):
    weight: np.ndarray  # (d,) float64  w
    gradient_sum: np.ndarray  # (d,) float64  G
    squared_sum: np.ndarray  # (d,) float64  sums of g^2
    seen: np.ndarray  # (1,) float64  t
    work: np.ndarray  # (4, d) float64  u, h and scratch of an update


class Settings(NamedTuple):
    loss: Loss = Logistic()
    penalty: Penalty = NoPenalty()
    learning_rate: Rate = 0.25
    damping: Damping = 1e-6
    dual_averaging: DualAveraging = False
    from_domain: FromDomain = False

    def completed(self) -> Any:
        """With the step size and damping that the domain asks for, if they are to be."""
        return from_domain(self) if self.from_domain else self


def layout(dimension: int, settings: Settings) -> State:
    """What a state with room for `dimension` slots is made of."""
    require_minimiser(settings.penalty, "adagrad-eager")
    if dimension > MOST_SLOTS:
        raise OuzelError(
            f"adagrad-eager updates every weight on every example and takes feature ids below {MOST_SLOTS - 1}; "
            f"got {dimension - 2}; adagrad and adagrad-rda with l1 or Box have no such limit"
        )
    return State(
        weight=float64(dimension),
        gradient_sum=float64(dimension),
        squared_sum=float64(dimension, least=0.0),
        seen=float64(1, least=0.0),
        work=float64(4, dimension, scratch=True),
    )


init, grow = made_from(layout)


@force_inline
def predict_row(state, indices, values, settings):
    """The margin of one example."""
    margin = 0.0
    for k in range(len(indices)):
        margin += values[k] * state.weight[indices[k]]
    return margin


@force_inline
def step(state, indices, values, slope, settings):
    """Learn one example, whose gradient is `slope` times its features."""
    state.seen[0] += 1.0
    if not isfinite(slope):
        return
    linear, metric = state.work[0], state.work[1]
    for k in range(len(indices)):
        gradient = slope * values[k]
        if has_square(gradient):
            state.gradient_sum[indices[k]] += gradient
            state.squared_sum[indices[k]] += gradient * gradient
    rate = settings.learning_rate
    dual = settings.dual_averaging
    for j in range(len(metric)):
        metric[j] = settings.damping + sqrt(state.squared_sum[j]) if state.squared_sum[j] > 0.0 else 0.0
        linear[j] = rate * state.gradient_sum[j] if dual else -metric[j] * state.weight[j]
    if not dual:
        for k in range(len(indices)):
            gradient = slope * values[k]
            if has_square(gradient):
                linear[indices[k]] += rate * gradient
    strength = rate * state.seen[0] if dual else rate
    minimise(settings.penalty, linear, metric, strength, state.weight, state.work[2:])


learn_row = descending(predict_row, step)
learn_rows = learning_margins(learn_row)
predict_rows = predicting_margins(predict_row)


def weights(state: State, settings: Settings) -> np.ndarray:
    """The weight of every slot."""
    return state.weight


swap_classes = negating("weight", "gradient_sum")


def _metric(squares: np.ndarray, settings: Settings) -> np.ndarray:
    """h of sums of squares."""
    return np.where(squares > 0.0, settings.damping + np.sqrt(squares), 0.0)


def _rates(squares: np.ndarray, seen: float, settings: Settings) -> np.ndarray:
    roots = _metric(squares, settings)
    return np.divide(settings.learning_rate, roots, out=np.zeros(len(roots)), where=roots > 0.0)


def _rebuilt(base: State, weight: Any, total: Any, squares: Any, totals: Any, settings: Settings) -> State:
    return State(weight, total, squares, totals["seen"], np.zeros_like(base.work))


def _descended(base: State, weight: Any, squares: Any, gained: Any, totals: Any, settings: Settings) -> State:
    return _rebuilt(base, weight, totals["gradient_sum"], squares, totals, settings)


def _with_weights_of_sums(state: State, settings: Settings) -> State:
    """The weights that dual averaging has by the sums (eq. 3)."""
    linear, strength = settings.learning_rate * state.gradient_sum, settings.learning_rate * state.seen[0]
    solved = state._replace(weight=np.zeros_like(state.weight), work=np.zeros_like(state.work))
    minimise(settings.penalty, linear, _metric(state.squared_sum, settings), strength, solved.weight, solved.work[2:])
    return solved


_DUAL = summed_at_first(
    averaging_duals(weights, lambda state: state.gradient_sum, lambda state: state.squared_sum, _rates, _rebuilt),
    ("gradient_sum", "squared_sum"),
)
_DESCENT = growing(weights, lambda state: state.squared_sum, _descended, ("seen", "gradient_sum"))


def gains(base: State, state: State, settings: Settings) -> Any:
    """What a worker has learnt beyond its base."""
    return (_DUAL if settings.dual_averaging else _DESCENT)[0](base, state, settings)


def onto(base: State, gains: Any, settings: Settings) -> Any:
    """The state of a base and of what workers have learnt beyond it."""
    if settings.dual_averaging:
        return _with_weights_of_sums(_DUAL[1](base, gains, settings), settings)
    merged: State = _DESCENT[1](base, gains, settings)
    return merged
