"""AROW: adaptive regularisation of weights.

Crammer, Kulesza & Dredze (2009), "Adaptive Regularization of Weight Vectors", NIPS, Figure 1. When the margin m < 1,
    beta = 1 / (v + r),    alpha = (1 - m) beta,
which minimises the divergence from the last Gaussian and (squared hinge + variance of the margin) / (2 r).
An importance weight divides r, so multiplies the loss.
"""

from __future__ import annotations

from typing import NamedTuple

from ouzel.learners.gaussian import (
    MULTICLASS,
    grow,
    init,
    layout,
    learn_row,
    learn_rows,
    merge,
    predict_row,
    predict_rows,
    step,
    weights,
)

__all__ = ["MULTICLASS", "Settings", "grow", "init", "layout", "learn_row", "learn_rows", "merge"]
__all__ += ["predict_row", "predict_rows", "weights"]


class Settings(NamedTuple):
    regularization: float = 1.0  # r
    prior: float = 1.0  # variance of the weights of a margin before any example
    full: float = 0.0  # 1: the whole covariance, not its diagonal


@step.of(Settings)
def _(settings, case):
    if not case.margin < 1.0:
        return 0.0, 0.0
    beta = 1.0 / (case.variance + settings.regularization / case.importance)
    return (1.0 - case.margin) * beta, beta
