"""Counts of attributes: exact since an attribute entered the active set, bounds for the rows before.

The active set of the AWM-Sketch (Tai, Sharan, Bailis & Valiant 2018, section 8.1) holds an attribute only while its
weight is large, so counts of its rows begin when it enters. What came before is bounded by a Count-Min sketch
(Cormode & Muthukrishnan 2005) of two counters per cell, inliers and outliers, with conservative update (Estan &
Varghese 2002). It counts attributes outside of the active set alone, as a filter in front of a sketch does (Roy, Khan
& Alonso 2016, "Augmented Sketch"):
    an occurrence outside    raises the attribute's lowest cells by one;
    an attribute that enters notes what the cells say, m = (m0, m1), and counts c = (c0, c1) from then on;
    one that leaves          raises its cells to m + c.
Cells never say too little, so its true counts lie between c and c + m, whatever the order of the rows. One that enters
while there is room had not occurred before: m = 0, and its counts are exact.

The weight of an attribute in the active set is that of `ouzel.analytics.active_counts`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ouzel.analytics import active_counts
from ouzel.analytics.sketch import pair_slot
from ouzel.kernels.jit import force_inline, kernel
from ouzel.layout import int64, uint32
from ouzel.sketches.count_sketch import cell
from ouzel.sketches.counters import MOST, raised
from ouzel.sketches.hashing import tabulation
from ouzel.sketches.top_k import find

ENTRY = (
    active_counts.ENTRY + 20
)  # bytes of an attribute in the active set: with two counts, two bounds, first row counted
DEPTH = 2  # rows of the Count-Min sketch
PROBES = 1024  # slots that never occurred, by which collisions are measured
CELL = 8  # bytes of a cell: a counter of inliers, and one of outliers


class Entries(NamedTuple):
    """Counts of each attribute in the active set."""

    held: active_counts.ItemCounts
    counts: np.ndarray  # (k, 2) uint32  c: inliers and outliers since it entered
    missed: np.ndarray  # (k, 2) uint32  m: at most so many before
    since: np.ndarray  # (k,) uint32  the row, from 1, from which on it is counted
    origins: np.ndarray  # (k, 2) int64  where it stood in the block at work, for its name; -1 where named already


class Counts(NamedTuple):
    """Arrays next to the sketch of weights."""

    rows: np.ndarray  # (2,) int64  inliers and outliers
    cells: np.ndarray  # (depth, width, 2) uint32  of attributes outside of the active set
    tables: np.ndarray  # (depth, 4, 256) uint32, of the hash functions: a constant of the seed
    entries: Entries


def layout(entries: int, width: int) -> Counts:
    """Return the layout for an active set of `entries` attributes and a Count-Min sketch of `width` cells a row."""
    return Counts(
        rows=int64(2),
        cells=uint32(DEPTH, width, 2),
        tables=uint32(DEPTH, 4, 256),
        entries=Entries(
            held=active_counts.layout(entries),
            counts=uint32(entries, 2),
            missed=uint32(entries, 2),
            since=uint32(entries),
            origins=int64(entries, 2, fill=-1, least=-1, most=-1),
        ),
    )


def begin(counts: Counts, seed: int) -> None:
    """Set the hash functions by the seed, others than those of the sketch of weights."""
    counts.tables[...] = tabulation(DEPTH + 1, seed)[1:]


@force_inline
def bound(counts, slot, which):
    """Return an upper bound of the count of a slot outside the active set among inliers (0) or outliers (1)."""
    least = np.uint32(MOST)
    for r in range(counts.cells.shape[0]):
        column, _ = cell(counts.tables[r], slot, counts.cells.shape[1])
        least = min(least, counts.cells[r, column, which])
    return least


@force_inline
def raise_cells(counts, slot, which, count):
    """Raise the cells of a slot to at least `count`."""
    for r in range(counts.cells.shape[0]):
        column, _ = cell(counts.tables[r], slot, counts.cells.shape[1])
        counts.cells[r, column, which] = max(counts.cells[r, column, which], np.uint32(count))


@force_inline
def learn_attribute(state, slot, outlier, first, second, owners, counts, settings):
    """Learn one attribute of a row; if it is new to the active set, store its position in the block.

    `owners` (k,) are the slots of the active set before this attribute: the slot of the one that leaves is found there.
    """
    which = 1 if outlier else 0
    entries = counts.entries
    before = find(state, slot)
    room = state.taken[0] < len(state.keys)
    entry = active_counts.learn_counted(state, slot, outlier, entries.held, settings)
    if before >= 0:
        entries.counts[entry, which] = raised(entries.counts[entry, which], 1)
        return
    if entry < 0:
        raise_cells(counts, slot, which, raised(bound(counts, slot, which), 1))
        return
    for side in range(2):
        missed = np.uint32(0) if room else bound(counts, slot, side)
        if not room:
            last = raised(entries.counts[entry, side], entries.missed[entry, side])
            raise_cells(counts, owners[entry], side, last)
        entries.counts[entry, side] = 1 if side == which else 0
        entries.missed[entry, side] = missed
    owners[entry] = slot
    entries.since[entry] = np.uint32(min(counts.rows[0] + counts.rows[1], np.int64(MOST)))
    entries.origins[entry, 0] = first
    entries.origins[entry, 1] = second


@kernel
def learn_attributes(state, offsets, slots, outliers, conjunctions, balanced, owners, counts, settings):
    """Learn the attributes `slots[offsets[i]:offsets[i + 1]]` of rows i, each an inlier or an outlier."""
    for i in range(len(outliers)):
        counts.rows[1 if outliers[i] else 0] += 1
        if balanced:
            active_counts.balance(state, counts.entries.held, counts.rows[1], counts.rows[0], settings)
        for a in range(offsets[i], offsets[i + 1]):
            learn_attribute(state, slots[a], outliers[i], a, np.int64(-1), owners, counts, settings)
            if conjunctions:
                for b in range(a + 1, offsets[i + 1]):
                    learn_attribute(state, pair_slot(slots[a], slots[b]), outliers[i], a, b, owners, counts, settings)


@kernel
def _bounds(counts, slots, out):
    for k in range(len(slots)):
        for which in range(2):
            out[k, which] = bound(counts, slots[k], which)


def bounds(counts: Counts, slots: np.ndarray) -> np.ndarray:
    """Return upper bounds (n, 2) int64 of the inliers and outliers with slots (n,) uint32 outside the active set."""
    out = np.zeros((len(slots), 2), np.int64)
    _bounds(counts, slots, out)
    return out


def estimated_missed(counts: Counts, entries: np.ndarray) -> np.ndarray:
    """Estimate the inliers and outliers (n, 2) float64 that entries (n,) had before they were counted.

    What the cells say, less what they say of slots that never occurred: the median of those, which are collisions
    alone, and which had grown in proportion to the rows when an attribute entered.
    """
    strangers = np.random.Generator(np.random.PCG64(PROBES)).integers(1, 2**32, PROBES, np.uint32)
    noise = np.median(bounds(counts, strangers), axis=0)
    share = counts.entries.since[entries] / max(int(counts.rows.sum()), 1)
    return np.asarray(np.maximum(counts.entries.missed[entries] - noise * share[:, None], 0.0))
