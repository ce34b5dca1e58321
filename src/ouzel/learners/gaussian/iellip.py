"""IELLIP: the improved ellipsoid method.

Yang, Jin & Ye (2009), "Online Learning by Ellipsoid Method", ICML. The weights that have a margin of 1 lie in an
ellipsoid, whose centre and shape are w and S; a mistake (m <= 0) in round t cuts it. With c_t = c b^t,
    w <- w + (1 - m) S x / v,    S <- (S - c_t S x x'S / v) / (1 - c_t).
The first does not depend on the scale of S and the second keeps to it, so the division by 1 - c_t, which would touch
every slot, is left out: no prediction changes. So S says nothing of how much a worker has seen, and merging averages
both w and S by the examples of each. An importance weight has no meaning but 0, which leaves the example out.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

from ouzel.learners.gains.parts import Gains, Peak
from ouzel.learners.gaussian.gains import gained, settled
from ouzel.learners.gaussian.rule import step
from ouzel.learners.gaussian.states import Diagonal
from ouzel.learners.shared_settings import Full, Pairwise, Prior
from ouzel.ranges import Range


class Settings(NamedTuple):
    shrinkage: Annotated[float, Range(0.0, 1.0, below=True), "c"] = 0.1
    decay: Annotated[float, Range(0.0, 1.0), "b; round t takes the share c b^t from the ellipsoid"] = 0.3
    prior: Prior = 1.0
    full: Full = False
    pairwise: Pairwise = True


@step.register(Settings)
def _(settings, case):
    if case.margin > 0.0:
        return 0.0, 0.0
    return (1.0 - case.margin) / case.variance, settings.shrinkage * settings.decay**case.seen / case.variance


def _shape_of(state: Any) -> str:
    return "variance" if isinstance(state, Diagonal) else "covariance"


@gained.register(Settings)
def _(settings: Settings, base: Any, state: Any) -> Gains:
    counts = {name: getattr(state, name) - getattr(base, name) for name in ("seen", "updates")}
    parts = ("table", _shape_of(state))
    moved = {name: counts["seen"] * (getattr(state, name).astype(np.float64) - getattr(base, name)) for name in parts}
    extent = {} if isinstance(state, Diagonal) else {"extent": Peak(state.extent)}
    return {**counts, **moved, **extent}


@settled.register(Settings)
def _(settings: Settings, base: Any, gains: Gains) -> Any:
    total = {name: getattr(base, name) + gains[name] for name in ("seen", "updates")}
    examples = max(float(gains["seen"][0]), 1.0)
    for name in ("table", _shape_of(base)):
        before = getattr(base, name)
        total[name] = (before + gains[name] / examples).astype(before.dtype)
    if isinstance(base, Diagonal):
        return base._replace(**total)
    extent = np.maximum(base.extent, gains["extent"].values)
    return base._replace(product=np.zeros_like(base.product), extent=extent, **total)
