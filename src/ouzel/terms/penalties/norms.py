"""Norms of whole vectors as penalties: they null all weights of a vector together.

Duchi, Hazan & Singer (2011), sections 5.3 to 5.5. Not squared: their kink at 0 is what makes exact zeros.
"""

from __future__ import annotations

from math import sqrt
from typing import Annotated, NamedTuple

from ouzel.kernels.jit import kernel
from ouzel.kernels.vectors import square_norm
from ouzel.ranges import STRENGTH
from ouzel.terms.penalties.diagonal_prox import minimise
from ouzel.terms.penalties.l1_and_l2 import applies
from ouzel.terms.penalties.water_filling import level_of

MOST_STEPS = 200
PRECISION = 1e-15


@kernel
def shift_of(linear, metric, target, ball):
    """The z >= 0 at which ||u / (H + z)|| (if `ball`), or ||u / (1 + z H)||, has fallen to `target`.

    Newton's method on the inverse of the norm. That inverse is a power mean of exponent -2 of functions linear in z,
    hence concave, so that from z = 0 every step falls short of the root and no bracket is needed (Figure 4 bisects).
    """
    shift = 0.0
    for _ in range(MOST_STEPS):
        square = fall = 0.0
        for j in range(len(linear)):
            if linear[j] != 0.0:
                scale = metric[j] + shift if ball else 1.0 + shift * metric[j]
                part = (linear[j] / scale) ** 2
                square += part
                fall += part * (1.0 if ball else metric[j]) / scale
        step = (sqrt(square) / target - 1.0) * square / fall
        if not step > 0.0:
            break
        shift += step
        if step <= PRECISION * shift:
            break
    return shift


@kernel
def length_of(vector):
    """The Euclidean norm."""
    return sqrt(square_norm(vector))


class L2Norm(NamedTuple):
    """l1 ||x||_2; over the rows of a matrix, the mixed l1/l2 norm."""

    l1: Annotated[float, STRENGTH, "strength"]


@minimise.register(L2Norm)
def _(penalty, linear, metric, strength, out, work):
    # 0 if ||u|| <= l; else x = -z u / (1 + z H) with z = ||x|| / l, that is ||u / (1 + z H)|| = l
    limit = penalty.l1 * strength
    if length_of(linear) <= limit:
        out[:] = 0.0
        return
    shift = shift_of(linear, metric, limit, False) if limit > 0.0 else 0.0
    for j in range(len(linear)):
        if linear[j] == 0.0:
            out[j] = 0.0
        elif limit > 0.0:
            out[j] = -shift * linear[j] / (1.0 + shift * metric[j])
        else:
            out[j] = -linear[j] / metric[j]


class MaxNorm(NamedTuple):
    """l1 max |x_j|; over the rows of a matrix, the mixed l1/l-infinity norm."""

    l1: Annotated[float, STRENGTH, "strength"]


@minimise.register(MaxNorm)
def _(penalty, linear, metric, strength, out, work):
    # x = clip(-u / H, -z, z): what is cut off, sum_j H_j max(|u_j| / H_j - z, 0), is worth l. The dual of this is
    # the projection of -u on the l1 ball of radius l in the metric 1 / H (section 5.4)
    limit = penalty.l1 * strength
    for j in range(len(linear)):
        work[0, j] = abs(linear[j]) / metric[j] if linear[j] != 0.0 else 0.0
        work[1, j] = metric[j]
    level = level_of(work[0], work[1], limit)
    for j in range(len(linear)):
        free = -linear[j] / metric[j] if linear[j] != 0.0 else 0.0
        out[j] = min(max(free, -level), level)


def _applies(penalty):
    return True


for _kind in (L2Norm, MaxNorm):
    applies.register(_kind)(_applies)
