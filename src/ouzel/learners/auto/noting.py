"""How the features' moments take note of an example: as `standardisation.py` says, and of outliers as `outliers.py`."""

from __future__ import annotations

from math import copysign, sqrt

import numpy as np

from ouzel.kernels.jit import force_inline, inline_source
from ouzel.learners.auto import outliers
from ouzel.learners.auto.outliers import HIGH, LOW
from ouzel.learners.auto.standardisation import (
    CONSTANT,
    COUNT,
    DENSE,
    FOUND,
    KNOWN,
    LARGEST,
    MEAN,
    NORMS,
    OUTLIER,
    SEEN,
    SINCE,
    SQUARES,
    enough_of,
    is_meaningless,
)


@force_inline
def _note_unusual(features, slot, x):
    """How much of a value of a rare feature that is far above the largest or far below counts (`outliers.py`)."""
    row, window, size = features.moments[slot], features.window[slot], abs(x)
    limit, counts, largest = outliers.FAR * outliers.caution(row[COUNT]), x, row[LARGEST]
    if row[COUNT] >= outliers.KNOWN_FROM and size > limit * largest:
        if size > outliers.STRIKING * largest:
            _note_striking(features, slot)
        if outliers.in_run(window, size, row[COUNT], 1.0):
            row[LARGEST] = window[outliers.SIZE]
        else:
            counts = copysign(largest, x)
    elif limit * size < largest and outliers.in_run(window, size, row[COUNT], -1.0):
        largest = np.float64(window[outliers.SIZE])
        most = largest * row[COUNT]
        row[LARGEST], row[MEAN], row[SQUARES] = (
            largest,
            min(max(row[MEAN], -most), most),
            min(row[SQUARES], largest * most),
        )
    return counts


@inline_source
def _note_far_off(features, work):
    """Have values of dense features that are far off count less, in `work.raw` (`outliers.py`)."""
    for place in range(np.int64(features.totals[DENSE])):
        z = abs(work.values[place])
        if z > outliers.HIGH_Z or (z == 0.0 and is_meaningless(features, work, place)):
            work.raw[place] = _counted(features, features.dense[place], np.float64(work.raw[place]))


@inline_source
def _counted(features, slot, x):
    """A value of a dense feature as it counts in the moments."""
    row, window, seen, counted = features.moments[slot], features.window[slot], features.totals[SEEN], x
    variance, mean = row[SQUARES] / seen, row[MEAN]
    change, limit = x - mean, outliers.FAR * outliers.caution(seen)
    if change * change > limit * limit * variance:
        known = seen >= outliers.KNOWN_FROM and variance > CONSTANT * mean * mean
        counts = outliers.counted_deviation(window, change, variance, known)
        if counts != change:
            if abs(change) > outliers.STRIKING * sqrt(variance):
                _note_striking(features, slot)
            if x == 0.0:  # a zero stays one for the number of non-zeros
                row[COUNT] -= 1.0
                features.totals[FOUND] -= 1.0
            counted = mean + counts
    return counted


@inline_source
def _note_striking(features, slot):
    """Remember the first feature that had a value of 1,000 times its usual size."""
    if features.totals[OUTLIER] == 0.0:
        features.totals[OUTLIER] = slot


@inline_source
def _sample(features, work):
    """Have windows take note of how far the values of dense features reach, those that are far off as they count."""
    for place in range(np.int64(features.totals[DENSE])):
        window, x = features.window[features.dense[place]], work.raw[place]
        window[LOW], window[HIGH] = min(window[LOW], x), max(window[HIGH], x)


@inline_source
def _review(features):
    """Look at the scales of dense features behind a window, and begin the next."""
    seen, length = features.totals[SEEN], features.totals[SINCE]
    samples = outliers.samples_of(length, seen)
    for place in range(np.int64(features.totals[DENSE])):
        slot = features.dense[place]
        row, window = features.moments[slot], features.window[slot]
        if seen >= outliers.KNOWN_FROM:
            mean, variance = row[MEAN], row[SQUARES] / seen
            mean, changed = outliers.review_dense(window, mean, variance, length, seen, samples)
            if changed != variance:
                if variance > outliers.STRIKING * outliers.STRIKING * changed:
                    _note_striking(features, slot)
                row[MEAN], row[SQUARES] = mean, changed * seen
        outliers.begin_window(window, 0.5 * length)
    features.totals[SINCE] = 0.0


@inline_source
def note_row(features, work, indices, values, count, enter, leave):
    """Have the moments take note of an example just viewed; return whether any feature is to turn.

    That is the case of a rare feature of the example in a share of `enter` of all examples or more, and of a dense one
    in less than `leave`.
    """
    before, dense = features.totals[SEEN], np.int64(features.totals[DENSE])
    seen = before + 1.0
    part, enough, turning, norm = 1.0 / seen, enough_of(seen, enter), False, 0.0
    found, known, fewest = 0, 0, leave * seen
    if work.high[0]:
        _note_far_off(features, work)
    if outliers.is_sample(seen):
        _sample(features, work)
    for k in range(len(indices)):
        x = np.float64(values[k])
        row = features.moments[indices[k]]
        if x != 0.0 and row[LARGEST] >= 0.0:
            size = abs(x)
            unusual = size > outliers.FAR * row[LARGEST] or outliers.FAR * size < row[LARGEST]
            if unusual and row[COUNT] > 0.0:
                x = _note_unusual(features, indices[k], x)
            known += row[COUNT] == 0.0
            found += 1
            times = row[COUNT] + 1.0
            row[COUNT] = times
            row[MEAN] += x
            row[SQUARES] += x * x
            row[LARGEST] = max(abs(x), row[LARGEST])
            turning |= times >= enough and indices[k] != 0
    for place in range(dense):
        x = np.float64(work.raw[place])
        row = features.moments[features.dense[place]]
        change, is_there = x - row[MEAN], x != 0.0
        mean, times = row[MEAN] + change * part, row[COUNT] + is_there
        row[COUNT], row[MEAN] = times, mean
        row[SQUARES] += change * (x - mean)
        found += is_there
        turning |= times < fewest
    for k in range(count):
        norm += np.float64(work.values[k]) * work.values[k]
    features.totals[SEEN] = seen
    features.totals[FOUND] += found
    features.totals[KNOWN] += known
    features.totals[NORMS] += norm
    features.totals[SINCE] += 1.0
    if outliers.ends(features.totals[SINCE], seen):
        _review(features)
    return turning
