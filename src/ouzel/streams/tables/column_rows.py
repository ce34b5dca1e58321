"""Rows of features of columns that are numbers or words, read for all columns at once, some rows at a time."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ouzel.kernels.jit import kernel
from ouzel.kernels.ranks import AT_ONCE, TURN
from ouzel.streams.block import Names
from ouzel.streams.row_order import RANKED, rank_into, ranking_room, sort_row
from ouzel.streams.tables.coded import Coded
from ouzel.streams.tables.coded_words import CodedReader
from ouzel.streams.tables.lanes import APART, TILE, Rows
from ouzel.streams.tables.plain_words import NONE, PlainReader, PlainWords
from ouzel.streams.tables.row_layout import IS_NUMBER, KINDS, Layout
from ouzel.streams.tables.told_names import Told, names_told
from ouzel.streams.text.spans import ONE, ZERO


@kernel
def _turn(layout, places, words, numbers, offsets, ids, values):
    """Rows of features in canonical order; how many features there are.

    `places` (columns,) are the rows of columns among those of `words` (m, n), ids or NONE, or `numbers` (k, n).
    """
    width, n = np.uint64(len(layout.kinds)), len(offsets) - 1
    height = max(1, TILE // max(1, len(layout.kinds)))  # rows that are turned together, in the nearest cache
    tile_ids = np.zeros(height * len(layout.kinds) + AT_ONCE, np.uint32)
    tile_values = np.empty(height * len(layout.kinds), np.float32)
    ends = np.empty(height, np.uint64)
    _, _, ranks = ranking_room()
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
                    tile_ids[end], tile_values[end] = layout.own[column] ^ TURN, value
                    ends[i] = end + np.uint64(value != 0.0)
            elif layout.kinds[column] < len(KINDS):
                found = words[place, first:]
                for i in range(rows):
                    identity, end = found[i], ends[i]
                    tile_ids[end], tile_values[end] = identity ^ TURN, np.float32(1.0)
                    ends[i] = end + np.uint64(identity != NONE)
        for i in range(rows):
            begun = i * width
            count = ends[i] - begun
            ranked = count <= np.uint64(RANKED)
            if ranked:
                ranked = rank_into(tile_ids, tile_values, begun, count, ranks, ids, values, filled)
            if ranked or count == ZERO:
                filled += count
            else:  # many features, or one that is there twice
                for k in range(count):
                    ids[filled + k], values[filled + k] = tile_ids[begun + k] ^ TURN, tile_values[begun + k]
                filled = np.uint64(sort_row(ids, values, np.int64(filled), np.int64(filled + count)))
            offsets[np.uint64(first) + i + ONE] = filled
    return filled


class ColumnRows:
    """Reads rows of numbers, and of words of `longest` bytes at most with ids within `mask`; see `layout_of`."""

    def __init__(self, layout: Layout, longest: int, mask: np.uint32) -> None:
        self._layout = layout
        self._plain = PlainReader(layout, longest, mask)
        self._coded: dict[int, CodedReader] = {}
        self._words, self._numbers = np.empty((0, 0), np.uint32), np.empty((0, 0), np.float32)
        self._new = np.empty(0, np.uint64)

    def read(
        self,
        rows: int,
        words: Mapping[int, PlainWords | tuple[Coded, np.ndarray]],
        numbers: Mapping[int, np.ndarray],
        noted: np.ndarray,
        told: np.ndarray,
    ) -> tuple[Rows, Names] | None:
        """The features of rows, and the names of words that are not yet `noted`; None if there is one to complain of.

        Columns, told by their places, are text, dictionaries with the cells that rows (n,) have, or `numbers` (n,), 0
        where there is none. `told` (cells, TOLD) is room.
        """
        if rows > self._words.shape[1] - APART or len(self._words) < len(words) or len(self._numbers) < len(numbers):
            self._words = np.empty((len(words), rows + APART), np.uint32)
            self._numbers = np.empty((len(numbers), rows + APART), np.float32)
            self._new = np.empty(rows, np.uint64)
        places = np.zeros(len(self._layout.kinds), np.int64)
        parts: list[tuple[int, Told]] = []
        filled = 0
        for place, (column, cells) in enumerate(words.items()):
            places[column] = place
            here, free = self._words[place, :rows], told[filled:]
            if isinstance(cells, PlainWords):
                found = self._plain.read(cells, column, noted, here, self._new, free)
                if found is None:
                    return None
            else:
                known, codes = cells
                reader = self._coded.setdefault(column, CodedReader(column))
                found = reader.read(known, codes, noted, here, self._new, free)
            parts.append((column, found))
            filled += found.words
        for place, (column, values) in enumerate(numbers.items()):
            self._numbers[place, :rows], places[column] = values, place
        room = rows * (len(words) + len(numbers))
        read = Rows(np.empty(rows + 1, np.uint64), np.empty(room, np.uint32), np.empty(room, np.float32))
        lanes = self._words[:, :rows], self._numbers[:, :rows]
        end = int(_turn(self._layout, places, *lanes, *read))
        names = names_told(self._layout, parts, told)
        return Rows(read.offsets, read.ids[:end], read.values[:end]), names
