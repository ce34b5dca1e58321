"""Online standardisation: features are centred and scaled as the stream goes, where they are dense.

What an example x is to a linear model should not depend on the units of its features, nor on where their zero is. A
feature that is not 0 in at least half of the examples so far is *dense*: its mean and variance follow the stream by
Welford's update (Welford, 1962, "Note on a Method for Calculating Corrected Sums of Squares and Products",
Technometrics 4), zeros counted and the example itself included, and the models see
    z = (x - mean) / sqrt(variance), cut to -3 .. 3;    0 where the variance is what rounding leaves of a constant.
Of any other feature they see z = x / the largest |x| so far. So a sparse example costs its non-zeros and the few dense
features. A dense feature that is found in less than a quarter of the examples is rare again.

Where a feature turns, after the example has been learnt, the models' weights turn with it so that predictions stay what
they are: of w x / n comes w' = w s / n and, for the constant, w mean / n; back, w' = w n / s, where n is the root mean
square of its non-zeros. While mean and variance move, nothing is done: weights live in units of z, and to keep
predictions exactly what they were at each example is much worse. Rows without the constant feature (slot 0) are not
centred, for nothing could take up the means; their unit is the root mean square.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline
from ouzel.layout import float64, require, uint32

FURTHEST = 3.0  # standard deviations from the mean
CONSTANT = 1e-10  # a variance below this part of the squared mean is rounding
SETTLED, EVERY = 64, 16  # examples until which all dense features are looked at each time, and then every so many
COUNT, MEAN, SQUARES, LARGEST = range(4)  # columns of `moments`
SEEN, DENSE, NORMS = range(3)  # places of `totals`


class Features(NamedTuple):
    moments: np.ndarray  # (d, 4) float64  non-zeros; rare: sum, sum of squares, largest |x|; dense: mean, M2, -place
    dense: np.ndarray  # (d,) uint32  slots of the dense features; places count from 1
    totals: np.ndarray  # (3,) float64  examples t, dense features, N = the sum of all z^2


def layout(dimension: int) -> Any:
    """What the moments of so many slots are made of."""
    return Features(
        moments=float64(dimension, 4, least=(0.0, -inf, 0.0, -dimension)),
        dense=uint32(dimension, most=dimension - 1),
        totals=float64(3, least=0.0, most=(inf, dimension, inf)),
    )


def check(features: Features) -> None:
    """Refuse a list of dense features that does not fit their moments."""
    places = -features.moments[:, LARGEST]
    listed, count = np.flatnonzero(places > 0.0), features.totals[DENSE]
    sound = len(listed) == count and np.array_equal(np.sort(places[listed]), np.arange(1, count + 1))
    require(sound and not places[0] > 0.0, "moments number the dense features wrongly")
    require((features.dense[places[listed].astype(np.int64) - 1] == listed).all(), "dense does not fit moments")
    require(not (features.totals[SEEN] == 0.0 and features.moments.any()), "moments are those of no example")


@force_inline
def is_centred(indices):
    """Whether the constant feature, which comes first, is in a row."""
    return len(indices) > 0 and indices[0] == 0


@force_inline
def spread_of(mean, variance, centred):
    """The unit of a dense feature, 0 for a constant."""
    if not variance > CONSTANT * mean * mean:
        return 0.0
    return sqrt(variance) if centred else sqrt(variance + mean * mean)


@force_inline
def standardised(x, mean, variance, centred):
    """z of a dense feature."""
    spread = spread_of(mean, variance, centred)
    if spread == 0.0:
        return 0.0
    z = (x - mean) / spread if centred else x / spread
    return min(max(z, -FURTHEST), FURTHEST)


@force_inline
def view_row(features, work, indices, values, learning):
    """Write slots and z of an example to `work.slots` and `work.values`, the dense ones first; return their number.

    The features' moments take note of the example if it is `learning`; z is the same if not.
    """
    seen, dense = features.totals[SEEN] + 1.0, np.int64(features.totals[DENSE])
    centred = is_centred(indices)
    count, norm = dense, 0.0
    for k in range(len(indices)):
        x = np.float64(values[k])
        row = features.moments[indices[k]]
        if x == 0.0:
            continue
        if row[LARGEST] < 0.0:
            work.raw[np.int64(-row[LARGEST]) - 1] = values[k]
            continue
        largest = max(abs(x), row[LARGEST])
        z = x / largest
        work.slots[count] = indices[k]
        work.values[count] = z
        count += 1
        norm += z * z
        if learning:
            row[COUNT] += 1.0
            row[MEAN] += x
            row[SQUARES] += x * x
            row[LARGEST] = largest
    for place in range(dense):
        slot, x = features.dense[place], np.float64(work.raw[place])
        work.raw[place] = 0.0
        row = features.moments[slot]
        change = x - row[MEAN]
        mean = row[MEAN] + change / seen
        squares = row[SQUARES] + change * (x - mean)
        z = standardised(x, mean, squares / seen, centred)
        work.slots[place] = slot
        work.values[place] = z
        norm += z * z
        if learning:
            row[COUNT] += x != 0.0
            row[MEAN], row[SQUARES] = mean, squares
    if learning:
        features.totals[SEEN] = seen
        features.totals[NORMS] += norm
    return count


@force_inline
def becomes_dense(features, slot, share):
    """Whether a feature of the example just learnt is to turn dense: it is in such a share of the examples."""
    row, seen = features.moments[slot], features.totals[SEEN]
    enough = max(share * seen, min(seen, 3.0))
    return slot != 0 and row[LARGEST] > 0.0 and seen >= 2.0 and row[COUNT] >= enough


@force_inline
def turn_dense(features, slot, centred):
    """Turn a feature dense: the factor of its weights, and the part of the old weight that the constant takes."""
    row, seen = features.moments[slot], features.totals[SEEN]
    mean, largest = row[MEAN] / seen, row[LARGEST]
    squares = max(row[SQUARES] - mean * row[MEAN], 0.0)
    place = np.int64(features.totals[DENSE])
    row[MEAN], row[SQUARES], row[LARGEST] = mean, squares, -(place + 1.0)
    features.dense[place] = slot
    features.totals[DENSE] = place + 1.0
    return spread_of(mean, squares / seen, centred) / largest, mean / largest if centred else 0.0


@force_inline
def becomes_rare(features, place, share):
    """Whether the dense feature at a place is to turn rare."""
    return features.moments[features.dense[place], COUNT] < share * features.totals[SEEN]


@force_inline
def turn_rare(features, place, centred):
    """Turn a dense feature rare: what `turn_dense` gives. The last of the dense ones takes its place."""
    seen, slot = features.totals[SEEN], features.dense[place]
    last = np.int64(features.totals[DENSE]) - 1
    moved = features.dense[last]
    features.dense[place] = moved
    features.moments[moved, LARGEST] = -(place + 1.0)
    features.dense[last] = 0
    features.totals[DENSE] = last
    row = features.moments[slot]
    mean, spread = row[MEAN], spread_of(row[MEAN], row[SQUARES] / seen, centred)
    total = row[SQUARES] + seen * mean * mean
    size = sqrt(total / max(row[COUNT], 1.0))
    row[MEAN], row[SQUARES], row[LARGEST] = mean * seen, total, size
    if spread == 0.0:
        return 0.0, 0.0
    return size / spread, -mean / spread if centred else 0.0


def units(features: Features) -> tuple[np.ndarray, np.ndarray]:
    """What z = a x - b is of every slot, while nothing is cut: a and b, both (d,); 0 for what is not known."""
    moments, seen = features.moments, features.totals[SEEN]
    slopes, shifts = np.zeros(len(moments)), np.zeros(len(moments))
    rare = moments[:, LARGEST] > 0.0
    slopes[rare] = 1.0 / moments[rare, LARGEST]
    for slot in np.flatnonzero(moments[:, LARGEST] < 0.0):
        mean, squares = moments[slot, MEAN], moments[slot, SQUARES]
        centred = moments[0, COUNT] > 0.0
        spread = spread_of(mean, squares / seen, centred)
        if spread > 0.0:
            slopes[slot], shifts[slot] = 1.0 / spread, mean / spread if centred else 0.0
    return slopes, shifts


def merged(parts: list[Features]) -> Features:
    """The moments of all workers' examples (Chan, Golub & LeVeque, 1983); dense is what most examples have so."""
    whole = Features(*(array.copy() for array in parts[0]))
    moments, total = np.zeros(parts[0].moments.shape), 0.0
    dense_weight = np.zeros(len(moments))
    for part in parts:
        seen = part.totals[SEEN]
        if seen == 0.0:
            continue
        dense = part.moments[:, LARGEST] < 0.0
        count, first, second, size = part.moments.T
        mean = np.where(dense, first, first / seen)
        squares = np.where(dense, second, np.maximum(second - seen * mean**2, 0.0))
        change = mean - moments[:, MEAN]
        moments[:, MEAN] += change * (seen / (total + seen))
        moments[:, SQUARES] += squares + change**2 * (total * seen / (total + seen))
        moments[:, COUNT] += count
        root = np.sqrt((squares + seen * mean**2) / np.maximum(count, 1.0))
        moments[:, LARGEST] = np.maximum(moments[:, LARGEST], np.where(dense, root, size))
        dense_weight += seen * dense
        total += seen
    dense = (2.0 * dense_weight >= total) & (dense_weight > 0.0)
    rare = ~dense
    moments[rare, SQUARES] += total * moments[rare, MEAN] ** 2
    moments[rare, MEAN] *= total
    slots = np.flatnonzero(dense)
    moments[slots, LARGEST] = -np.arange(1.0, len(slots) + 1.0)
    whole.moments[...] = moments
    whole.dense[:] = 0
    whole.dense[: len(slots)] = slots
    whole.totals[:] = total, len(slots), sum(part.totals[NORMS] for part in parts)
    return whole
