"""The perceptron that blames all wrong classes alike.

Crammer & Singer (2003), "Ultraconservative Online Algorithms for Multiclass Problems", JMLR 3, section 4, the uniform
update. On a mistake, with E the wrong classes that score no less than the true class y,
    w_y <- w_y + x,    w_r <- w_r - x / |E| for r in E.
An importance weight multiplies the step. With two classes this is the perceptron.
"""

from __future__ import annotations

from math import isfinite
from typing import Annotated, NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline
from ouzel.kernels.vectors import square_norm
from ouzel.learners.limits import is_sound
from ouzel.learners.loops import learning_scores
from ouzel.learners.margin.rule import (
    MULTICLASS,
    State,
    gains,
    grow,
    init,
    layout,
    onto,
    predict_row,
    predict_rows,
    weights,
)
from ouzel.learners.scores import score_row
from ouzel.learners.shared_settings import Rate

__all__ = ["MULTICLASS", "Settings", "State", "gains", "grow", "init", "layout", "learn_row", "learn_rows"]
__all__ += ["onto", "predict_row", "predict_rows", "weights"]


class Settings(NamedTuple):
    learning_rate: Annotated[Rate, "step size; the predicted classes do not depend on it"] = 1.0


@force_inline
def learn_row(state, indices, values, target, importance, settings, scores):
    """Learn one example in place; `scores` (classes,) takes what was predicted before."""
    score_row(state.table, indices, values, scores)
    if importance == 0.0:
        return
    state.seen[0] += 1.0
    at_fault = 0
    for c in range(len(scores)):
        at_fault += c != target and not scores[c] < scores[target]
    step = importance * settings.learning_rate
    if at_fault == 0 or not is_sound(step, square_norm(values)) or not isfinite(scores[target]):
        return
    state.updates[0] += 1.0
    for k in range(len(indices)):
        change = np.float32(step * values[k])
        share = np.float32(step * values[k] / at_fault)
        row = state.table[indices[k]]
        for c in range(len(scores)):
            if c == target:
                row[c] += change
            elif not scores[c] < scores[target]:
                row[c] -= share


learn_rows = learning_scores(learn_row)
