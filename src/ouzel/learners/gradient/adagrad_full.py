"""AdaGrad with a full metric.

Duchi, Hazan & Singer (2011), "Adaptive Subgradient Methods", JMLR 12, Figure 2. On every example, G being the sum of
the outer products g g' of the gradients,
    H = damping I + G^(1/2)
    w = argmin <u, x> + strength r(x) + <x, H x> / 2
where u = rate g - H w and strength = rate (mirror descent, eq. 4), or u = rate sum of g and strength = rate t (dual
averaging, eq. 3). Without penalty, with a ridge, an l2 norm or an l2 ball this is solved along the eigenvectors of G,
taken afresh after every gradient; with l1, elastic net or a box by coordinate descent from the last weights.

There is no lazy form. An example costs the cube of the number of features seen so far, and memory is its square: for a
few hundred features; ids beyond the limit are refused.
"""

from __future__ import annotations

from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from ouzel.errors import OuzelError
from ouzel.kernels.jit import force_inline, kernel
from ouzel.layout import MOST_COUNT, check_places, float64, int64, made_from
from ouzel.learners.gains.parts import Gains, Peak
from ouzel.learners.gradient import adagrad_eager, matrix_gains
from ouzel.learners.gradient.descent import descending
from ouzel.learners.gradient.domain_steps import from_domain
from ouzel.learners.gradient.matrix_metric import decompose, require_solver, solve, times_metric
from ouzel.learners.limits import LARGEST_SQUARE, bound_all
from ouzel.learners.loops import learning_margins, predicting_margins
from ouzel.learners.states import negating, with_places_moved
from ouzel.terms.penalties.l1_and_l2 import applies

MOST_SLOTS = 2049  # features and the constant


class State(NamedTuple):
    place: np.ndarray  # (d,) int64  1 + where a slot lies in what follows, 0 while it has had no gradient
    weight: np.ndarray  # (d,) float64  w of the slots so placed
    gradient_sum: np.ndarray  # (d,) float64
    outer: np.ndarray  # (d, d) float64  G
    counts: np.ndarray  # (2,) int64  t, slots placed


class Settings(adagrad_eager.Settings):
    """As of the diagonal."""

    def completed(self) -> Any:
        """With the step size and damping that the domain asks for, if they are to be."""
        return from_domain(self, full=True) if self.from_domain else self


def layout(dimension: int, settings: Settings) -> State:
    """What a state with room for `dimension` slots is made of."""
    require_solver(settings.penalty, "adagrad-full")
    if dimension > MOST_SLOTS:
        raise OuzelError(
            f"adagrad-full keeps a matrix over all features and takes up to {MOST_SLOTS - 1:,} of them; "
            "there are more; use adagrad-block or adagrad"
        )
    return State(
        place=int64(dimension, most=dimension),
        weight=float64(dimension),
        gradient_sum=float64(dimension),
        outer=float64(dimension, dimension),
        counts=int64(2, most=(MOST_COUNT, dimension)),
    )


init, grow = made_from(layout)


def check(state: State, settings: Settings) -> None:
    """Refuse slots that do not lie one to a place."""
    check_places(state.place, int(state.counts[1]), "places")


@force_inline
def predict_row(state, indices, values, settings):
    """The margin of one example."""
    margin = 0.0
    for k in range(len(indices)):
        place = state.place[indices[k]]
        if place > 0:
            margin += values[k] * state.weight[place - 1]
    return margin


@force_inline
def _place(state, slot):
    """Where a slot lies, a new place if it has none."""
    if state.place[slot] == 0:
        state.counts[1] += 1
        state.place[slot] = state.counts[1]
    return state.place[slot] - 1


@kernel
def step(state, indices, values, slope, settings):
    """Learn one example, whose gradient is `slope` times its features."""
    state.counts[0] += 1
    if not isfinite(slope) or (slope == 0.0 and not applies(settings.penalty)):
        return
    gradient = np.zeros(len(state.weight))
    size = 0.0
    for k in range(len(indices)):
        if slope != 0.0 and values[k] != 0.0:
            gradient[_place(state, indices[k])] = slope * values[k]
            size += (slope * values[k]) ** 2
    count = state.counts[1]
    if count == 0 or not size <= LARGEST_SQUARE:
        return
    gradient = gradient[:count]
    weight = state.weight[:count]
    outer = state.outer[:count, :count]
    for i in range(count):
        state.gradient_sum[i] += gradient[i]
        if gradient[i] != 0.0:
            for j in range(count):
                outer[i, j] += gradient[i] * gradient[j]
    vectors, eigenvalues = decompose(np.ascontiguousarray(outer), settings.damping)
    rate = settings.learning_rate
    if settings.dual_averaging:
        solve(settings.penalty, vectors, eigenvalues, rate * state.gradient_sum[:count], rate * state.counts[0], weight)
    else:
        linear = rate * gradient - times_metric(vectors, eigenvalues, weight)
        solve(settings.penalty, vectors, eigenvalues, linear, rate, weight)
    bound_all(weight)


learn_row = descending(predict_row, step)
learn_rows = learning_margins(learn_row)
predict_rows = predicting_margins(predict_row)


def weights(state: State, settings: Settings) -> np.ndarray:
    """The weight of every slot."""
    return np.where(state.place > 0, state.weight[state.place - 1], 0.0)


swap_classes = negating("weight", "gradient_sum")
renumber = with_places_moved


def fade(state: State, kept: float, settings: Settings) -> None:
    """Decay the sum of outer products, and by its root what dual averaging sums, so that weights stay."""
    state.outer[...] *= kept
    state.gradient_sum[...] *= kept**0.5
    state.counts[0] = int(state.counts[0] * kept**0.5)


def _block(state: State) -> matrix_gains.Blocks:
    """All slots as one block, in their own order."""
    slots = np.flatnonzero(state.place)
    place = state.place[slots] - 1
    size = len(state.place)
    found = matrix_gains.Blocks(np.zeros((1, size)), np.zeros((1, size)), np.zeros((1, size, size)), state.counts[0])
    found.weight[0, slots], found.gradient_sum[0, slots] = state.weight[place], state.gradient_sum[place]
    found.outer[0][np.ix_(slots, slots)] = state.outer[np.ix_(place, place)]
    return found


def gains(base: State, state: State, settings: Settings) -> Gains:
    """What a worker has learnt beyond its base."""
    placed = Peak((state.place > 0).astype(np.uint8))
    return {"placed": placed, **matrix_gains.gains_of(_block(base), _block(state), settings)}


def onto(base: State, gains: Gains, settings: Settings) -> State:
    """The state of a base and of what workers have learnt beyond it; see `matrix_gains`."""
    blocks = matrix_gains.onto(_block(base), gains, settings)
    merged = init(len(base.place), settings)
    slots = np.flatnonzero((base.place > 0) | (gains["placed"].values > 0))
    merged.place[slots], place = np.arange(1, len(slots) + 1), np.arange(len(slots))
    merged.counts[:] = round(blocks.seen), len(slots)
    merged.weight[place], merged.gradient_sum[place] = blocks.weight[0, slots], blocks.gradient_sum[0, slots]
    merged.outer[np.ix_(place, place)] = blocks.outer[0][np.ix_(slots, slots)]
    return merged
