"""Rows of features of numbers and of dictionaries, read for all columns at once, some rows at a time."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ouzel.kernels.bytes import COPIED
from ouzel.kernels.jit import kernel
from ouzel.sketches.hashing import MOST_ID
from ouzel.streams.block import Names
from ouzel.streams.row_order import rank_row, ranking_room
from ouzel.streams.tables.coded import Coded
from ouzel.streams.tables.lanes import APART, TILE, Rows
from ouzel.streams.tables.row_layout import IS_NUMBER, KINDS, Layout, names_of
from ouzel.streams.text.spans import ONE, ZERO, is_new

NONE = np.uint32(MOST_ID + 1)  # the id of nothing
NOTHING, WORD = np.uint32(0), np.uint32(1)  # what the mark of a cell says, or else the last batch that had its word


class Shelf(NamedTuple):
    """The cells of several dictionaries, one behind the other."""

    bases: np.ndarray  # (columns,) uint64, where those of a column begin
    cells: np.ndarray  # (cells, 2) uint32, the id of each, and its mark
    starts: np.ndarray  # (cells,) uint64, where its word starts
    ends: np.ndarray  # (cells,) uint64, and ends
    text: np.ndarray  # (bytes,) uint8, and COPIED more


def _shelf_of(dictionaries: Sequence[Coded]) -> Shelf:
    bases = np.cumsum([0, *(len(known.cells.ids) for known in dictionaries)]).astype(np.uint64)
    texts = [known.words.data for known in dictionaries]
    shifts = np.cumsum([0, *map(len, texts)]).astype(np.uint64)
    starts, ends = (
        np.concatenate([part + shift for part, shift in zip(parts, shifts[:-1], strict=True)])
        for parts in ([known.cells.starts for known in dictionaries], [known.cells.ends for known in dictionaries])
    )
    cells = np.empty((int(bases[-1]), 2), np.uint32)
    cells[:, 0] = np.concatenate([known.cells.ids for known in dictionaries])
    cells[:, 1] = np.where(starts < ends, WORD, NOTHING)
    return Shelf(bases[:-1], cells, starts, ends, np.concatenate([*texts, np.zeros(COPIED, np.uint8)]))


@kernel
def _pick(layout, places, codes, shelf, batch, noted, told):
    """Put ids, or NONE, in the place of `codes` (m, n); return how many words are not yet noted, which come to `told`.

    One column after the other, for the cells of one are in a near cache.
    """
    count = ZERO
    for column in range(np.uint64(len(layout.kinds))):
        if layout.kinds[column] >= len(KINDS) or layout.kinds[column] == IS_NUMBER:
            continue
        row, base = codes[places[column]], shelf.bases[places[column]]
        for i in range(np.uint64(len(row))):
            cell = base + np.uint64(row[i])
            identity, mark = shelf.cells[cell, ZERO], shelf.cells[cell, ONE]
            row[i] = NONE if mark == NOTHING else identity
            if mark != NOTHING and mark != batch:
                shelf.cells[cell, ONE] = batch
                if is_new(noted, identity):
                    word = told[count]
                    word[0], word[1], word[2], word[3] = column, identity, shelf.starts[cell], shelf.ends[cell]
                    count += ONE
    return count


@kernel
def _read(layout, places, codes, numbers, shelf, batch, noted, offsets, ids, values, told):
    """Rows of features in canonical order: (features, words not yet noted).

    `places` (columns,) are the rows of columns among those of `codes` (m, n), which is written over, or `numbers`
    (k, n), and `batch` a number for these rows alone. `noted` has the ids of words met so far, see `is_new`; others
    come to `told`.
    """
    count = _pick(layout, places, codes, shelf, batch, noted, told)
    width, n = np.uint64(len(layout.kinds)), len(offsets) - 1
    height = max(1, TILE // max(1, len(layout.kinds)))  # rows that are turned together, in the nearest cache
    tile_ids, tile_values = np.empty(height * width, np.uint32), np.empty(height * width, np.float32)
    ends, ranking = np.empty(height, np.uint64), ranking_room()
    filled = ZERO
    offsets[0] = 0
    for first in range(0, n, height):
        rows = np.uint64(min(height, n - first))
        for i in range(rows):
            ends[i] = i * width
        for column in range(width):
            place = places[column]
            if layout.kinds[column] == IS_NUMBER:
                part = numbers[place, first:]
                for i in range(rows):
                    value, end = part[i], ends[i]
                    tile_ids[end], tile_values[end] = layout.own[column], value
                    ends[i] = end + np.uint64(value != 0.0)
            elif layout.kinds[column] < len(KINDS):
                found = codes[place, first:]
                for i in range(rows):
                    identity, end = found[i], ends[i]
                    tile_ids[end], tile_values[end] = identity, np.float32(1.0)
                    ends[i] = end + np.uint64(identity != NONE)
        for i in range(rows):
            begun, previous, ordered = filled, np.int64(-1), True
            for k in range(i * width, ends[i]):
                identity = tile_ids[k]
                ordered &= np.int64(identity) > previous
                previous = np.int64(identity)
                ids[filled], values[filled] = identity, tile_values[k]
                filled += ONE
            if not ordered:
                filled = np.uint64(rank_row(ids, values, np.int64(begun), np.int64(filled), ranking))
            offsets[np.uint64(first) + i + ONE] = filled
    return filled, count


class CodedRows:
    """Reads rows of numbers and of dictionaries, see `layout_of`."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._dictionaries: list[Coded] = []  # of the shelf
        self._shelf = Shelf(*(np.empty(0) for _ in Shelf._fields))
        self._batch = int(WORD)
        self._codes, self._numbers = np.empty((0, 0), np.uint32), np.empty((0, 0), np.float32)

    def read(
        self,
        rows: int,
        coded: Mapping[int, tuple[Coded, np.ndarray]],
        numbers: Mapping[int, np.ndarray],
        noted: np.ndarray,
        told: np.ndarray,
    ) -> tuple[Rows, Names]:
        """The features of rows, and the names of words that are not yet `noted`.

        Columns, told by their places, are dictionaries with the cells that rows (n,) have, or `numbers` (n,), 0 where
        there is none. `told` (cells, TOLD) is room.
        """
        dictionaries = [known for known, _ in coded.values()]
        if not (self._dictionaries and all(map(operator.is_, self._dictionaries, dictionaries))):
            self._shelf, self._dictionaries, self._batch = _shelf_of(dictionaries), dictionaries, int(WORD)
        self._batch += 1
        if rows > self._codes.shape[1] - APART or len(self._codes) + len(self._numbers) < len(coded) + len(numbers):
            self._codes = np.empty((len(coded), rows + APART), np.uint32)
            self._numbers = np.empty((len(numbers), rows + APART), np.float32)
        places = np.zeros(len(self._layout.kinds), np.int64)
        for place, (column, (_, codes)) in enumerate(coded.items()):
            self._codes[place, :rows], places[column] = codes, place
        for place, (column, values) in enumerate(numbers.items()):
            self._numbers[place, :rows], places[column] = values, place
        room = rows * (len(coded) + len(numbers))
        read = Rows(np.empty(rows + 1, np.uint64), np.empty(room, np.uint32), np.empty(room, np.float32))
        lanes = self._codes[:, :rows], self._numbers[:, :rows]
        asked = self._layout, places, *lanes, self._shelf, np.uint32(self._batch), noted
        filled, count = map(int, _read(*asked, *read, told))
        names = names_of(self._layout, self._shelf.text, told[:count])
        return Rows(read.offsets, read.ids[:filled], read.values[:filled]), names
