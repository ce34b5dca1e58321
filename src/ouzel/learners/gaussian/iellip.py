"""IELLIP: the improved ellipsoid method.

Yang, Jin & Ye (2009), "Online Learning by Ellipsoid Method", ICML. The weights that have a margin of 1 lie in an
ellipsoid, whose centre and shape are w and S; a mistake (m <= 0) in round t cuts it. With c_t = c b^t,
    w <- w + (1 - m) S x / v,    S <- (S - c_t S x x'S / v) / (1 - c_t).
The first does not depend on the scale of S and the second keeps to it, so the division by 1 - c_t, which would touch
every slot, is left out: no prediction changes. An importance weight has no meaning but 0, which leaves the example out.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

from ouzel.learners.gaussian.rule import step
from ouzel.learners.shared_settings import Full, Prior
from ouzel.ranges import Range


class Settings(NamedTuple):
    shrinkage: Annotated[float, Range(0.0, 1.0, below=True), "c"] = 0.1
    decay: Annotated[float, Range(0.0, 1.0), "b; round t takes the share c b^t from the ellipsoid"] = 0.3
    prior: Prior = 1.0
    full: Full = False


@step.of(Settings)
def _(settings, case):
    if case.margin > 0.0:
        return 0.0, 0.0
    return (1.0 - case.margin) / case.variance, settings.shrinkage * settings.decay**case.seen / case.variance
