"""Gains of AdaGrad with matrices, of one block of all features or of many small ones (see `learners.gains`).

Sums of outer products add up. The weights of a block are averaged by the examples of the workers that have met it. With
dual averaging, sums of gradients of workers that have begun from nothing add up as well, and the weights follow. Where
the base has learnt something, the sum of gradients is solved for: of the weights w and the mean u of the workers'
subgradients,
    G = -(H w / rate + t u),    u = -(G + H w / rate) / t of each.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ouzel.learners.gains.parts import Gains, dense, rows_of
from ouzel.learners.gradient.matrix_metric import decompose, solve, times_metric
from ouzel.learners.limits import bound_all


class Blocks(NamedTuple):
    weight: np.ndarray  # (blocks, b)
    gradient_sum: np.ndarray  # (blocks, b)
    outer: np.ndarray  # (blocks, b, b)
    seen: float  # t


def gains_of(base: Blocks, state: Blocks, settings: Any) -> Gains:
    """What a worker has learnt beyond its base."""
    examples = state.seen - base.seen
    touched = (state.outer != base.outer).any(axis=(1, 2)) | (state.weight != base.weight).any(axis=1)
    parts = [np.full((len(touched), 1), examples), examples * (state.weight - base.weight)]
    if settings.dual_averaging and base.seen > 0.0:
        parts.append(examples * (_subgradients(state, touched, settings) - _subgradients(base, touched, settings)))
    return {
        "moved": rows_of(np.hstack(parts) * touched[:, None]),
        "gradient_sum": rows_of(state.gradient_sum - base.gradient_sum),
        "outer": rows_of(state.outer - base.outer),
        "examples": np.array([examples]),
    }


def onto(base: Blocks, gains: Gains, settings: Any) -> Blocks:
    """The blocks of a base and of what workers have learnt beyond it."""
    count, width = base.weight.shape
    moved = dense(gains["moved"], count)
    touched = moved[:, 0] > 0.0
    mean = moved[:, 1:] / np.where(touched, moved[:, 0], 1.0)[:, None]
    merged = Blocks(
        base.weight + mean[:, :width],
        base.gradient_sum + dense(gains["gradient_sum"], count),
        base.outer + dense(gains["outer"], count),
        base.seen + float(gains["examples"][0]),
    )
    if settings.dual_averaging and base.seen == 0.0:
        for block in np.flatnonzero(touched):
            linear = settings.learning_rate * merged.gradient_sum[block]
            basis = decompose(np.ascontiguousarray(merged.outer[block]), settings.damping)
            solve(settings.penalty, *basis, linear, settings.learning_rate * merged.seen, merged.weight[block])
            bound_all(merged.weight[block])
    elif settings.dual_averaging:
        bent = _subgradients(base, touched, settings) + mean[:, width:]
        for block in np.flatnonzero(touched):
            pulled = _metric_times(merged, block, settings) / settings.learning_rate
            merged.gradient_sum[block] = -(pulled + merged.seen * bent[block])
    return merged


def _metric_times(blocks: Blocks, block: Any, settings: Any) -> np.ndarray:
    """H w of a block; 0 where nothing has been seen of it."""
    outer = blocks.outer[block]
    if not outer.any():
        return np.zeros(len(outer))
    vectors, eigenvalues = decompose(np.ascontiguousarray(outer), settings.damping)
    found: np.ndarray = times_metric(vectors, eigenvalues, blocks.weight[block])
    return found


def _subgradients(blocks: Blocks, touched: np.ndarray, settings: Any) -> np.ndarray:
    """u of the touched blocks."""
    found = np.zeros(blocks.weight.shape)
    for block in np.flatnonzero(touched) if blocks.seen > 0.0 else []:
        pulled = _metric_times(blocks, block, settings) / settings.learning_rate
        found[block] = -(blocks.gradient_sum[block] + pulled) / blocks.seen
    return found
