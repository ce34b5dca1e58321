"""Features in any unit: a learner of any kind sees them centred and scaled as the stream goes, where they are dense.

What `auto/standardisation.py` does for the default, for the rows of any learner: features that are not 0 in half of
the examples so far are centred by their running mean and scaled by their standard deviation (Welford, 1962), cut at 3;
others are divided by their largest value, and reach no further. So a sparse example still costs its non-zeros and the
few dense features.
Neither labels nor weights have a say in it: one view serves all states of a model, and rows are made a block at a time.

By default (`standardize` is "auto") a model scales nothing while data are of one scale (standard normal, -1 to 1,
one-hot, tf-idf, counts of words). It begins with the first example if that has a value beyond 100, or one value in
eight beyond 4.5, as rows of raw tables have. Later it begins where rows with a value beyond `LIMIT`, 6, are more than
a quarter for long enough: each adds 3 to a count, any other row takes 1 off, down to -45, and at 6 it begins, as the
cumulative sums of Page (1954, "Continuous Inspection Schemes", Biometrika 41) do: with the second row of a table, or,
where other rows came before, after 17 in a row. So neither a stray value nor frequent words begin anything. From that
row on dense features are centred and scaled as above; of the others those that had a value beyond 6 are divided by
their largest, and the rest stays as it is. Until then values are cut at 6, that row's own included unless it is the
first of all: so what is predicted of a row is what learning it next would tell. What has been learnt before stays.

Weights live in units of what the learner sees. Where a feature turns dense, or rare again, they stay as they are: that
is at its second example for a column of a table, and seldom later.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline, kernel
from ouzel.layout import made_from
from ouzel.learners.auto import standardisation, turning
from ouzel.learners.auto.standardisation import DENSE, LARGEST, Features
from ouzel.learners.auto.turning import LEAVE_TABLE, TABLE, turn_features
from ouzel.learners.rows import Rows

layout = standardisation.layout
init, grow = made_from(layout)
UNNOTED = np.empty(0, np.float32)  # importances of rows that are predicted and not learnt
LIMIT = 6.0  # |value| beyond which data are not of one scale; no standard normal number in 500 million is
FIRST, FAR, SEVERAL = 4.5, 100.0, 8  # the first example: sizes of values, and one in so many is beyond the first size
STEP, ENOUGH, FEWEST = 3, 6, -45  # a row beyond the limit adds 3, any other takes 1 off; at 6 it begins
UNBEGUN = 1 << 20  # no row has been learnt


class Room(NamedTuple):
    slots: np.ndarray  # (d,) uint32  slots of an example as it is seen
    values: np.ndarray  # (d,) float32  their z
    raw: np.ndarray  # (d,) float32  x of the dense features, by place
    high: np.ndarray  # (1,) bool  whether any of these may be far off


@kernel
def beyond(values, limit):
    """Whether the size of any value is above the limit."""
    most, far = np.float32(limit), np.uint32(0)
    for k in range(len(values)):  # several at a time
        far |= np.uint32(abs(values[k]) > most)
    return far > 0


@kernel
def needs_scales(values):
    """Whether the first example of a stream begins the scales: by one value far out, or by several that are large."""
    large = 0
    for k in range(len(values)):
        if abs(values[k]) > FAR:
            return True
        large += np.int64(abs(values[k]) > FIRST)
    return SEVERAL * large >= max(len(values), 1)


@kernel
def first_to_scale(rows, importances, surplus):
    """The first row of an importance above 0 from which on a model scales; the number of rows if there is none.

    `surplus` (1,) counts rows beyond the limit against those that are not; it is `UNBEGUN` before the first.
    """
    for i in range(len(rows.offsets) - 1):
        if importances[i] > 0.0:
            values, is_first = rows.values[rows.offsets[i] : rows.offsets[i + 1]], surplus[0] == UNBEGUN
            before = np.int64(0) if is_first else surplus[0]
            surplus[0] = before + STEP if beyond(values, LIMIT) else max(before - 1, FEWEST)
            centred = np.int64(len(values) > 0 and rows.indices[rows.offsets[i]] == 0)
            if surplus[0] >= ENOUGH or (is_first and needs_scales(values[centred:])):
                return i
    return len(rows.offsets) - 1


@force_inline
def leave_small(features, room, indices, values, place, limit):
    """Leave features from a place on, which are rare, as they are where no value of theirs was beyond the limit."""
    for k in range(len(indices)):
        largest = features.moments[indices[k], LARGEST]
        if largest >= 0.0 and values[k] != 0.0:
            if max(np.float64(abs(values[k])), largest) <= limit:
                room.values[place] = values[k]
            place += 1


@kernel
def _scale(features, room, rows, start, importances, limit, scaled):
    """Write rows from `start` on to `scaled`; return the number of the row behind which features are to turn.

    The moments take note of rows of an importance above 0. With a limit rare features are divided beyond it.
    """
    filled = scaled.offsets[start]
    for i in range(start, len(rows.offsets) - 1):
        here = slice(rows.offsets[i], rows.offsets[i + 1])
        indices, values = rows.indices[here], rows.values[here]
        count = standardisation.view_row(features, room, indices, values, standardisation.is_centred(indices))
        if limit > 0.0:
            leave_small(features, room, indices, values, np.int64(features.totals[DENSE]), limit)
        for k in range(count):
            if room.values[k] != 0.0:
                scaled.indices[filled], scaled.values[filled] = room.slots[k], room.values[k]
                filled += np.uint64(1)
        scaled.offsets[i + 1] = filled
        if (
            len(importances) > 0
            and importances[i] > 0.0
            and turning.note_row(features, room, indices, values, count, TABLE, LEAVE_TABLE)
        ):
            return i
    return len(rows.offsets) - 1


def scaled_rows(features: Features, rows: Rows, importances: np.ndarray = UNNOTED, limit: float = 0.0) -> Rows:
    """Rows as the learner sees them; with importances (n,), the moments take note of each after it was seen.

    Rare features are divided by their largest value if that is beyond the limit.
    """
    start, count, slots = 0, len(rows.offsets) - 1, len(features.moments)
    values, raw = np.empty((2, slots), np.float32)
    room = Room(np.empty(slots, np.uint32), values, raw, np.zeros(1, np.bool_))
    scaled = Rows(np.zeros(count + 1, np.uint64), np.empty(0, np.uint32), np.empty(0, np.float32))
    while start < count:
        filled = int(scaled.offsets[start])
        more = int(rows.offsets[count] - rows.offsets[start]) + int(features.totals[DENSE]) * (count - start)
        scaled = Rows(scaled.offsets, *(_longer(part, filled, more) for part in scaled[1:]))
        stop = int(_scale(features, room, rows, start, importances, limit, scaled))
        if stop < count:
            turn_features(features, rows.indices[rows.offsets[stop] : rows.offsets[stop + 1]], TABLE, LEAVE_TABLE)
        start = stop + 1
    return scaled


def _longer(array: np.ndarray, filled: int, more: int) -> np.ndarray:
    """The first numbers of an array, and room for more behind them."""
    longer = np.empty(filled + more, array.dtype)
    longer[:filled] = array[:filled]
    return longer


def cut(values: np.ndarray) -> np.ndarray:
    """Values as a learner sees them that has not begun to scale: cut at the limit."""
    return np.clip(values, -LIMIT, LIMIT)


def units(features: Features, limit: float) -> tuple[np.ndarray, np.ndarray]:
    """What z = a x - b is of every slot, while nothing is cut: a and b, both (d,); a is 0 for what is not known."""
    slopes, shifts = standardisation.units(features)
    largest = features.moments[:, LARGEST]
    return np.where((largest >= 0.0) & (largest <= limit) & (limit > 0.0), 1.0, slopes), shifts


def standardised(features: Features, slots: np.ndarray, values: np.ndarray, centred: bool, limit: float) -> np.ndarray:
    """What the learner sees of values (n,) of slots (n,), each in an example of its own."""
    largest = features.moments[slots, LARGEST]
    small = (largest >= 0.0) & (np.maximum(np.abs(values), largest) <= limit)
    return np.where(small, values, standardisation.standardised(features, slots, values, centred))


def weights_of_raw(features: Features, weights: np.ndarray, limit: float) -> np.ndarray:
    """Weights (columns, slots) for features as they are, from those (columns, slots) for what the learner sees.

    They predict the same where no feature lies 3 standard deviations from its mean.
    """
    slopes, shifts = (part[: weights.shape[1]] for part in units(features, limit))
    slopes[0] = 1.0
    found = weights.astype(float)
    found[:, 0] -= found @ shifts
    return found * slopes
