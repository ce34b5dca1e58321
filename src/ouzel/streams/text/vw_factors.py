"""Which features of Vowpal Wabbit text others are made of: its namespaces are the fields."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ouzel.kernels.bytes import eight_bytes
from ouzel.kernels.jit import force_inline, kernel
from ouzel.streams.derived.factors import Entries, Factors, no_entries
from ouzel.streams.options import Options
from ouzel.streams.patterns import is_pattern

MOST_SPACES = 4096  # namespaces of a chunk
UNNAMED = " "  # what the namespace without a name is called
ZERO, ONE, THREE, EIGHT, WORD = (np.uint64(number) for number in (0, 1, 3, 8, 64))
ALL = np.uint64(2**64 - 1)


class Crossing(NamedTuple):
    """Room for the factors of a chunk, and the namespaces that others are made of."""

    entries: Entries  # as many as there are features, or none
    spaces: np.ndarray  # (MOST_SPACES, 4) uint64: where each namespace stands, whether it has a part, eight letters
    state: (
        np.ndarray
    )  # (4,) uint64: factors, namespaces, that of the present feature plus one if it has a part, its place
    names: np.ndarray  # (bytes,) uint8 of the namespaces that have a part
    ends: np.ndarray  # (k + 1,) uint64, where each of them ends
    all: bool  # whether all have


@force_inline
def _is_same(data, start, stop, text, first, last):
    if stop - start != last - first:
        return False
    same = ZERO
    for k in range(stop - start):
        same += np.uint64(data[start + k] == text[first + k])
    return same == stop - start


@kernel
def enter(crossing, data, start, stop):
    """Be in the namespace `data[start:stop]`; false if there are too many."""
    start, stop = np.uint64(start), np.uint64(stop)
    spaces, state = crossing.spaces, crossing.state
    count = state[1]
    place = state[3] + ONE
    if not (place < count and _is_same(data, start, stop, data, spaces[place, 0], spaces[place, 1])):
        place = ZERO
        while place < count and not _is_same(data, start, stop, data, spaces[place, 0], spaces[place, 1]):
            place += ONE
    if place == count:
        if count == MOST_SPACES:
            state[2] = ZERO
            return False
        part = crossing.all
        for k in range(len(crossing.ends) - 1):
            part |= _is_same(data, start, stop, crossing.names, crossing.ends[k], crossing.ends[k + 1])
        letters = ZERO
        for k in range(min(stop - start, EIGHT)):
            letters |= np.uint64(data[start + k]) << (k << THREE)
        spaces[place, 0], spaces[place, 1], spaces[place, 2], spaces[place, 3] = start, stop, part, letters
        state[1] = count + ONE
    state[2] = place + ONE if spaces[place, 2] else ZERO
    state[3] = place
    return True


@force_inline
def enter_next(crossing, data, start, size):
    """`enter`, of a namespace of `size` bytes, quickly where it is one of those that came behind the last one before.

    Eight bytes from its beginning must be there.
    """
    spaces, state = crossing.spaces, crossing.state
    if size > ZERO:
        letters = eight_bytes(data, start) & (ALL >> (WORD - (min(size, EIGHT) << THREE)))
        for place in range(state[3] + ONE, state[1]):
            first, last = spaces[place, 0], spaces[place, 1]
            if letters == spaces[place, 3] and _is_same(data, start, start + size, data, first, last):
                state[2] = place + ONE if spaces[place, 2] else ZERO
                state[3] = place
                return True
    return enter(crossing, data, start, start + size)


@force_inline
def begin_line(crossing, data, at):
    """Be in the namespace without a name, which is the first of a chunk."""
    if crossing.state[1] == ZERO:
        enter(crossing, data, at, at)
    crossing.state[2], crossing.state[3] = crossing.spaces[0, 2], ZERO


@force_inline
def put_factor(crossing, field, hashed, value, start, stop):
    """Take a feature of a namespace, its place plus one, whose name is the text from `start` to `stop`."""
    count = crossing.state[0]
    entries = crossing.entries
    entries.fields[count] = field - ONE
    entries.hashes[count] = hashed
    entries.values[count] = value
    entries.starts[count] = start
    entries.ends[count] = stop
    entries.whole[count] = False
    crossing.state[0] = count + ONE


def room_for(options: Options, data: np.ndarray, lines: int, features: int) -> Crossing:
    """Room for the factors of a chunk of so many lines and features; none if nothing is made of them."""
    wanted = options.derived.fields
    size = features if wanted else 0
    names = [b"" if name == UNNAMED else name.encode() for name in wanted if not is_pattern(name)]
    return Crossing(
        no_entries(lines, size, data),
        np.empty((MOST_SPACES, 4), np.uint64),
        np.zeros(4, np.uint64),
        np.frombuffer(b"".join(names) + b" ", np.uint8),
        np.cumsum([0, *map(len, names)]).astype(np.uint64),
        len(names) < len(wanted),
    )


def factors_in(crossing: Crossing, rows: int) -> Factors:
    """What was taken of so many rows."""
    entries, count = crossing.entries, int(crossing.state[0])
    spans = crossing.spaces[: int(crossing.state[1]), :2].tolist()
    names = [entries.text[start:stop].tobytes() for start, stop in spans]
    kept = Entries._make([entries.bounds[:rows], *(array[:count] for array in entries[1:-1]), entries.text])
    return Factors(
        kept,
        tuple(name.decode() or UNNAMED for name in names),
        tuple(name and name + b"^" for name in names),
    )
