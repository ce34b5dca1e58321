"""A CountSketch whose counters may be small, shrink together, and have sums of squares beside them.

What Tai, Sharan, Bailis & Valiant (2018), "Sketching Linear Classifiers over Data Streams", suggest for theirs in
sections 6.1 and 9; `count_sketch` is the one without.

Small counters are whole numbers of 8 or 16 bits, in a unit common to all. A change is rounded at random (Raghavan &
Tompson 1987): up with the probability of the part that is cut off, so that its mean is right. Where a counter would
pass the largest number, the unit doubles as often as it takes, and all counters are rounded to it at random.

Shrinking: that all counters go nearer to zero by some length, and stop there, costs nothing when it happens. A counter
v is written as v + sign(v) owed, where `owed` adds up all lengths, and reads as what is left beyond that.

Squares: those of a feature are added to each of its counters' sums; the least of these is its own or more (CountMin).
"""

from __future__ import annotations

from math import copysign, floor
from typing import Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline
from ouzel.layout import Array, float32, float64, uint32, uint64
from ouzel.sketches import reservoir
from ouzel.sketches.count_sketch import cell, median
from ouzel.sketches.hashing import tabulation
from ouzel.sketches.reservoir import random_word

WHOLE = {8: np.int8, 16: np.int16}
SMALLEST_UNIT = 2.0**-40
MOST_OWED = 1e30


class State(NamedTuple):
    numbers: Any  # (depth, width) float32, int16 or int8  the counters, in units
    squares: np.ndarray  # (depth, width) float32  sums of squares; empty without
    tables: np.ndarray  # (depth, 4, 256) uint32, of the hash functions: a constant of the seed
    said: np.ndarray  # (depth,) float32, what the rows say, for `query`
    grid: np.ndarray  # (3,) float64  the unit; what is owed; the largest whole number, 0 where any number goes
    random: np.ndarray  # (2,) uint64  nothing; state of the random numbers


def layout(width: int, depth: int, bits: int = 32, squares: bool = False) -> State:
    """What a sketch of counters of so many bits is made of."""
    most = float(2 ** (bits - 1) - 1) if bits in WHOLE else 0.0
    least, highest = ((SMALLEST_UNIT, 0.0, most), (MOST_OWED, 0.0, most)) if most else ((1.0, 0.0, 0.0),) * 2
    whole = Array((depth, width), WHOLE.get(bits, np.int8), least=-most, most=most)
    return State(
        numbers=whole if most else float32(depth, width),
        squares=float32(*(depth, width) if squares else (0, 0), least=0.0),
        tables=uint32(depth, 4, 256),
        said=float32(depth, scratch=True),
        grid=float64(3, least=least, most=highest if most else (1.0, MOST_OWED, 0.0)),
        random=uint64(2),
    )


def begin(state: Any, seed: int) -> None:
    """Hash and round as the seed says."""
    whole = state.numbers.dtype != np.float32
    state.tables[...] = tabulation(len(state.tables), seed)
    state.grid[:] = (SMALLEST_UNIT, 0.0, np.iinfo(state.numbers.dtype).max) if whole else (1.0, 0.0, 0.0)
    reservoir.begin(state.random, seed)


@force_inline
def soften(number, owed):
    """What a written number reads as: nearer to zero by what is owed."""
    return number - min(max(number, -owed), owed)


@force_inline
def harden(number, owed):
    """What to write for a number so that it reads right."""
    return number + np.float32(copysign(owed, number)) if number != 0.0 else number


@force_inline
def read(state, r, column):
    """One counter."""
    return soften(np.float32(state.numbers[r, column]) * np.float32(state.grid[0]), np.float32(state.grid[1]))


@force_inline
def query(state, key):
    """The estimate of a coordinate: the median over rows."""
    for r in range(len(state.said)):
        column, sign = cell(state.tables[r], key, state.numbers.shape[1])
        state.said[r] = sign * read(state, r, column)
    return median(state.said)


