"""Online standardisation: features are centred and scaled as the stream goes, where they are dense.

What an example x is to a linear model should not depend on the units of its features, nor on where their zero is. A
feature that is not 0 in at least half of the examples so far is *dense*: its mean and variance follow the stream by
Welford's update (Welford, 1962, "Note on a Method for Calculating Corrected Sums of Squares and Products",
Technometrics 4), zeros counted and the example itself included, and the models see
    z = (x - mean) / sqrt(variance), cut to -3 .. 3;    0 where the variance is what rounding leaves of a constant,
and 0 of a value so far off that it can but stand for nothing (`outliers.py`).
Of any other feature they see z = x / the largest |x| so far. So a sparse example costs its non-zeros and the few dense
features. A dense feature that is found in less than a quarter of the examples is rare again.

The default learner has rare features of tables reach further, so that a rare category says as much as a frequent one:
    z = x / the root mean square of x in all examples, at most r times x / the largest |x|.
Each example of a table adds 1/10 to r^2, which is 1 at first and in text, 49 at most, and at most 1 + the mean number
of examples that features are in. So columns found in 2 % of the examples or more have a mean square of 1, and none is
blown up by the little that is known of it: least of all ids, most of which come once or twice.

Values far outside of what a feature has had count little in its moments, and moments that such values have set are set
anew (`outliers.py`), so that one stray value does not spoil a column.

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

from ouzel.kernels.jit import force_inline, inline_source
from ouzel.layout import allocate, float32, float64, require, uint32
from ouzel.learners.auto.outliers import BOUND, HIGH_Z, KNOWN_FROM, STRIKING, caution, high_from

FURTHEST = 3.0  # standard deviations from the mean
CONSTANT = 1e-10  # a variance below this part of the squared mean is rounding
COUNT, MEAN, SQUARES, LARGEST = range(4)  # columns of `moments`
SEEN, DENSE, NORMS, REACH, FOUND, KNOWN, SINCE, OUTLIER = range(8)  # places of `totals`
MOST_REACH, SLOWLY = 7.0, 10.0  # of the rare features of tables; the examples that add 1 to its square


class Features(NamedTuple):
    moments: np.ndarray  # (d, 4) float64  non-zeros; rare: sum, sum of squares, largest |x|; dense: mean, M2, -place
    dense: np.ndarray  # (d,) uint32  slots of the dense features; places count from 1
    totals: (
        np.ndarray
    )  # (8,) float64  t, dense features, N = the sum of all z^2, r or 0 for 1, non-zeros, features met,
    # examples of the present window, slot of the first value of 1,000 times the usual size
    window: np.ndarray  # (d, 4) float32  what `outliers.py` knows of the latest values


def layout(dimension: int) -> Any:
    """What the moments of so many slots are made of."""
    return Features(
        moments=float64(dimension, 4, least=(0.0, -inf, 0.0, -dimension)),
        dense=uint32(dimension, most=dimension - 1),
        totals=float64(8, least=0.0, most=(inf, dimension, inf, MOST_REACH, inf, dimension, inf, dimension - 1)),
        window=float32(dimension, 4, least=(-inf, -inf, 0.0, -1.0)),
    )


def check(features: Features) -> None:
    """Refuse a list of dense features that does not fit their moments."""
    places = -features.moments[:, LARGEST]
    listed, count = np.flatnonzero(places > 0.0), features.totals[DENSE]
    sound = len(listed) == count and np.array_equal(np.sort(places[listed]), np.arange(1, count + 1))
    require(sound and not places[0] > 0.0, "moments number the dense features wrongly")
    require((features.dense[places[listed].astype(np.int64) - 1] == listed).all(), "dense does not fit moments")
    require(not (features.totals[SEEN] == 0.0 and features.moments.any()), "moments are those of no example")


@inline_source
def is_centred(indices):
    """Whether the constant feature, which comes first, is in a row."""
    return len(indices) > 0 and indices[0] == 0


@inline_source
def view_example(features, rows, i, work):
    """View example i of a block by `view_row`: its slots and values, whether it is centred, and the number of z."""
    here = slice(rows.offsets[i], rows.offsets[i + 1])
    indices, values = rows.indices[here], rows.values[here]
    centred = is_centred(indices)
    return indices, values, centred, view_row(features, work, indices, values, centred)


@inline_source
def spread_of(mean, variance, centred):
    """The unit of a dense feature, 0 for a constant."""
    size = variance if centred else variance + mean * mean
    return sqrt(size) if variance > CONSTANT * mean * mean else 0.0


@force_inline
def reach_of(totals):
    """How far rare features reach now: their squares no further than 1 + the mean number of examples of a feature."""
    return min(totals[REACH], sqrt(1.0 + totals[FOUND] / max(totals[KNOWN], 1.0)))


@inline_source
def is_meaningless(features, work, place):
    """Whether the value of a dense feature is so far off that the models are not to see it (`outliers.py`)."""
    slot, seen = features.dense[place], features.totals[SEEN]
    mean, limit = features.moments[slot, MEAN], STRIKING * caution(max(seen, 1.0))
    variance, change = features.moments[slot, SQUARES] / max(seen, 1.0), np.float64(work.raw[place]) - mean
    far = change * change > limit * limit * variance and abs(change) > features.window[slot, BOUND]
    return far and seen >= KNOWN_FROM and variance > CONSTANT * mean * mean


@inline_source
def view_row(features, work, indices, values, centred):
    """Write slots and z of an example to `work.slots` and `work.values`, the dense ones first; return their number.

    z is by the moments with the example itself, though these take note of it in `turning.py`. `work.raw` takes x of
    the dense ones, and `work.high` whether any of these may be far off.
    """
    seen, dense = features.totals[SEEN] + 1.0, np.int64(features.totals[DENSE])
    part, count, reach = 1.0 / seen, dense, reach_of(features.totals)
    high, limit = False, high_from(seen, centred)
    for place in range(dense):
        work.raw[place] = 0.0
    for k in range(len(indices)):
        x, largest = np.float64(values[k]), features.moments[indices[k], LARGEST]
        if largest < 0.0:
            work.raw[np.int64(-largest) - 1] = values[k]
        elif x != 0.0:
            work.slots[count] = indices[k]
            unit = max(abs(x), largest)
            if reach > 1.0:
                unit = max(sqrt((features.moments[indices[k], SQUARES] + x * x) * part), unit / reach)
            work.values[count] = x / unit
            count += 1
    for place in range(dense):
        slot, x = features.dense[place], np.float64(work.raw[place])
        row = features.moments[slot]
        change = x - row[MEAN]
        mean = row[MEAN] + change * part
        spread = spread_of(mean, (row[SQUARES] + change * (x - mean)) * part, centred)
        z = (x - mean if centred else x) / (spread if spread > 0.0 else inf)
        work.slots[place] = slot
        work.values[place] = min(max(z, -FURTHEST), FURTHEST)
        high |= abs(z) > limit
    work.high[0] = high
    if high:
        for place in range(dense):
            if abs(work.values[place]) > HIGH_Z and is_meaningless(features, work, place):
                work.values[place] = 0.0
    return count


@inline_source
def let_reach(features, tabular):
    """Have rare features reach a little further in a table, and no further than 1 in text, from the next example on."""
    before = max(features.totals[REACH], 1.0)
    features.totals[REACH] = min(sqrt(before * before + 1.0 / SLOWLY), MOST_REACH) if tabular else 1.0


@inline_source
def enough_of(seen, share):
    """How many examples a feature must be in to turn dense: such a share of them, of three all, of one none."""
    return max(share * seen, min(seen, 3.0), 2.0)


def spreads(mean: np.ndarray, variance: np.ndarray, centred: bool) -> np.ndarray:
    """`spread_of` of many."""
    return np.where(variance > CONSTANT * mean**2, np.sqrt(variance if centred else variance + mean**2), 0.0)


def means_and_spreads(features: Features) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation (d,) of each feature, zeros counted."""
    seen = max(features.totals[SEEN], 1.0)
    dense = features.moments[:, LARGEST] < 0.0
    mean = features.moments[:, MEAN] / np.where(dense, 1.0, seen)
    square = features.moments[:, SQUARES] / seen
    return mean, np.sqrt(np.maximum(np.where(dense, square, square - mean**2), 0.0))


