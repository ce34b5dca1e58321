"""NAROW: second-order learning with a regularisation that follows the variance, and first-order learning below it.

Orabona & Crammer (2010), "New Adaptive Algorithms for Online Classification", NIPS, section 5, as in Orabona's DOGMA
(`narow_train`). With w = S theta and r = v / (b v - 1) where b v > 1, infinite elsewhere, an example whose margin with
it counted, m r / (v + r), is below 1 adds y x to theta and x x' / r to the inverse of S:
    beta = 1 / (v + r),    alpha = (r - m) beta;    of an infinite r    beta = 0,    alpha = 1.
So S narrows until variances are 1 / b, and stays what it is while w goes on. Where m is above r, w moves back: S has
narrowed along x. LIBOL divides y x by r as well, so it learns nothing where r is infinite. The default b is DOGMA's.

An importance weight counts an example so many times in theta and in the inverse of S.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

from ouzel.learners.gaussian.rule import step
from ouzel.learners.shared_settings import PRICE, Full, Pairwise, Prior


class Settings(NamedTuple):
    bound: Annotated[float, PRICE, "b: variances narrow to 1 / b"] = 1.0
    prior: Prior = 1.0
    full: Full = False
    pairwise: Pairwise = True


@step.register(Settings)
def _(settings, case):
    m, v, weight = case.margin, case.variance, case.importance
    excess = settings.bound * v - 1.0
    if excess <= 0.0:
        return (weight if m < 1.0 else 0.0), 0.0
    r = v / excess
    beta = 1.0 / (v + r / weight)
    return ((r - m) * beta if m * r * beta < weight else 0.0), beta
