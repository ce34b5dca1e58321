"""AROW: adaptive regularisation of weights.

Crammer, Kulesza & Dredze (2009), "Adaptive Regularization of Weight Vectors", NIPS, Figure 1. When the margin m < 1,
    beta = 1 / (v + r),    alpha = (1 - m) beta,
which minimises the divergence from the last Gaussian and (squared hinge + variance of the margin) / (2 r).
An importance weight divides r, so multiplies the loss.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

from ouzel.learners.gaussian.rule import step
from ouzel.learners.shared_settings import PRICE, Full, Pairwise, Prior


class Settings(NamedTuple):
    regularization: Annotated[float, PRICE, "r"] = 1.0
    prior: Prior = 1.0
    full: Full = False
    pairwise: Pairwise = True


@step.register(Settings)
def _(settings, case):
    if not case.margin < 1.0:
        return 0.0, 0.0
    beta = 1.0 / (case.variance + settings.regularization / case.importance)
    return (1.0 - case.margin) * beta, beta