def rare_units(features: Features, squares: np.ndarray, largest: np.ndarray) -> np.ndarray:
    """By what rare features are divided, of these sums of squares and largest |x|."""
    root, reach = np.sqrt(squares / max(features.totals[SEEN], 1.0)), reach_of(features.totals)
    units: np.ndarray = np.maximum(root, largest / reach) if reach > 1.0 else largest
    return units


def units(features: Features, reaching: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """What z = a x - b is of every slot, while nothing is cut: a and b, both (d,); 0 for what is not known.

    Workers are merged with rare features in units of the largest |x|, which stand still while they are not seen;
    `reaching` asks for the units in which the models see them.
    """
    moments, seen = features.moments, features.totals[SEEN]
    slopes, shifts = np.zeros(len(moments)), np.zeros(len(moments))
    rare, dense = moments[:, LARGEST] > 0.0, moments[:, LARGEST] < 0.0
    largest = moments[rare, LARGEST]
    slopes[rare] = 1.0 / (rare_units(features, moments[rare, SQUARES], largest) if reaching else largest)
    centred, mean = moments[0, COUNT] > 0.0, moments[dense, MEAN]
    spread = spreads(mean, moments[dense, SQUARES] / max(seen, 1.0), centred)
    slopes[dense] = np.divide(1.0, spread, out=np.zeros(len(mean)), where=spread > 0.0)
    if centred:
        shifts[dense] = mean * slopes[dense]
    return slopes, shifts


def meaningless_from(features: Features, slots: np.ndarray) -> np.ndarray:
    """From which deviation (n,) on the models do not see values of dense features (`is_meaningless`)."""
    mean, seen = features.moments[slots, MEAN], max(features.totals[SEEN], 1.0)
    variance = np.maximum(features.moments[slots, SQUARES], 0.0) / seen
    limit = np.maximum(STRIKING * caution(seen) * np.sqrt(variance), features.window[slots, BOUND])
    known: np.ndarray = (seen >= KNOWN_FROM) & (variance > CONSTANT * mean**2)
    return np.where(known, limit, inf)


def standardised(features: Features, slots: np.ndarray, values: np.ndarray, centred: bool) -> np.ndarray:
    """What the models see of values (n,) of slots (n,), each in an example of its own: z as `view_row` has it."""
    moments, seen = features.moments[slots], features.totals[SEEN] + 1.0
    dense, largest = moments[:, LARGEST] < 0.0, np.maximum(np.abs(values), np.maximum(moments[:, LARGEST], 0.0))
    change = values - moments[:, MEAN]
    mean = moments[:, MEAN] + change / seen
    spread = spreads(mean, (moments[:, SQUARES] + change * (values - mean)) / seen, centred)
    squares, reach = moments[:, SQUARES] + values**2, reach_of(features.totals)
    rare = np.maximum(np.sqrt(np.where(dense, 0.0, squares) / seen), largest / reach) if reach > 1.0 else largest
    unit, gap = np.where(dense, spread, rare), np.where(dense & centred, values - mean, values)
    z = np.divide(gap, unit, out=np.zeros(len(values)), where=unit > 0.0)
    seen_as_mean = np.abs(change) > meaningless_from(features, slots)
    found: np.ndarray = np.where(dense, np.where(seen_as_mean, 0.0, np.clip(z, -FURTHEST, FURTHEST)), z)
    return found


def fade(features: Features, kept: float) -> float:
    """Have earlier examples count for a part of what they did, so that they are a whole number; return the part."""
    seen, moments = features.totals[SEEN], features.moments
    part = float(np.floor(kept * seen) / seen) if seen >= 2.0 else 1.0
    features.totals[[SEEN, NORMS]] *= part
    features.totals[SEEN] = np.rint(features.totals[SEEN])
    moments[:, [COUNT, SQUARES]] *= part
    moments[moments[:, LARGEST] >= 0.0, MEAN] *= part  # a sum
    return part


def renumbered(features: Features, places: np.ndarray, slots: int) -> Features:
    """The moments of so many slots, in which slot k of these, of the first `len(places)`, is slot `places[k]`."""
    whole, count = allocate(layout(slots)), int(features.totals[DENSE])
    whole.moments[places], whole.window[places] = features.moments[: len(places)], features.window[: len(places)]
    whole.dense[:count] = places[features.dense[:count]]
    whole.totals[:] = features.totals
    if features.totals[OUTLIER] > 0.0:
        whole.totals[OUTLIER] = places[int(features.totals[OUTLIER])]
    return whole


def bounds_of(features: Features) -> np.ndarray:
    """Up to which deviation values of dense features are believed (`outliers.py`); 0 of the others."""
    return np.where(features.moments[:, LARGEST] < 0.0, features.window[:, BOUND], 0.0)
