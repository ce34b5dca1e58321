"""Slopes that effects of columns learn from: of losses of numbers in units, and those that pairs would have.

Of a loss, with u the root mean square of what the lines leave, G that of the slopes g of the loss there, and h its
curvature, the slope of a score is g / G, its bend max(h u / G, (g / G)^2), and its cost (l - l_0) / (G u), where l_0 is
the loss of the lines. By the squared loss G = u, so these are the difference d in units of u, 1, and d^2 / 2 but for a
constant. Margins that are logarithms have the unit 1. What is far off counts as `STRIKING` units, in u, G and slopes.

Of a pair of columns that has no weights yet, with b where a number lies among the eight knots of its column, m its
running mean, and g the slope of the loss of the score with pairs,
    S = sum of g (b_i - m_i)(b_j - m_j),    V = sum of g^2 (b_i - m_i)^2 (b_j - m_j)^2,
so a Newton step along this product takes about S^2 / 2 V off the loss. Where a pair has no effect, S^2 / V has the mean
1. More than four classes are summed in four buckets, each class with a sign, as a Count-Sketch does (Charikar, Chen &
Farach-Colton, 2002, "Finding Frequent Items in Data Streams", ICALP). `effect_columns.py` chooses pairs by these sums,
which begin anew whenever it does.
"""

from __future__ import annotations

from math import log, sqrt
from typing import Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import dispatch, force_inline
from ouzel.layout import float32, float64, require, uint8
from ouzel.terms.losses import Poisson, Squared, curvature, derivative, value

STRIKING, KNOWN_FROM = 5.0, 16.0  # numbers are clipped to 5 units from the 16th example on
MOST_LOGARITHM = 30.0
RESIDUALS, SQUARES, LOW, HIGH, SLOPES = range(5, 10)  # places in `totals` of effects

COLUMNS = 64  # that have effects
PAIRS = 276  # that have weights: all pairs of 24 columns
BUCKETS = 4  # of classes
PER_BUCKET = 3.0  # of S^2 / V, which chance may add for each bucket beyond the first


@dispatch
def of_logarithms(loss: Any) -> bool:
    """Whether margins are logarithms of the numbers predicted."""


@of_logarithms.register(object)
def _(loss):
    return False


@of_logarithms.register(Poisson)
def _(loss):
    return True


@force_inline
def _counted(sums, place, number, weight):
    """Cut a number to `STRIKING` root mean squares, and add its square to their sum; return the cut number."""
    if sums[RESIDUALS] >= KNOWN_FROM and sums[place] > 0.0:
        most = STRIKING * sqrt(sums[place] / sums[RESIDUALS])
        number = min(max(number, -most), most)
    sums[place] += weight * number * number
    return number


@force_inline
def note_number(totals, loss, line, target, weight):
    """Take note of a number to predict, where the lines said `line`; return the units of margins and of slopes."""
    begins, residual = totals[RESIDUALS] == 0.0, target - line
    if of_logarithms(loss):
        residual = min(max(log(target) - line, -STRIKING), STRIKING) if target > 0.0 else 0.0
        totals[SQUARES] += weight
    else:
        residual = _counted(totals, SQUARES, residual, weight)
    scale = note_slope(loss, totals, line, target, weight)
    totals[RESIDUALS] += weight
    reached = min(line + residual, MOST_LOGARITHM) if of_logarithms(loss) else line + residual
    totals[LOW] = reached if begins else min(totals[LOW], reached)
    totals[HIGH] = reached if begins else max(totals[HIGH], reached)
    unit = sqrt(totals[SQUARES] / totals[RESIDUALS])
    return unit, unit if scale < 0.0 else sqrt(scale / totals[RESIDUALS])


@dispatch
def note_slope(loss: Any, totals: Any, line: float, target: float, weight: float) -> float:
    """Take note of the slope at what the lines said; return the sum of squares, -1 where it is that of residuals."""


@note_slope.register(object)
def _(loss, totals, line, target, weight):
    _counted(totals, SLOPES, derivative(loss, line, target), weight)
    return totals[SLOPES]


@note_slope.register(Squared)
def _(loss, totals, line, target, weight):
    return -1.0


@dispatch
def slope_of(loss: Any, score: float, target: float, scale: float) -> float:
    """The slope of a score's loss, in units."""


