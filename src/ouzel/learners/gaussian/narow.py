"""NAROW: AROW whose regularisation follows the variance.

Orabona & Crammer (2010), "New Adaptive Algorithms for Online Classification", NIPS, section 5. When the margin m < 1
and b v > 1, with r = v / (b v - 1),
    beta = 1 / (v + r),    alpha = (1 - m) beta;
else r is infinite and nothing moves. An importance weight divides r, as in `arow`.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

from ouzel.learners.gaussian.rule import step
from ouzel.learners.shared_settings import PRICE, Full, Pairwise, Prior


class Settings(NamedTuple):
    bound: Annotated[float, PRICE, "b; where the variance is below 1 / b nothing is learnt"] = 10.0
    prior: Prior = 1.0
    full: Full = False
    pairwise: Pairwise = True


@step.register(Settings)
def _(settings, case):
    excess = settings.bound * case.variance - 1.0
    if not (case.margin < 1.0 and excess > 0.0):
        return 0.0, 0.0
    beta = 1.0 / (case.variance + case.variance / (excess * case.importance))
    return (1.0 - case.margin) * beta, beta
