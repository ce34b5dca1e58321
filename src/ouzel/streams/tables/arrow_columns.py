"""Fast reading of columns of numbers and words: column after column, then transposed to rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline, kernel
from ouzel.kernels.sort import AT_ONCE, TURN
from ouzel.streams.block import CACHE_LINE_PADDING, Names
from ouzel.streams.kernels.batch_hash import (
    ONE,
    ZERO,
    PendingHashes,
    allocate_names,
    hash_names,
    hash_update_bytes,
    put_hashed_name,
    put_name,
)
from ouzel.streams.kernels.lines import BLANK, trim_blanks
from ouzel.streams.kernels.new_names import NewNames, add_if_present, copy_names, read_only
from ouzel.streams.kernels.row_buffer import RANKED, allocate_ranking, rank_into, sort_row
from ouzel.streams.missing import NA_TOKENS, is_na_token
from ouzel.streams.tables.arrow_types import as_text, is_there, types
from ouzel.streams.tables.column_buffers import IS_NUMBER, KINDS, NONE, TILE, Layout, Rows
from ouzel.streams.tables.dictionary_columns import DecodedDictionary
from ouzel.streams.truth_values import SPELLINGS, is_large_truth

if TYPE_CHECKING:
    import pyarrow

SOME = np.uint64(256)  # cells that are hashed together, in the nearest cache
BEHIND = np.uint64(24)  # bytes from the start of a word that must exist to gather it without a loop
SPECIAL = np.uint8(1)  # a byte that begins or ends a word for missing or a truth value
ODD_FIRST, ODD_LAST = np.zeros((2, 256), np.uint8)
for _bytes, _place in ((ODD_FIRST, 0), (ODD_LAST, -1)):
    _bytes[[ord(word[_place]) for word in (*NA_TOKENS, *SPELLINGS)]] = SPECIAL
    _bytes[BLANK] = BLANK
EMPTY = np.frombuffer(bytes(1), np.uint8)[:0]
UNSOUND = np.int64(-1)


class PlainWords(NamedTuple):
    """A column of text: cell i is `data[offsets[i]:offsets[i + 1]]`, UTF-8, where it is valid."""

    offsets: np.ndarray  # (n + 1,) int32 or int64
    data: np.ndarray  # (bytes,) uint8
    valid: np.ndarray  # (n,) bool, or (0,) where all are


def plain_words_of(array: pyarrow.Array) -> PlainWords:
    """The text of an Arrow array that is no dictionary; text is not copied."""
    short = types.is_string(array.type) or types.is_binary(array.type)
    if not (short or types.is_large_string(array.type)):
        array = as_text(array)
    _, offsets, data = array.buffers()
    here = np.frombuffer(offsets, np.int32 if short else np.int64)[array.offset : array.offset + len(array) + 1]
    text = EMPTY if data is None else np.frombuffer(data, np.uint8)
    valid = is_there(array) if array.null_count else np.empty(0, np.bool_)
    return PlainWords(*map(read_only, (here, text, valid)))


@force_inline
def _is_word(data, start, stop):
    """Whether a span without blanks around it is a word, and not missing."""
    return start < stop and not is_na_token(data, np.int64(start), np.int64(stop))


@kernel
def _hash_words(words, layout, column, longest, mask, seen, pending, ids, new):
    """Write the id of each word, or of a missing one, to `ids` (n,); return how many words are new, and are missing.

    `seen` has the ids of those that are not new. Returns UNSOUND if a word has more than `longest` bytes, lies outside
    of the text, or is a truth value with capital letters.
    """
    offsets, data, valid = words
    some_are_null = len(valid) > 0
    size_of_text = np.uint64(len(data))
    near_end = max(size_of_text, BEHIND) - BEHIND  # from there on, words are gathered byte by byte
    word, tail, bits = layout.words[column], layout.tails[column], layout.bits[column]
    before = layout.ends[column + ONE] - layout.ends[column]
    nothing = layout.marks[column]
    count, lacking, n = ZERO, ZERO, np.uint64(len(ids))
    next_start, is_odd = np.uint64(offsets[0]), np.uint8(0)
    for first in range(ZERO, n, SOME):
        some = min(SOME, n - first)
        for k in range(some):
            start, stop = next_start, np.uint64(offsets[first + k + ONE])
            next_start = stop
            if (start > stop) | (stop > size_of_text):
                return UNSOUND, ZERO
            present = np.uint64(stop > start)
            if some_are_null:
                present &= np.uint64(valid[first + k])
            if start < near_end:
                at_start, at_end = ODD_FIRST[data[start]], ODD_LAST[data[max(stop, start + ONE) - ONE]]
                is_odd = (at_start & at_end & SPECIAL) | ((at_start | at_end) & BLANK)
            if start >= near_end or is_odd:
                start, stop = trim_blanks(data, start, stop)
                present &= np.uint64(_is_word(data, start, stop))
                if present and is_large_truth(data, start, stop):
                    return UNSOUND, ZERO
            size = stop - start
            if start < near_end:
                put_name(pending, k, word, tail, bits, data, start, max(size, ONE), before + size)
            else:
                hashed, rest, _ = hash_update_bytes(word, tail, bits, data, start, stop)
                put_hashed_name(pending, k, hashed, rest, before + size)
            if present & np.uint64(size > longest):
                return UNSOUND, ZERO
            ids[first + k] = present
        hash_names(pending, some)
        for k in range(some):
            identity, present = pending.hashes[k] & mask, np.uint64(ids[first + k])
            ids[first + k] = identity if present else nothing
            new[count] = first + k
            count += add_if_present(seen, identity, present)
            lacking += ONE - present
    return np.int64(count), lacking


@kernel
def _record_plain(words, layout, column, new, ids, spans):
    """Write the spans of the words in the cells `new` (k,); return the bytes of their names."""
    size = ZERO
    for k in range(len(new)):
        i = new[k]
        start, stop = trim_blanks(words.data, np.uint64(words.offsets[i]), np.uint64(words.offsets[i + ONE]))
        span = spans[k]
        span[0], span[1] = layout.ends[column], layout.ends[column + ONE]
        span[2], span[3], span[4] = start, stop, ids[i]
        size += span[1] - span[0] + stop - start
    return size


class PlainReader:
    """Reads columns of text with words of `longest` bytes at most and ids within `mask`."""

    def __init__(self, layout: Layout, longest: int, mask: np.uint32) -> None:
        self._layout, self._longest, self._mask = layout, np.uint64(longest), mask
        self._pending: PendingHashes | None = None

    def read(
        self, words: PlainWords, column: int, seen: np.ndarray, ids: np.ndarray, new: np.ndarray, spans: np.ndarray
    ) -> tuple[NewNames, bool] | None:
        """Write the ids of the cells of a column (n,); return the words that are not `seen`, and if any is missing.

        None if a cell must be refused. `new` (n,) uint64 and `spans` (n, SPAN) are scratch.
        """
        if self._pending is None:
            self._pending = allocate_names(int(SOME))
        place = np.uint64(column)
        room = seen, self._pending, ids, new
        count, lacking = _hash_words(words, self._layout, place, self._longest, self._mask, *room)
        if count < 0:
            return None
        size = int(_record_plain(words, self._layout, place, new[:count], ids, spans))
        return NewNames(self._layout.prefixes, words.data, spans[:count], size), lacking > 0


@kernel
def _pick(codes, cells, starts, ends, batch, seen, ids, new):
    """Write the ids of `codes` (n,), positions in `cells`; return how many words are new, and whether any is missing.

    Their cells are written to `new` (n,) first. `cells` (m, 2) are the ids, and the last batch that had each; a cell
    whose start (m,) is its end is missing.
    """
    used = count = lacking = ZERO
    for i in range(np.uint64(len(codes))):
        cell = np.uint64(codes[i])
        ids[i] = cells[cell, ZERO]
        new[used] = cell
        used += np.uint64(cells[cell, ONE] != batch)
        cells[cell, ONE] = batch
    for k in range(used):
        cell = new[k]
        present = np.uint64(starts[cell] < ends[cell])
        new[count] = cell
        count += add_if_present(seen, cells[cell, ZERO], present)
        lacking += ONE - present
    return count, lacking


@kernel
def _record_coded(starts, ends, cells, layout, column, new, spans):
    """Write the spans of the words in the cells `new` (k,); return the bytes of their names."""
    size = ZERO
    for k in range(len(new)):
        cell, span = new[k], spans[k]
        span[0], span[1] = layout.ends[column], layout.ends[column + ONE]
        span[2], span[3], span[4] = starts[cell], ends[cell], cells[cell, ZERO]
        size += span[1] - span[0] + span[3] - span[2]
    return size


class DictionaryReader:
    """Reads a dictionary column, whose dictionary is often that of the batch before."""

    def __init__(self, layout: Layout, column: int) -> None:
        self._layout, self._column = layout, np.uint64(column)
        self._known: DecodedDictionary | None = None
        self._cells = np.empty((0, 2), np.uint32)
        self._batch = 0

    def read(
        self,
        known: DecodedDictionary,
        codes: np.ndarray,
        seen: np.ndarray,
        ids: np.ndarray,
        new: np.ndarray,
        spans: np.ndarray,
    ) -> tuple[NewNames, bool]:
        """Write the ids of positions (n,) in a dictionary; return the words that are not `seen`, and if any is missing.

        `new` (n,) uint64 and `spans` (n, SPAN) are scratch.
        """
        starts, ends = known.cells.starts, known.cells.ends
        if self._known is not known:
            self._known, self._batch = known, 0
            self._cells = np.zeros((len(starts), 2), np.uint32)
            self._cells[:, 0] = np.where(starts < ends, known.cells.ids, self._layout.marks[self._column])
        self._batch += 1
        found = _pick(read_only(codes), self._cells, starts, ends, np.uint32(self._batch), seen, ids, new)
        count, lacking = map(int, found)
        size = int(_record_coded(starts, ends, self._cells, self._layout, self._column, new[:count], spans))
        return NewNames(self._layout.prefixes, known.text, spans[:count], size), lacking > 0


@kernel
def _transpose(layout, places, lacking, words, numbers, offsets, ids, values):
    """Write rows of features in canonical order; return how many features there are.

    `places` (columns,) are the positions of columns in `words` (m, n), ids or NONE, or in `numbers` (k, n); where one
    of these is NaN, its column is `lacking` (columns,) bool.
    """
    width, n = np.uint64(len(layout.kinds)), len(offsets) - 1
    height = max(1, TILE // max(1, len(layout.kinds)))  # rows that are transposed together, in the nearest cache
    tile_ids = np.zeros(height * len(layout.kinds) + AT_ONCE, np.uint32)
    tile_values = np.empty(height * len(layout.kinds), np.float32)
    ends = np.empty(height, np.uint64)
    _, _, ranks = allocate_ranking()
    filled = ZERO
    offsets[0] = 0
    for first in range(0, n, height):
        rows = np.uint64(min(height, n - first))
        for i in range(rows):
            ends[i] = i * width
        for column in range(width):
            place = places[column]
            if layout.kinds[column] == IS_NUMBER and lacking[column]:
                part = numbers[place, first:]
                for i in range(rows):
                    value, end = part[i], ends[i]
                    missing = value != value
                    tile_ids[end] = (layout.marks[column] if missing else layout.own[column]) ^ TURN
                    tile_values[end] = np.float32(1.0) if missing else value
                    ends[i] = end + np.uint64(value != 0.0)
            elif layout.kinds[column] == IS_NUMBER:
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
            else:  # many features, or one that occurs twice
                for k in range(count):
                    ids[filled + k], values[filled + k] = tile_ids[begun + k] ^ TURN, tile_values[begun + k]
                filled = np.uint64(sort_row(ids, values, np.int64(filled), np.int64(filled + count)))
            offsets[np.uint64(first) + i + ONE] = filled
    return filled


class ColumnRows:
    """Reads rows of numbers, and of words with `longest` bytes at most and ids within `mask`; see `layout_of`."""

    def __init__(self, layout: Layout, longest: int, mask: np.uint32) -> None:
        self._layout = layout
        self._plain = PlainReader(layout, longest, mask)
        self._coded: dict[int, DictionaryReader] = {}
        self._words, self._numbers = np.empty((0, 0), np.uint32), np.empty((0, 0), np.float32)
        self._scratch = np.empty(0, np.uint64)

    def read(
        self,
        rows: int,
        words: Mapping[int, PlainWords | tuple[DecodedDictionary, np.ndarray]],
        numbers: Mapping[int, tuple[np.ndarray, bool]],
        seen: np.ndarray,
        spans: np.ndarray,
    ) -> tuple[Rows, Names, np.ndarray] | None:
        """The features of rows, the names of words that are not yet `seen`, and a mask of columns that lack something.

        By their places, columns are text, dictionaries with the cell of each row (n,), or `numbers` (n,), each with
        whether any of them is NaN, which is missing; a number that is 0 is no feature. None if a cell must be refused.
        `spans` (cells, SPAN) is scratch.
        """
        if (
            rows > self._words.shape[1] - CACHE_LINE_PADDING
            or len(self._words) < len(words)
            or len(self._numbers) < len(numbers)
        ):
            self._words = np.empty((len(words), rows + CACHE_LINE_PADDING), np.uint32)
            self._numbers = np.empty((len(numbers), rows + CACHE_LINE_PADDING), np.float32)
            self._scratch = np.empty(rows, np.uint64)
        places, lacking = np.zeros(len(self._layout.kinds), np.int64), np.zeros(len(self._layout.kinds), np.bool_)
        parts: list[NewNames] = []
        filled = 0
        for place, (column, cells) in enumerate(words.items()):
            places[column] = place
            here, free = self._words[place, :rows], spans[filled:]
            if isinstance(cells, PlainWords):
                found = self._plain.read(cells, column, seen, here, self._scratch, free)
                if found is None:
                    return None
            else:
                known, codes = cells
                reader = self._coded.setdefault(column, DictionaryReader(self._layout, column))
                found = reader.read(known, codes, seen, here, self._scratch, free)
            names, lacking[column] = found
            parts.append(names)
            filled += len(names.spans)
        for place, (column, (values, lacking[column])) in enumerate(numbers.items()):
            self._numbers[place, :rows], places[column] = values, place
        size = rows * (len(words) + len(numbers))
        read = Rows(np.empty(rows + 1, np.uint64), np.empty(size, np.uint32), np.empty(size, np.float32))
        buffers = self._words[:, :rows], self._numbers[:, :rows]
        end = int(_transpose(self._layout, places, lacking, *buffers, *read))
        return Rows(read.offsets, read.ids[:end], read.values[:end]), copy_names(parts), lacking
