"""Values far outside what a feature has had, and how little they count in its mean, spread and largest value.

A stray 999999 would otherwise be the unit of its column for good. What the models see of it is bounded anyway.

A feature is known once it has been in 16 examples: of a dense one, all examples count, and what is far off is told by
the mean m and the variance v before the example, of a rare one by the largest |x|, n.
- A value of a known dense feature is far off where |x - m| is above both 10 sqrt(v) and the feature's bound, unless
  rounding is all that v comes from. It counts as m + 3 sqrt(v) or m - 3 sqrt(v). Where |x - m| is above 10 sqrt(v) and
  the value is not far off, the bound becomes 4 |x - m|, if it was less: a column of ones with few zeros has none far off.
- A value of a known rare feature is far off where |x| is above 10 n. It counts as n or -n.

Whether scales are still what they should be is looked at behind every window, which is as long as half of what came
before it, and 1,024 long at most: behind examples 4, 8, 16 and so on to 2,048, 3,072, ... of all, or, of a rare feature
that has been in 8 examples, 16, 32, ... of its own. So a scale that a stray value set comes down again where nothing like
it follows, and a column that changes its unit is followed, whichever way. Of a known feature, with the window's
length w of t examples, and l and h the smallest and largest of its values in the window that were not far off:
- dense, where sqrt(v) is above 2 (h - l) t / w, or all was believed for a window: m becomes (l + h) / 2, sqrt(v)
  becomes (h - l) / 4, the bound 0; not where h = l;
- dense, where more than half of the window was far off: all is believed for the next window, and sets the scale then;
- rare, where more than half was far off: n becomes the largest |x| of those;
- rare, where n is above 10 times the largest |x| in the window, that becomes n.
Where n changes, the sum of x and the sum of x^2 become no more than n and n^2 for each example that the feature was in.
"""

from __future__ import annotations

from math import copysign, sqrt

import numpy as np

from ouzel.kernels.jit import inline_source

FAR = 20.0  # standard deviations from the mean, or times the largest |x|: what is further out is far off
WIDER = 4.0  # times the largest deviation beyond that which was believed: such deviations are believed again
COUNTS_AS = 3.0  # standard deviations from the mean
STRIKING = 1000.0  # times the usual size: people are told
KNOWN_FROM = 8.0  # examples
COUNTED_FROM = 8.0  # examples of a rare feature, from which on its windows are counted
SHORTEST, LONGEST = 4.0, 512.0  # of a window
CAUTION = 144.0  # squared examples, of which limits are twice as wide
NARROWER = 0.5  # times the range of a window: a spread that is above it is too large
EVERYTHING = 3.4e38  # a bound, above all differences of numbers of single precision

LOW, HIGH, OUT, BOUND = range(4)  # columns of `window`, dense: l, h, values that were far off, the bound
USUAL, BEYOND, OUT, LENGTH = range(4)  # rare: largest |x| of usual values, of others, how many others, examples
NUMBERS, SINCE, WINDOW = range(3)  # places of the record of numbers to predict: how many, in this window, and its row


@inline_source
def caution(examples):
    """By how much wider limits are that so few examples set."""
    return 1.0 + CAUTION / (examples * examples)


@inline_source
def ends(length, seen):
    """Whether a window of this length ends with the example by which so many were seen."""
    return length >= min(max(0.5 * seen, SHORTEST), LONGEST)


@inline_source
def counted_deviation(window, change, variance, known):
    """How much of a deviation far from the mean counts, of what has this row of `window`."""
    size, counts = abs(change), change
    if known and size > window[BOUND]:
        window[OUT] += np.float32(1.0)
        counts = copysign(COUNTS_AS * sqrt(variance), change)
    elif WIDER * size > window[BOUND]:
        window[BOUND] = min(WIDER * size, EVERYTHING)
    return counts


@inline_source
def counted_value(window, x, largest, count):
    """How much of a value of a rare feature, in `count` examples before, counts."""
    size, counts = abs(x), x
    window[LENGTH] += np.float32(1.0)
    if count >= KNOWN_FROM and size > FAR * caution(count) * largest:
        window[OUT] += np.float32(1.0)
        window[BEYOND] = max(window[BEYOND], np.float32(size))
        counts = copysign(largest, x)
    else:
        window[USUAL] = max(window[USUAL], np.float32(size))
    return counts


@inline_source
def review_dense(window, mean, variance, length, seen):
    """Look, behind a window, whether the scale of a known dense feature is what it should be; mean and variance then."""
    low, high = np.float64(window[LOW]), np.float64(window[HIGH])
    wide = high - low
    limit = NARROWER * caution(length) * wide * seen / length
    if wide > 0.0 and (window[BOUND] >= EVERYTHING or variance > limit * limit):
        mean, variance, window[BOUND] = 0.5 * (low + high), wide * wide / 16.0, np.float32(0.0)
    return mean, variance


@inline_source
def begin_window(window, crowd):
    """Begin a window of a dense feature; all of it is believed where `crowd` values of the last were far off or more."""
    if window[OUT] > crowd:
        window[BOUND] = np.float32(EVERYTHING)
    window[LOW], window[HIGH], window[OUT] = np.float32(EVERYTHING), np.float32(-EVERYTHING), np.float32(0.0)


@inline_source
def review_rare(window, largest):
    """The largest |x| of a rare feature as it should be behind a window, which begins anew."""
    usual = np.float64(window[USUAL])
    if 2.0 * window[OUT] > window[LENGTH]:
        largest = np.float64(window[BEYOND])
    elif usual > 0.0 and largest > FAR * caution(window[LENGTH]) * usual:
        largest = usual
    for k in range(len(window)):
        window[k] = np.float32(0.0)
    return largest


@inline_source
def counted_gap(record, number, gap, variance, sound):
    """How much of a number's deviation from the mean counts; `sound` is whether the variance is more than rounding."""
    window, far, counts = record[WINDOW:], FAR * caution(max(record[NUMBERS], 1.0)), gap
    if gap * gap > far * far * variance:
        counts = counted_deviation(window, gap, variance, sound and record[NUMBERS] >= KNOWN_FROM)
    if counts == gap:
        window[LOW], window[HIGH] = min(window[LOW], number), max(window[HIGH], number)
    return counts


@inline_source
def reviewed_numbers(record, mean, variance):
    """Count a number; mean and variance as they should be, which is looked at where a window ends."""
    record[NUMBERS] += 1.0
    record[SINCE] += 1.0
    if ends(record[SINCE], record[NUMBERS]):
        if record[NUMBERS] >= KNOWN_FROM:
            mean, variance = review_dense(record[WINDOW:], mean, variance, record[SINCE], record[NUMBERS])
        begin_window(record[WINDOW:], 0.5 * record[SINCE])
        record[SINCE] = 0.0
    return mean, variance


def of_numbers(numbers: float = 0.0, bound: float = 0.0) -> np.ndarray:
    """A record (6,) of so many numbers, at the beginning of a window."""
    return np.array([numbers, 0.0, EVERYTHING, -EVERYTHING, 0.0, bound])


def of_new_dense(bounds: np.ndarray) -> np.ndarray:
    """Rows (n, 4) of `window` of features that turn dense, of which deviations up to these are believed."""
    rows = np.zeros((len(bounds), 4), np.float32)
    rows[:, LOW], rows[:, HIGH], rows[:, BOUND] = EVERYTHING, -EVERYTHING, np.minimum(bounds, EVERYTHING)
    return rows
