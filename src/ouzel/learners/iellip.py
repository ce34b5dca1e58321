"""IELLIP: the improved ellipsoid method.

Yang, Jin & Ye (2009), "Online Learning by Ellipsoid Method", ICML. The weights that have a margin of 1 lie in an
ellipsoid, whose centre and shape are w and S; a mistake (m <= 0) in round t cuts it. With c_t = c b^t,
    w <- w + (1 - m) S x / v,    S <- (S - c_t S x x'S / v) / (1 - c_t).
The first does not depend on the scale of S and the second keeps to it, so the division by 1 - c_t, which would touch
every slot, is left out: no prediction changes. An importance weight has no meaning but 0, which leaves the example out.
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
    shrinkage: float = 0.1  # c, below 1
    decay: float = 0.3  # b, at most 1
    prior: float = 1.0  # variance of the weights of a margin before any example
    full: float = 0.0  # 1: the whole covariance, not its diagonal


@step.of(Settings)
def _(settings, case):
    if case.margin > 0.0:
        return 0.0, 0.0
    return (1.0 - case.margin) / case.variance, settings.shrinkage * settings.decay**case.seen / case.variance