@slope_of.register(object)
def _(loss, score, target, scale):
    return min(max(derivative(loss, score, target) / scale, -STRIKING), STRIKING)


@dispatch
def bend_of(loss: Any, score: float, target: float, unit: float, scale: float) -> float:
    """The curvature of a score's loss, in units."""


@bend_of.register(object)
def _(loss, score, target, unit, scale):
    slope = min(max(derivative(loss, score, target) / scale, -STRIKING), STRIKING)
    return max(min(curvature(loss, score, target) * unit / scale, STRIKING), slope * slope)


@bend_of.register(Squared)
def _(loss, score, target, unit, scale):
    return 1.0


@dispatch
def cost_of(loss: Any, score: float, line: float, target: float, unit: float, scale: float) -> float:
    """The loss of a score, in units, but for what is the same for all scores."""


@cost_of.register(object)
def _(loss, score, line, target, unit, scale):
    return (value(loss, score, target) - value(loss, line, target)) / (unit * scale)


@cost_of.register(Squared)
def _(loss, score, line, target, unit, scale):
    off = (score - target) / unit
    return 0.5 * off * off


class Pairs(NamedTuple):
    columns: np.ndarray  # (276, 2) uint8  of each pair, the later one first
    two_valued: np.ndarray  # (64,) uint8  1: columns of 0 and one other number; a line fits these
    means: np.ndarray  # (64,) float64  m
    slopes: np.ndarray  # (4, 64, 64) float32  S, by bucket; the lower half
    squares: np.ndarray  # (64, 64) float32  V
    counted: np.ndarray  # (1,) float64  examples that m is the mean of


def layout() -> Any:
    """What pairs are made of."""
    return Pairs(
        columns=uint8(PAIRS, 2, most=COLUMNS - 1),
        two_valued=uint8(COLUMNS, most=1),
        means=float64(COLUMNS),
        slopes=float32(BUCKETS, COLUMNS, COLUMNS),
        squares=float32(COLUMNS, COLUMNS, least=0.0),
        counted=float64(1, least=0.0),
    )


def check(pairs: Pairs, listed: int, columns: int) -> None:
    """Refuse pairs of columns that do not exist, or of one with itself."""
    one, other = pairs.columns[:listed].T
    require(bool((other < one).all() and (one < columns).all()), "effects have pairs of columns that do not exist")


def fade(pairs: Pairs, kept: float) -> None:
    """Let past examples count for a part of what they did."""
    for part in (pairs.slopes, pairs.squares):
        part *= np.float32(kept)
    pairs.counted[0] *= kept


@force_inline
def note_slopes(pairs, knots, shares, count, slopes, z, g):
    """Add the slopes (K,) of an example whose columns lie there; `z` (64,) and `g` (4,) are room to work in."""
    pairs.counted[0] += 1.0
    for c in range(count):
        b = knots[c] + shares[c]
        pairs.means[c] += (b - pairs.means[c]) / pairs.counted[0]
        z[c] = np.float32(b - pairs.means[c])
    many = min(len(slopes), BUCKETS)
    for b in range(many):
        g[b] = np.float32(0.0)
    for c in range(len(slopes)):
        g[c % many] += slopes[c] if c // many % 2 == 0 else -slopes[c]
    square = np.float32(0.0)
    for b in range(many):
        square += g[b] * g[b]
    for one in range(1, count):
        for b in range(many):
            slope, row = g[b] * z[one], pairs.slopes[b, one]
            for other in range(one):
                row[other] += slope * z[other]
        bend, row = square * z[one] * z[one], pairs.squares[one]
        for other in range(one):
            row[other] += bend * z[other] * z[other]


def gains_of(pairs: Pairs, columns: int, classes: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the later and the earlier column of every pair, neighbours first, and S^2 / V less what buckets add."""
    one, other = np.tril_indices(columns, -1)
    near = np.argsort(one - other, kind="stable")
    one, other = one[near], other[near]
    many, squares = min(classes, BUCKETS), pairs.squares[one, other].astype(float)
    found = (pairs.slopes[:many, one, other].astype(float) ** 2).sum(axis=0)
    ratios = np.divide(many * found, squares, out=np.zeros(len(one)), where=squares > 0.0)
    return one, other, ratios - PER_BUCKET * (many - 1)
