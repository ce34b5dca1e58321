"""What learners of several classes share: scores, the best wrong class, and the step that parts the two.

Weights are a table (slots, classes), a slot's classes side by side. A learner looks at the pair of the true class y and
the wrong class r of highest score, and at their margin s_y - s_r. Moving w_y by +z and w_r by -z moves the margin's
weight vector w_y - w_r by 2z, so that with two classes each rule can be its binary rule for w = w_1 - w_0.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import Any

import numpy as np

from ouzel.kernels.jit import force_inline, kernel, kernel_of

Function = Callable[..., Any]


@force_inline
def score_row(table, indices, values, scores):
    """Write the scores (classes,) of one example."""
    classes = table.shape[1]
    for c in range(classes):
        scores[c] = 0.0
    for k in range(len(indices)):
        row = table[indices[k]]
        for c in range(classes):
            scores[c] += values[k] * row[c]
    total = 0.0
    for c in range(classes):
        total += scores[c]
    if not isfinite(total):
        _score_widely(table, indices, values, scores)


@force_inline
def predict_scaled_row(state, indices, values, settings, scores):
    """Write the scores (classes,) of one example, of weights over one scale, or over one for each class."""
    score_row(state.table, indices, values, scores)
    for c in range(len(scores)):
        scores[c] *= state.scale[min(c, len(state.scale) - 1)]


@force_inline
def _score_widely(table, indices, values, scores):
    """The same in double precision, where single overflows."""
    for c in range(len(scores)):
        scores[c] = 0.0
    for k in range(len(indices)):
        row = table[indices[k]]
        for c in range(len(scores)):
            scores[c] += np.float64(values[k]) * row[c]


@force_inline
def best_wrong(scores, target):
    """The class of highest score beside the target, the first of equals."""
    best = 1 if target == 0 else 0
    for c in range(len(scores)):
        if c != target and scores[c] > scores[best]:
            best = c
    return best


@force_inline
def pairwise_update(table, indices, values, target, wrong, step):
    """Move w_target by step x and w_wrong by -step x."""
    for k in range(len(indices)):
        change = np.float32(step * values[k])
        table[indices[k], target] += change
        table[indices[k], wrong] -= change


def learning_pairs(predict_row: Function, learn_pair: Function) -> Function:
    """`learn_row`: `learn_pair(state, indices, values, scores, target, wrong, importance, settings)` is one round."""

    @kernel_of(learn_pair, inline=True)
    def learn_row(state, indices, values, target, importance, settings, scores):
        """Learn one example in place; `scores` (classes,) takes what was predicted before."""
        predict_row(state, indices, values, settings, scores)
        if importance != 0.0:
            state.seen[0] += 1.0
            wrong = best_wrong(scores, target)
            learn_pair(state, indices, values, scores, target, wrong, importance, settings)

    return learn_row


def averaged(tables: list[np.ndarray], seen: np.ndarray) -> np.ndarray:
    """The mean of workers' tables by the examples each has seen."""
    share = seen / max(float(seen.sum()), 1.0)
    return np.tensordot(share, np.stack(tables), 1).astype(np.float32)


@kernel
def score_rows(table, rows, scores):
    """Write the scores (n, classes) of a block."""
    for i in range(len(scores)):
        here = slice(rows.offsets[i], rows.offsets[i + 1])
        score_row(table, rows.indices[here], rows.values[here], scores[i])


def predict_by_table(state: Any, rows: Any, settings: Any, scores: np.ndarray) -> None:
    """Write the scores (n, classes) of a block, where a table of the state is the weights."""
    score_rows(state.table, rows, scores)


def weights_in_table(state: Any, settings: Any) -> np.ndarray:
    """Weights (slots, classes)."""
    return state.table


def scaled_weights(state: Any, settings: Any) -> np.ndarray:
    """Weights (slots, classes), where the table of a state has a scale."""
    return (state.table * state.scale).astype(np.float32)