@force_inline
def mean(state, key):
    """The mean over rows."""
    total = np.float32(0.0)
    for r in range(len(state.said)):
        column, sign = cell(state.tables[r], key, state.numbers.shape[1])
        total += sign * read(state, r, column)
    return total / np.float32(len(state.said))


@force_inline
def update(state, key, change):
    """Move a coordinate by `change`, and its estimate by that or, with small counters, by that in the mean."""
    for r in range(len(state.said)):
        column, sign = cell(state.tables[r], key, state.numbers.shape[1])
        if state.grid[2] > 0.0:
            _add_whole(state, r, column, np.float64(sign * change))
        else:
            after = read(state, r, column) + sign * change
            state.numbers[r, column] = harden(after, np.float32(state.grid[1]))


@force_inline
def _uniform(state):
    """A random number from 0 to 1."""
    return np.float64(random_word(state.random) >> np.uint64(11)) / 9007199254740992.0


@force_inline
def _add_whole(state, r, column, change):
    """Move one small counter: by whole units, and one more with the probability of the rest."""
    most = state.grid[2]
    if abs(state.numbers[r, column] + change / state.grid[0]) > most - 1.0:
        _widen(state, state.numbers[r, column] + change / state.grid[0])
    steps = change / state.grid[0]
    after = state.numbers[r, column] + copysign(floor(abs(steps) + _uniform(state)), steps)
    state.numbers[r, column] = min(max(after, -most), most)


@force_inline
def _widen(state, wanted):
    """Double the unit until so many units are within the largest number."""
    factor = 1.0
    while abs(wanted) * factor > state.grid[2] - 1.0:
        factor *= 0.5
    for r in range(state.numbers.shape[0]):
        for column in range(state.numbers.shape[1]):
            number = np.float64(state.numbers[r, column])
            state.numbers[r, column] = copysign(floor(abs(number) * factor + _uniform(state)), number)
    state.grid[0] /= factor


@force_inline
def add_square(state, key, square):
    """Add to the sums of squares of a key; return its own, or what the others in its counters make of it."""
    least = np.float32(np.inf)
    for r in range(len(state.said)):
        column, _ = cell(state.tables[r], key, state.numbers.shape[1])
        state.squares[r, column] += np.float32(square)
        least = min(least, state.squares[r, column])
    return least


@force_inline
def raise_squares(state, key, square):
    """Let the sums of squares of a key be no less than this."""
    for r in range(len(state.said)):
        column, _ = cell(state.tables[r], key, state.numbers.shape[1])
        state.squares[r, column] = max(state.squares[r, column], square)


@force_inline
def rescale(state, factor):
    """Multiply every counter, and what is owed, by a factor from 0 to 1."""
    if state.grid[2] > 0.0:
        state.grid[0] = max(state.grid[0] * factor, SMALLEST_UNIT)
        return
    for r in range(state.numbers.shape[0]):
        for column in range(state.numbers.shape[1]):
            state.numbers[r, column] *= np.float32(factor)
    state.grid[1] *= factor


@force_inline
def settle(state):
    """Write every counter as it reads; nothing is owed then."""
    owed = np.float32(state.grid[1])
    for r in range(state.numbers.shape[0]):
        for column in range(state.numbers.shape[1]):
            state.numbers[r, column] = soften(np.float32(state.numbers[r, column]), owed)
    state.grid[1] = 0.0


def table(state: Any) -> np.ndarray:
    """Counters (depth, width) as they read, in double precision."""
    numbers = state.numbers * state.grid[0]
    return numbers - np.clip(numbers, -state.grid[1], state.grid[1])


def write(state: Any, counters: np.ndarray) -> None:
    """Let the sketch have these counters (depth, width), small ones to half a unit."""
    most, largest = state.grid[2], abs(counters).max(initial=0.0)
    if most:
        state.grid[0] = max(largest / (most - 1.0), SMALLEST_UNIT)
        counters = np.rint(counters / state.grid[0])
    state.grid[1] = 0.0
    state.numbers[...] = counters


def bytes_used(state: Any) -> int:
    """Of the counters and the sums of squares."""
    return int(state.numbers.nbytes + state.squares.nbytes)
