"""Domains that weights are kept to: balls and boxes, projected on in the metric of the learner.

Duchi, Hazan & Singer (2011), section 5.2 and Figure 3. Each domain is a term like the penalties: `minimise` gives the
point of the domain where <u, x> + <x, H x> / 2 is least, which is the projection of -u / H in the norm of H. The box
acts on single weights and so has the bodies of a separable penalty too: `penalty=Box(-1.0, 1.0)` is lazy.
"""

from __future__ import annotations

from math import inf
from typing import Annotated, NamedTuple

from ouzel.kernels.jit import kernel
from ouzel.ranges import STRENGTH, Range
from ouzel.terms.penalties.diagonal_prox import minimise, separable
from ouzel.terms.penalties.l1_and_l2 import applies, apply_penalty, penalty_increment, proximal, value
from ouzel.terms.penalties.norms import shift_of
from ouzel.terms.penalties.water_filling import level_of


class L1Ball(NamedTuple):
    """sum |x_j| <= radius."""

    radius: Annotated[float, STRENGTH, "radius of the ball"]


@minimise.register(L1Ball)
def _(domain, linear, metric, strength, out, work):
    # x_j = -sign(u_j) max(|u_j| - z, 0) / H_j: z is the level at which their sizes add up to the radius
    _free(linear, metric, out)
    if _size(out) <= domain.radius:
        return
    for j in range(len(linear)):
        work[0, j] = abs(linear[j])
        work[1, j] = 1.0 / metric[j] if linear[j] != 0.0 else 0.0
    level = level_of(work[0], work[1], domain.radius)
    for j in range(len(linear)):
        if linear[j] != 0.0:
            out[j] = -(linear[j] - min(max(linear[j], -level), level)) / metric[j]
    size = _size(out)
    if size > 0.0:  # what a small radius leaves of large u has lost digits: be within the ball all the same
        out *= domain.radius / size


@kernel
def _size(vector):
    """The sum of magnitudes."""
    total = 0.0
    for j in range(len(vector)):
        total += abs(vector[j])
    return total


class L2Ball(NamedTuple):
    """||x||_2 <= radius."""

    radius: Annotated[float, STRENGTH, "radius of the ball"]


@minimise.register(L2Ball)
def _(domain, linear, metric, strength, out, work):
    _free(linear, metric, out)
    square = 0.0
    for j in range(len(out)):
        square += out[j] * out[j]
    if square <= domain.radius**2:
        return
    if domain.radius == 0.0:
        out[:] = 0.0
        return
    shift = shift_of(linear, metric, domain.radius, True)
    for j in range(len(linear)):
        if linear[j] != 0.0:
            out[j] = -linear[j] / (metric[j] + shift)


@kernel
def _free(linear, metric, out):
    """The minimiser without a domain."""
    for j in range(len(linear)):
        out[j] = -linear[j] / metric[j] if linear[j] != 0.0 else 0.0


class Box(NamedTuple):
    """low <= x_j <= high for every weight; 0 lies between them."""

    low: Annotated[float, Range(-inf, 0.0), "the least weight"]
    high: Annotated[float, Range(0.0, inf), "the largest weight"]


minimise.register(Box)(separable)


@value.register(Box)
def _(domain, weight):
    return 0.0 if domain.low <= weight <= domain.high else float("inf")


@proximal.register(Box)
def _(domain, weight, step):
    return min(max(weight, domain.low), domain.high)


@penalty_increment.register(Box)
def _(domain, step):
    return 0.0


@apply_penalty.register(Box)
def _(domain, weight, penalty_increment):
    return min(max(weight, domain.low), domain.high)


def _applies(domain):
    return True


for _kind in (L1Ball, L2Ball, Box):
    applies.register(_kind)(_applies)
