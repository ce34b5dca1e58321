"""What workers with a Gaussian over the weights have learnt beyond a base (see `learners.gains`).

The base's precision is divided out: what examples have added to precisions adds up. Means move by the mean of what
the workers have moved them, each by the growth of the precision of the slot. The product of the Gaussians, in which
precisions times means would add up as well, overshoots with many workers: the steps are not those of a quadratic loss.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ouzel.kernels.jit import dispatch
from ouzel.learners.gains.growth import grown, mean_growth, mean_move
from ouzel.learners.gains.narrowing import slot_by_slot
from ouzel.learners.gains.parts import Gains, Peak, dense, rows_of
from ouzel.learners.gaussian.states import SMALLEST_VARIANCE, Diagonal, Full


@dispatch
def gained(settings: Any, base: Any, state: Any) -> Gains:
    """What a worker has learnt beyond its base, where a rule has a way of its own or has not."""


@dispatch
def settled(settings: Any, base: Any, gains: Gains) -> Any:
    """The state of a base and of what workers have learnt beyond it."""


def gains(base: Any, state: Any, settings: Any) -> Gains:
    """What a worker has learnt beyond its base, in the way of the rule."""
    found: Gains = gained(settings, base, state)
    return found


def onto(base: Any, gains: Gains, settings: Any) -> Any:
    """The state of a base and of what workers have learnt beyond it, in the way of the rule."""
    return settled(settings, base, gains)


def _above(state: Any, prior: float) -> np.ndarray:
    """What the precision, (d, 1) or (d, d), has above the prior's."""
    if isinstance(state, Diagonal):
        found: np.ndarray = 1.0 / state.variance.astype(np.float64)[:, None] - prior
        return found
    met, above = slice(int(state.extent[0])), np.zeros(state.covariance.shape)
    precision = np.linalg.inv(state.covariance[met, met])
    above[met, met] = precision - prior * np.eye(len(precision))
    return above


@gained.register(object)
def _(settings: Any, base: Any, state: Any) -> Gains:
    found: Gains = WAYS[type(base)][0](base, state, settings)
    return found


@settled.register(object)
def _(settings: Any, base: Any, gains: Gains) -> Any:
    return WAYS[type(base)][1](base, gains, settings)


def _gains(base: Any, state: Any, settings: Any) -> Gains:
    prior = 2.0 / settings.prior
    added = _above(state, prior) - _above(base, prior)
    found: Gains = {name: getattr(state, name) - getattr(base, name) for name in ("seen", "updates")}
    growth = added if isinstance(state, Diagonal) else np.diagonal(added)[:, None]
    moved = state.table.astype(np.float64) - base.table
    floor = np.where(moved.any(axis=1), 1e-9 * prior, 0.0)[:, None]  # what has moved is heard
    extent = {"extent": Peak(state.extent)} if isinstance(state, Full) else {}
    means = grown(np.broadcast_to(np.maximum(growth, floor), moved.shape), moved, float(found["seen"][0]))
    precision = {} if isinstance(state, Diagonal) else {"precision": rows_of(added)}
    return {**found, **extent, **precision, "means": means}


def _onto(base: Any, gains: Gains, settings: Any) -> Any:
    prior = 2.0 / settings.prior
    above = _above(base, prior)
    means = dense(gains["means"], len(above))
    if isinstance(base, Diagonal):
        above = above + mean_growth(means)[:, :1]
    else:
        above = above + dense(gains["precision"], len(above))
    total = {name: getattr(base, name) + gains[name] for name in ("seen", "updates")}
    table = (base.table + mean_move(means)).astype(np.float32)
    if isinstance(base, Diagonal):
        variance = np.maximum(1.0 / (np.maximum(above[:, 0], 0.0) + prior), SMALLEST_VARIANCE)
        return base._replace(table=table, variance=variance.astype(np.float32), **total)
    extent = np.maximum(base.extent, gains["extent"].values)
    met, covariance = slice(int(extent[0])), base.covariance.copy()
    covariance[met, met] = np.linalg.inv(above[met, met] + prior * np.eye(int(extent[0])))
    product = np.zeros_like(base.product)
    return base._replace(table=table, covariance=covariance, product=product, extent=extent, **total)


WAYS = {Diagonal: slot_by_slot("table", "variance").both(_gains, _onto), Full: (_gains, _onto)}
