"""Values far outside of what a feature has had, and how little they count in its mean, spread and largest value.

A stray 999999 would otherwise set the unit of its column for good. What the models see of it is bounded by
`standardisation.py`; where no spread explains it, they see the mean. Limits that few examples have set are wider by
the factor c(n) = 1 + 144 / n^2.

Dense features, of mean m and variance v after t >= 8 examples: a value is far off where |x - m| is above both 20 c(t)
sqrt(v) and the feature's bound, and |z| above 2.5 (which it is, if rows have the constant feature), unless rounding is
all that v comes from. It counts as m + 3 sqrt(v) or m - 3 sqrt(v), in single precision; the models see it as 3 or -3,
but as 0, the mean, where |x - m| is above 1,000 c(t) sqrt(v) too. Where a value is not far off though |x - m| is above
20 c(t) sqrt(v), and |z| above 2.5, for any t, the bound becomes 4 |x - m| if it was less: in a column of ones, zeros
are none. A feature that turns dense has the bound 0, or, if there were zeros among its values, the largest |x| + |m|.
Whether scales are what they should be is looked at behind every window of examples, where m and v have taken note of
the last: windows end at t = 4, 8, 16, and so on to 512, and then every 512 examples; where earlier examples fade or
workers are merged, behind w examples where w >= min(max(t / 2, 4), 512). l and h are the smallest and largest of the
values as they count, of each example up to t = 512, and then of those of which t is a multiple of 16. Where t >= 8 and
h > l, m becomes (l + h) / 2 and v becomes (h - l)^2 / 16, the bound 0, if sqrt(v) > c(s) (h - l) t / (2 w), where s =
w up to t = 512 and w / 16 then, or if all of the window was believed; and where more than half of a window was far
off, all of the next is believed. So a scale that a stray value has set comes down, and a column that changes its unit
is followed, up or down.

Rare features, of largest |x| n after being in k examples: a value is far above where k >= 8 and |x| > 20 c(k) n,
and counts as n or -n; it is far below where 20 c(k) |x| < n. If values of a feature have been far above, or far
below, in as many examples in a row (of those that it is in) as min(max(k / 2, 8), 512), n becomes the largest |x|
of those, and before the present one counts the sum of x is cut to n k and that of x^2 to n^2 k, where n fell.

Numbers to predict go by the rule for dense features, all of them in l and h, but are far off from 100 c(t) sqrt(v)
on: spikes are what some of them are about (`counted_gap`, `reviewed_numbers`).
"""

from __future__ import annotations

from math import copysign, sqrt

import numpy as np

from ouzel.kernels.jit import force_inline, inline_source
from ouzel.layout import MOST_NUMBER

FAR = 20.0  # standard deviations from the mean, or times the largest |x|
FAR_NUMBER = 100.0  # standard deviations from the mean, of a number to predict
WIDER = 4.0  # times the largest deviation beyond that which was believed: such deviations are believed again
HIGH_Z = 2.5  # z, the example itself in the moments: of a value that is far off it is higher
HIGHER_Z, HIGHER_FROM = 10.0, 512.0  # z above which it is too, at least, from so many centred examples on
COUNTS_AS = 3.0  # standard deviations from the mean
STRIKING = 1000.0  # times the usual size: a line is shown, and models see the mean
KNOWN_FROM = 8.0  # examples
SHORTEST, LONGEST = 4.0, 512.0  # of a window
CAUTION = 144.0  # squared examples, of which limits are twice as wide
NARROWER = 0.5  # times the range of a window: a spread that is above it is too large
EVERYTHING = 3.4e38  # a bound, above all differences of numbers of single precision

LOW, HIGH, OUT, BOUND = range(4)  # columns of `window`, dense: l, h, values that were far off, the bound
NEXT, LENGTH, SIZE, SIDE = range(4)  # rare, a run: the count at which it goes on, its length, largest |x|, 1 or -1
ROUND = 65536.0  # to which counts are told apart
ALL_UNTIL, EVERY = 512.0, 16  # examples, of which all are samples of dense features, and then one in so many
NUMBERS, SINCE, WINDOW = range(3)  # places of the record of numbers to predict: how many, in this window, and its row


