"""What sketched online Newton does whatever its sketch: settings, scaling of features, weights.

Luo, Agarwal, Cesa-Bianchi & Langford (2016), Algorithm 1 and section 5.2. A state has among its arrays a `table` whose
rows are [u, D^-1/2, the sketch's columns], `coefficients` with w = table @ coefficients, `touched` and `counts` (see
`sketches.spectral.low_rank_table`).

With `diagonal` the learner is fed D^-1/2 x, D the sums of squared gradients (0.1 to begin with). The paper has those of
earlier gradients only; then a feature's first step is longer than all after it by |x| over the root of 0.1, which ruins
what is learnt from features in the hundreds. Here, as in the paper's own experiments by Vowpal Wabbit, only predictions
are made so, and what is sketched and the step have the current gradient in D as well.
"""

from __future__ import annotations

from math import inf
from typing import Annotated, Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline, kernel
from ouzel.kernels.simd import fetch_ahead
from ouzel.learners.rows import longest
from ouzel.learners.shared_settings import Bound, Curvature, Eta, Largest, Loss, Rate
from ouzel.ranges import DIRECTIONS, SWITCH, Range
from ouzel.sketches.spectral.low_rank_table import dot, gather
from ouzel.terms.bounds import Clip
from ouzel.terms.losses import Logistic

FIRST_SCALE = 0.1**-0.5  # D_1^-1/2


class Settings(NamedTuple):
    loss: Loss = Logistic()
    sketch_size: Annotated[float, DIRECTIONS, "m, directions that the sketch keeps"] = 10.0
    learning_rate: Annotated[Rate, "step size beyond the sketch, 1 / alpha"] = 1.0
    curvature: Curvature = 0.25
    eta: Eta = 0.0
    sketch_every: Annotated[float, Range(1.0, 1e9, whole=True), "take in every so many-th gradient"] = 1.0
    diagonal: Annotated[bool, SWITCH, "feed features as D^-1/2 x (section 5.2)"] = True
    bound: Bound = Clip()
    largest: Largest = inf


@force_inline
def first_scale(settings):
    """D^-1/2 of a slot first seen."""
    return FIRST_SCALE if settings.diagonal else 1.0


@force_inline
def fetch(table, slots, values, scales):
    """Write the D^-1/2 of each slot to `scales`, 0 if never seen; return how many of those have a value."""
    new = 0
    for k in range(len(slots)):
        scales[k] = table[slots[k], 1]
        new += scales[k] == 0.0 and values[k] != 0.0
    return new


@force_inline
def put(table, slots, scales):
    """Make `scales` the D^-1/2 of each slot."""
    for k in range(len(slots)):
        table[slots[k], 1] = scales[k]


@force_inline
def scale(values, scales, scaled):
    """scaled = D^-1/2 x."""
    for k in range(len(values)):
        scaled[k] = values[k] * scales[k]


@force_inline
def rescale(values, slope, scales, scaled):
    """Add g^2 to D; scaled = D^-1/2 x."""
    for k in range(len(values)):
        part = slope * values[k] * scales[k]
        scales[k] /= np.sqrt(1.0 + part * part)
        scaled[k] = values[k] * scales[k]


@force_inline
def look_ahead(state, indices):
    """Have the rows of the next example fetched while one is learnt."""
    fetch_ahead(state.table, indices)


@force_inline
def is_sketched(rounds, settings):
    """Whether the sketch takes in the gradient of this round."""
    return rounds % settings.sketch_every == 0.0


@force_inline
def sketch_scale(slope, rounds, settings):
    """The slope of what is sketched, sqrt(sigma + eta_t) g, larger where it stands for several rounds."""
    return slope * np.sqrt((settings.curvature + settings.eta / np.sqrt(rounds)) * settings.sketch_every)


@force_inline
def clip(margin, settings):
    """The margin, cut to [-C, C]."""
    return min(max(margin, -settings.largest), settings.largest)


@force_inline
def predict_in(state, indices, values, settings, scales, projected):
    """The margin of one example, with room for its scales and projection."""
    fetch(state.table, indices, values, scales)
    scale(values, scales, scales)
    gather(state.table, indices, scales, projected)
    return clip(dot(projected, state.coefficients), settings)


@kernel
def predict_row(state, indices, values, settings):
    """The margin of one example, clipped to the largest allowed."""
    return predict_in(state, indices, values, settings, np.empty(len(indices)), np.empty(len(state.coefficients)))


@kernel
def predict_rows(state, rows, settings, margins):
    """Write the margins of a block to `margins` (n,)."""
    scales, projected = np.empty(longest(rows.offsets)), np.empty(len(state.coefficients))
    for i in range(len(margins)):
        here = slice(rows.offsets[i], rows.offsets[i + 1])
        margins[i] = predict_in(state, rows.indices[here], rows.values[here], settings, scales, projected)


def weights(state: Any, settings: Settings) -> np.ndarray:
    """The weight of every slot, as it multiplies the example's own values."""
    return (state.table @ state.coefficients) * state.table[:, 1]


def condition_number(state: Any, settings: Settings) -> float:
    """Condition number of the metric A that the sketch stands for."""
    return float(1.0 + state.mass.max(initial=0.0) * settings.learning_rate)


def swap_classes(state: Any) -> Any:
    """The state that exchanged classes would have led to: u and b change their sign, what is sketched does not."""
    copy = type(state)(*(array.copy() for array in state))
    copy.table[:, 0] *= -1.0
    copy.coefficients[1:] *= -1.0
    return copy


def merge(states: list[Any], settings: Settings) -> Any:
    """Average the weights by examples seen, with the sketch of the worker that has seen most: sketches do not add.

    Its masses grow as if all examples were like those that it has seen. Slots that only others have seen keep their
    weights, and the scale they have there.
    """
    seen = np.array([state.counts[0] for state in states])
    first = type(states[0])(*(array.copy() for array in states[int(seen.argmax())]))
    for state in states:
        slots = state.touched[: int(state.counts[1])]
        slots = slots[first.table[slots, 1] == 0.0]
        first.table[slots, 1] = state.table[slots, 1]
        start = int(first.counts[1])
        first.touched[start : start + len(slots)] = slots
        first.counts[1] += len(slots)
    mean = np.average([weights(state, settings) for state in states], axis=0, weights=np.maximum(seen, 1e-9))
    scales = first.table[:, 1]
    first.mass[:] *= seen.sum() / max(seen.max(), 1.0)
    first.counts[0] = seen.sum()
    first.table[:, 0] += (
        np.divide(mean, scales, where=scales > 0.0, out=np.zeros_like(mean)) - first.table @ first.coefficients
    )
    return first
