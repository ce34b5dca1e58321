"""Counts of pairs of rare tokens, such that no frequent pair is missed.

A pair of large mutual information is one of rare tokens: p(u, v) is at most the smaller of p(u) and p(v), within a
factor of the window's size. Such pairs hardly occur among negative examples, so that gradient steps give them small
weights, and they lose their place in an active set to frequent pairs. They are few, and can be counted instead.

Two stages, after Zhou et al. (2018), "Cold Filter: A Meta-Framework for Faster and More Accurate Stream Processing":
a pair enters a table of exact counts while there is room. Later, cells of one byte with conservative update (Estan &
Varghese 2002) stop the many pairs that occur a few times; one whose cells reach `ENTRY` takes the place of the pair in
the table that may have occurred least, if it may have occurred oftener. When the
cells are full, on average `FULL`, one is taken off each, and the floor rises by one (Misra & Gries 1982). With f the
floor and q what the cells say of a pair, it occurred f + q times at most, so that
    a pair in the table          occurred between c and c + m times: c counted, m = f + q when it entered;
    a pair outside of the table  occurred `lost` times at most: the largest f + q refused, or c + m that left.
Both hold for pairs of which neither token occurred more than `ceiling` times, whatever the order of the stream.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline, kernel
from ouzel.layout import int64, uint8, uint32
from ouzel.sketches import count_min, top_k
from ouzel.sketches.count_sketch import cell
from ouzel.sketches.counters import raised
from ouzel.sketches.hashing import tabulation
from ouzel.sketches.top_k import find, insert, replace, set_weight, smallest

DEPTH = 2  # rows of cells
ENTRY = 4  # what cells say of a pair that enters the table
FULL = 2  # mean of the cells, at which one is taken off each
RENEWED = 4  # times that stale pairs are looked for while as many pairs leave as the table has
COUNTED = 2**32 - 1  # where counts stop
MOST = 255  # where a cell stops: what it says is no bound then
PAIR = 20  # bytes of a pair in the table: id, bound, members, bound of what was missed


class State(NamedTuple):
    table: top_k.State  # weights: c + m; 0 of a pair with a token that is not rare any more
    missed: np.ndarray  # (k,) uint32  m: at most so many occurrences before a pair entered
    members: np.ndarray  # (k, 2) uint32  slots of the two tokens
    cells: np.ndarray  # (depth, width) uint8
    tables: np.ndarray  # (depth, 4, 256) uint32, of the hash functions: a constant of the seed
    often: np.ndarray  # (window - 1,) uint32  how often each token in the window had occurred
    totals: np.ndarray  # (4,) int64  floor f; sum of the cells; lost; pairs that left since stale ones were looked for


def layout(pairs: int, width: int, window: int) -> State:
    """Return the layout of a table of pairs with cells in front of it."""
    return State(
        table=top_k.layout(pairs, counting=True),
        missed=uint32(pairs),
        members=uint32(pairs, 2),
        cells=uint8(DEPTH, width),
        tables=uint32(DEPTH, 4, 256),
        often=uint32(window - 1),
        totals=int64(4),
    )


def begin(state: State, seed: int) -> None:
    """Empty the table, and set the hash functions by the seed."""
    top_k.begin(state.table)
    state.tables[...] = tabulation(DEPTH, seed ^ 0x5EED)


@force_inline
def _says(state, slot):
    """Return the value of the lowest cell of a pair."""
    least = np.int64(MOST)
    for r in range(state.cells.shape[0]):
        column, _ = cell(state.tables[r], slot, state.cells.shape[1])
        least = min(least, np.int64(state.cells[r, column]))
    return least


@force_inline
def _raise_cells(state, slot, says):
    """Raise the cells of a pair to at least a value."""
    says = min(says, np.int64(MOST))
    for r in range(state.cells.shape[0]):
        column, _ = cell(state.tables[r], slot, state.cells.shape[1])
        before = np.int64(state.cells[r, column])
        state.totals[1] += max(says - before, 0)
        state.cells[r, column] = np.uint8(max(says, before))


@force_inline
def count_pair(state, slot, first, second, most, often, ceiling):
    """Count an occurrence of a pair of rare tokens, which has occurred at most `most` times."""
    entry = find(state.table, slot)
    if entry >= 0 and state.table.weights[entry] > 0:
        set_weight(state.table, entry, raised(state.table.weights[entry], 1))
        return
    says = _says(state, slot)
    before = min(state.totals[0] + says, most - 1) if says < MOST else most - 1
    may_enter = says + 1 >= ENTRY or state.table.taken[0] < len(state.table.keys)
    if entry < 0 and may_enter and _enter(state, slot, first, second, before, says == MOST, often, ceiling):
        return
    _raise_cells(state, slot, says + 1)
    if state.totals[1] > FULL * state.cells.size:
        _lower(state)


@force_inline
def _enter(state, slot, first, second, before, unbounded, often, ceiling):
    """Insert a pair into the table if there is room or it may exceed the rarest; return whether it is in."""
    table = state.table
    bound = np.uint32(min(before + 1, np.int64(COUNTED)))
    if table.taken[0] < len(table.keys):
        entry = table.taken[0]
        insert(table, slot, bound)
    else:
        if state.totals[3] * RENEWED >= len(table.keys):
            _mark_stale(state, often, ceiling)
        entry = smallest(table)
        rarest = table.weights[entry]
        if rarest >= bound and not unbounded:
            state.totals[2] = max(state.totals[2], np.int64(bound))
            return False
        state.totals[3] += 1
        if rarest > 0:
            state.totals[2] = max(state.totals[2], np.int64(rarest))
            _raise_cells(state, table.keys[entry], np.int64(rarest) - state.totals[0])
        replace(table, entry, slot, bound)
    state.missed[entry] = bound - np.uint32(1)
    state.members[entry, 0] = first
    state.members[entry, 1] = second
    return True


@force_inline
def _mark_stale(state, often, ceiling):
    """Set the bound of pairs with a token that is no longer rare to 0, so that they are evicted first."""
    state.totals[3] = 0
    for entry in range(state.table.taken[0]):
        for side in range(2):
            if count_min.query(often, state.members[entry, side]) > ceiling:
                set_weight(state.table, entry, np.uint32(0))


@force_inline
def _lower(state):
    """Decrement all cells that are bounds, and raise the floor."""
    state.totals[0] += 1
    state.totals[1] = 0
    for r in range(state.cells.shape[0]):
        for column in range(state.cells.shape[1]):
            value = state.cells[r, column]
            value -= np.uint8((value > 0) & (value < MOST))
            state.cells[r, column] = value
            state.totals[1] += np.int64(value)


@kernel
def _write_bounds(state, slots, out):
    for k in range(len(slots)):
        says = _says(state, slots[k])
        if says < MOST:
            out[k] = min(out[k], state.totals[0] + says)


def missing(state: State) -> int:
    """Return an upper bound of the count of a pair of rare tokens that is not in the table."""
    return max(int(state.totals[2]), int(state.totals[0]) + ENTRY - 1)


def bounds_outside(state: State, slots: np.ndarray) -> np.ndarray:
    """Return upper bounds (n,) int64 of the counts of pairs of rare tokens, slots (n,) uint32, not in the table."""
    out = np.full(len(slots), missing(state), np.int64)
    _write_bounds(state, slots, out)
    return out
