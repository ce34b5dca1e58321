"""What workers of the default have learnt beyond a base (see `learners.gains`).

Weights are brought to the features' own units, in which workers whose moments differ can be added, and taken back to
the units of the merged moments. Each of the models of the first order moves by the mean of the workers' moves, by the
growth of its sums of squares; AROW's by that of its precisions. What forgets - the block of the second order, the
mixture and who is believed - is averaged by examples, for there what workers know does not add up.

A mean of intercepts must know where features have their mean: with z = a x - b, w = w_x / a, the weight of the constant
is
    w_0 = c + sum_j w_xj m_j,    m = b / a of the merged moments, which are known last.
So beside every mean of c the mean of the w_x of dense features by the same weights goes along.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ouzel.layout import copied
from ouzel.learners.auto import newton_block, standardisation
from ouzel.learners.auto.newton_block import BELOW, LEAST, MEMBERS, PRESENT, SEEN
from ouzel.learners.gains.growth import mean_growth
from ouzel.learners.gains.narrowing import PAIR
from ouzel.learners.gains.parts import Gains, Peak, Rows, dense, rows_of

RIDGE = 1e-12
Shift = float | np.ndarray  # one number, or that of each model (E, 1)


class Linear(NamedTuple):
    """The models of the first order of a state, whatever the task."""

    features: Any
    weights: np.ndarray  # (d, E, K) float64  in units of z
    squares: np.ndarray  # (d, E, K) float64  what weighs them: sums of squares, or precisions above the prior
    shift: Shift  # of the constant's weights: the mean of the labels, where it is not in them


def _raw(features: Any, weights: np.ndarray, shift: Shift) -> np.ndarray:
    """Weights (d, ...) for features as they are; slot 0 has c."""
    scale, moved = standardisation.units(features)
    scale[0], moved[0] = 1.0, 0.0
    raw = weights * scale.reshape(-1, *(1,) * (weights.ndim - 1))
    raw[0] += shift - np.tensordot(moved, weights, 1)
    found: np.ndarray = raw
    return found


def _in_units(features: Any, raw: np.ndarray, own: np.ndarray, shift: Shift) -> np.ndarray:
    """Weights (d, ...) in units of z: `raw` in the features' own, and `own` those that weigh the constant's means."""
    scale, moved = standardisation.units(features)
    scale[0], moved[0] = 1.0, 0.0
    shape = (-1, *(1,) * (raw.ndim - 1))
    inverse = np.divide(1.0, scale, out=np.zeros(len(scale)), where=scale > 0.0)
    weights = raw * inverse.reshape(shape)
    weights[0] = raw[0] - shift + np.tensordot(moved * inverse, own, 1)
    found: np.ndarray = weights
    return found


def gains_of_linear(base: Linear, state: Linear) -> Gains:
    """What the models of the first order of a worker have learnt beyond its base."""
    growth = np.maximum(state.squares - base.squares, 0.0)
    moved = _raw(state.features, state.weights, state.shift) - _raw(base.features, base.weights, base.shift)
    is_dense = (state.features.moments[:, standardisation.LARGEST] < 0.0) | (
        base.features.moments[:, standardisation.LARGEST] < 0.0
    )
    beside = growth[0] * moved * is_dense.reshape(-1, 1, 1)
    return {"linear": rows_of(np.stack([growth, growth * growth, growth * moved, beside], axis=1))}


def linear_onto(base: Linear, features: Any, gains: Gains, shift: Shift) -> tuple[np.ndarray, np.ndarray]:
    """Weights (d, E, K) in the units of merged moments, and how the squares that weigh them have grown."""
    gained = dense(gains["linear"], len(base.weights))
    growth = gained[:, 0]
    before = _raw(base.features, base.weights, base.shift)
    moved = np.divide(gained[:, 2], growth, out=np.zeros(growth.shape), where=growth > 0.0)
    beside = np.divide(gained[:, 3], growth[0], out=np.zeros(growth.shape), where=growth[0] > 0.0)
    is_dense = (features.moments[:, standardisation.LARGEST] < 0.0).reshape(-1, 1, 1)
    weights = _in_units(features, before + moved, (before + np.where(is_dense, beside, moved)), shift)
    rare = ~is_dense & ~(base.features.moments[:, standardisation.LARGEST] < 0.0).reshape(-1, 1, 1)
    rare[0] = False
    weights = np.where(rare & (growth == 0.0), base.weights, weights)  # of units that move alone nothing is learnt
    return weights, mean_growth(gained)


def gains_of_block(base: Any, state: Any, examples: float, shift: float) -> Gains:
    """What the block of the second order has of a worker, times its examples."""
    slots = np.flatnonzero(state.places)
    places = state.places[slots].astype(np.int64) - 1
    weights = np.zeros((len(state.places), state.block.weights.shape[1]))
    weights[slots] = state.block.weights[places]
    inside = shift if state.places[0] else 0.0
    covariance = state.block.covariance[np.ix_(places, places)].copy()
    known = np.diagonal(covariance) > 0.0
    precision = np.zeros(covariance.shape)
    if known.any():
        precision[np.ix_(known, known)] = inverse_of(covariance[np.ix_(known, known)])
    pairs = slots[:, None] * PAIR + slots
    totals = state.block.totals - base.block.totals
    totals[[MEMBERS, LEAST, BELOW]] = 0.0
    return {
        "weights": rows_of(examples * _raw(state.features, weights, inside)),
        "members": Rows(slots, examples * known.astype(float)),
        "precision": Rows(pairs.ravel(), examples * precision.ravel()),
        "totals": totals,
        "below": Peak(state.block.totals[BELOW : BELOW + 1]),
        "shares": state.block.shares - base.block.shares,
    }


def block_onto(
    base: Any, features: Any, gains: Gains, examples: float, variance: float, shift: float
) -> tuple[Any, np.ndarray]:
    """The block of base and workers, and the places of its members."""
    counts = features.moments[:, standardisation.COUNT]
    members = gains["members"].places
    members = np.sort(members[np.argsort(-counts[members], kind="stable")[: newton_block.MOST]])
    block, size = copied(base.block), len(members)
    raw = dense(gains["weights"], len(counts)) / examples
    weights = _in_units(features, raw, raw, shift if 0 in members else 0.0)
    block.weights[:], block.covariance[:], block.slots[:] = 0.0, 0.0, 0
    block.slots[:size], block.weights[:size] = members, weights[members]
    block.totals[:] += gains["totals"]
    block.totals[MEMBERS], block.totals[BELOW] = size, max(base.block.totals[BELOW], gains["below"].values[0])
    block.totals[LEAST] = counts[members].min() if size == newton_block.MOST else 0.0
    block.shares[:] += gains["shares"]
    if size and block.totals[PRESENT] > 0.0:
        prior = variance * block.totals[SEEN] / block.totals[PRESENT]
        block.covariance[:size, :size] = _covariance(gains, members, examples, prior)
    places = np.zeros_like(base.places)
    places[members] = np.arange(1, size + 1)
    return block, places


def _covariance(gains: Gains, members: np.ndarray, examples: float, prior: float) -> np.ndarray:
    """The inverse of the mean precision of members; workers that do not know one have the prior's of it."""
    places, values = gains["precision"]
    pairs = (members[:, None] * PAIR + members).ravel()
    at = np.minimum(np.searchsorted(places, pairs), len(places) - 1)
    precision = np.where(places[at] == pairs, values[at], 0.0).reshape(len(members), -1) / examples
    known = gains["members"].values[np.searchsorted(gains["members"].places, members)]
    precision[np.diag_indices(len(members))] += (1.0 - known / examples) / prior
    return inverse_of(precision)


def inverse_of(matrix: np.ndarray) -> np.ndarray:
    """The inverse of a matrix that is positive definite but for rounding, which a ridge makes up for."""
    found = np.linalg.inv(matrix + RIDGE * np.diagonal(matrix).max(initial=0.0) * np.eye(len(matrix)))
    symmetric: np.ndarray = 0.5 * (found + found.T)
    return symmetric


def gains_of_mixture(parts: Any, examples: float) -> dict[str, Any]:
    """The numbers of a small state, averaged by examples."""
    return {name: examples * part for name, part in parts._asdict().items()}


def mixture_onto(base: Any, gains: Gains, examples: float) -> Any:
    """The mean of such numbers."""
    return type(base)(**{name: gains[name] / examples for name in base._fields})
