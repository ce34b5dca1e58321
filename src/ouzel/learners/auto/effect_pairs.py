"""Slopes of pairs of columns: what pairs that have no weights yet would take off the loss.

With b the bin of a column among four, m its running mean, and g the slope of the loss of the score with pairs,
    S = sum of g (b_i - m_i)(b_j - m_j),    V = sum of g^2 (b_i - m_i)^2 (b_j - m_j)^2,
so a Newton step along this product takes about S^2 / 2 V off the loss. Where a pair has no effect, S^2 / V has the mean
1. More than four classes are summed in four buckets, each class with a sign, as a Count-Sketch does (Charikar, Chen &
Farach-Colton, 2002, "Finding Frequent Items in Data Streams", ICALP). `effect_columns.py` chooses pairs by these sums,
which begin anew whenever it does.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline
from ouzel.layout import float32, float64, require, uint8

COLUMNS = 64  # that have bins
PAIRS = 276  # that have weights: all pairs of 24 columns
BUCKETS = 4  # of classes
PER_BUCKET = 3.0  # of S^2 / V, which chance may add for each bucket beyond the first
EVERY, ALL_UNTIL = 8, 4096.0  # behind the first 4,096 examples one in eight is counted


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
def note_slopes(pairs, bins, count, slopes, seen, z, g):
    """Add the slopes (K,) of an example whose columns are in these bins; `z` (64,) and `g` (4,) are room to work in."""
    if seen >= ALL_UNTIL and np.int64(seen) % EVERY != 0:
        return
    pairs.counted[0] += 1.0
    for c in range(count):
        pairs.means[c] += (bins[c] - pairs.means[c]) / pairs.counted[0]
        z[c] = np.float32(bins[c] - pairs.means[c])
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