@force_inline
def caution(examples):
    """By how much wider limits are that so few examples set."""
    return 1.0 + CAUTION / (examples * examples)


@inline_source
def high_from(seen, centred):
    """From which |z| on, not cut, a value may be far off: d standard deviations are z = d / sqrt(1 + d^2 / t) at t."""
    return HIGHER_Z if centred and seen >= HIGHER_FROM else HIGH_Z


@inline_source
def ends(length, seen):
    """Whether a window of this length ends with the example by which so many were seen."""
    return length >= min(max(0.5 * seen, SHORTEST), LONGEST)


@inline_source
def is_sample(seen):
    """Whether the values of dense features in this example count in the range of a window."""
    return seen <= ALL_UNTIL or np.int64(seen) % EVERY == 0


@inline_source
def samples_of(length, seen):
    """How many examples of a window were samples."""
    return length if seen <= ALL_UNTIL else length / EVERY


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
def in_run(window, size, count, side):
    """Whether a rare feature has had enough values in a row far above its largest |x|, or far below.

    `count` are the examples that it was in before, `side` is 1 or -1; `window[SIZE]` is then the largest |x| of those.
    """
    here = np.float32(count % ROUND)
    if window[NEXT] != here or window[SIDE] * side <= 0.0:
        window[LENGTH], window[SIZE], window[SIDE] = np.float32(0.0), np.float32(0.0), np.float32(side)
    window[LENGTH] += np.float32(1.0)
    window[SIZE], window[NEXT] = max(window[SIZE], np.float32(size)), np.float32((count + 1.0) % ROUND)
    return window[LENGTH] >= min(max(0.5 * count, KNOWN_FROM), LONGEST)


@inline_source
def review_dense(window, mean, variance, length, seen, samples):
    """Mean and variance of a known dense feature as they should be behind a window."""
    low, high = np.float64(window[LOW]), np.float64(window[HIGH])
    wide = high - low
    limit = NARROWER * caution(samples) * wide * seen / length
    if wide > 0.0 and (window[BOUND] >= EVERYTHING or variance > limit * limit):
        mean, variance, window[BOUND] = 0.5 * (low + high), wide * wide / 16.0, np.float32(0.0)
    return mean, variance


@inline_source
def begin_window(window, crowd):
    """Begin a window of a dense feature; all of it is believed where more than `crowd` of the last were far off."""
    if window[OUT] > crowd:
        window[BOUND] = np.float32(EVERYTHING)
    window[LOW], window[HIGH], window[OUT] = np.float32(EVERYTHING), np.float32(-EVERYTHING), np.float32(0.0)


@inline_source
def counted_gap(record, number, gap, variance, sound):
    """How much of a number's deviation from the mean counts; `sound` is whether the variance is more than rounding."""
    window, far, counts = record[WINDOW:], FAR_NUMBER * caution(max(record[NUMBERS], 1.0)), gap
    if gap * gap > far * far * variance:
        counts = counted_deviation(window, gap, variance, sound and record[NUMBERS] >= KNOWN_FROM)
    if counts == gap:
        number = min(max(number, -MOST_NUMBER), MOST_NUMBER)
        window[LOW], window[HIGH] = min(window[LOW], number), max(window[HIGH], number)
    return counts


@inline_source
def reviewed_numbers(record, mean, variance):
    """Count a number; mean and variance as they should be, which is looked at where a window ends."""
    record[NUMBERS] += 1.0
    record[SINCE] += 1.0
    if ends(record[SINCE], record[NUMBERS]):
        if record[NUMBERS] >= KNOWN_FROM:
            mean, variance = review_dense(
                record[WINDOW:], mean, variance, record[SINCE], record[NUMBERS], record[SINCE]
            )
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
