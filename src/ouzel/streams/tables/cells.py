"""Cells of text columns as features: numbers by value, words by the hash of `column=word`, text by its tokens."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow.compute as compute

from ouzel.kernels.jit import force_inline, kernel
from ouzel.sketches.hashing import murmur3_32
from ouzel.streams.block import LARGEST
from ouzel.streams.missing import says_nothing
from ouzel.streams.tables.arrow_types import as_text, is_number, numbers_of
from ouzel.streams.text.numbers import parse_number

NOT_FINITE, TOO_LONG, NOT_A_DATE = np.uint8(1), np.uint8(2), np.uint8(3)  # what is wrong with a cell
NO_MARK = np.empty(0, np.uint8)
INFINITY = np.frombuffer(b"infinity", np.uint8)


class Words(NamedTuple):
    """A column of text: cell i is `data[offsets[i]:offsets[i + 1]]`, UTF-8, where `valid[i]`."""

    offsets: np.ndarray  # (n + 1,) int64
    data: np.ndarray  # (bytes,) uint8
    valid: np.ndarray  # (n,) bool


class Spans(NamedTuple):
    """Features named by text: feature k has the name `text[starts[k]:ends[k]]` unless that is empty."""

    ids: np.ndarray  # (k,) uint32
    starts: np.ndarray  # (k,) uint64
    ends: np.ndarray  # (k,) uint64
    text: np.ndarray  # (bytes,) uint8


def words_of(array: Any) -> Words:
    """The text of an Arrow array of any type."""
    array = as_text(array)
    if not len(array):
        return Words(np.zeros(1, np.int64), np.empty(0, np.uint8), np.empty(0, np.bool_))
    _, offsets, data = array.buffers()
    here = np.frombuffer(offsets, np.int64)[array.offset : array.offset + len(array) + 1]
    text = np.empty(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
    check_offsets(here, len(array), len(text))
    return Words(here, text, array.is_valid().to_numpy(zero_copy_only=False))


def check_offsets(offsets: np.ndarray, rows: int, size: int) -> None:
    """Raise ValueError unless offsets (rows + 1,) ascend within `size` entries: kernels have no checks of bounds."""
    sound = len(offsets) == rows + 1 and offsets[0] >= 0 and offsets[-1] <= size and (offsets[1:] >= offsets[:-1]).all()
    if not sound:
        raise ValueError(f"offsets of {rows} cells do not ascend within the {size} entries that there are")


@force_inline
def _append(text, filled, more, start, stop):
    """Copy `more[start:stop]` behind what `text` holds; return the new end."""
    for k in range(start, stop):
        text[filled] = more[k]
        filled += 1
    return filled


@force_inline
def says_infinite(data, start, stop):
    """Whether a cell is `inf` or `infinity`, in letters of any case, with a sign or without."""
    if data[start] == 43 or data[start] == 45:
        start += 1
    if stop - start != 3 and stop - start != 8:
        return False
    same = 0
    for k in range(stop - start):
        same += data[start + k] | 32 == INFINITY[k]
    return same == stop - start


@kernel
def read_cells(
    words, prefix, own_id, numeric, mark, longest, seed, mask, ids, values, present, refused, starts, ends, text
):
    """Write id, value and presence of each cell, and the names of words to `text`.

    A cell that reads as a number (if `numeric`) is the value of feature `own_id`; any other is `prefix` and the cell,
    hashed, with value 1. Blanks around a cell do not count. A missing cell is absent or, unless the `mark` is empty,
    read as the mark. `refused` (n,) uint8 says what is wrong: NOT_FINITE of a number, TOO_LONG of a word of more than
    `longest` bytes.
    """
    filled = 0
    for i in range(len(words.valid)):
        present[i] = False
        starts[i] = ends[i] = filled
        data = words.data
        start, stop = words.offsets[i], words.offsets[i + 1]
        while start < stop and data[start] == 32:
            start += 1
        while stop > start and data[stop - 1] == 32:
            stop -= 1
        missing = start == stop or not words.valid[i]
        if numeric and not missing:
            value, end = parse_number(data, start, stop)
            if end == stop and abs(value) <= LARGEST:
                ids[i] = own_id
                values[i] = value
                present[i] = value != 0.0
                continue
            if end == stop or says_infinite(data, start, stop):
                refused[i] = NOT_FINITE
                continue
        missing = missing or says_nothing(data, start, stop)
        if missing and not len(mark):
            continue
        if not missing and stop - start > longest:
            refused[i] = TOO_LONG
            continue
        filled = _append(text, filled, prefix, 0, len(prefix))
        filled = _append(text, filled, mark, 0, len(mark)) if missing else _append(text, filled, data, start, stop)
        ends[i] = filled
        ids[i] = murmur3_32(text, starts[i], filled, seed) & mask
        values[i] = 1.0
        present[i] = True


@kernel
def _is_word(byte):
    """Whether a byte belongs to a word: a letter, a digit, an apostrophe, or part of a letter beyond ASCII."""
    return 97 <= byte <= 122 or 65 <= byte <= 90 or 48 <= byte <= 57 or byte == 39 or byte >= 128


@kernel
def read_tokens(words, prefix, longest, seed, mask, refused):
    """Tokens of each cell, in lower case: (offsets (n + 1,), ids, starts, ends, text).

    `refused` (n,) uint8 becomes TOO_LONG where one has more than `longest` bytes.
    """
    size = 0
    for i in range(len(words.valid)):
        size += words.offsets[i + 1] - words.offsets[i]
    text = np.empty(size * (1 + len(prefix)) + len(prefix), np.uint8)
    ids = np.empty(size // 2 + len(words.valid) + 1, np.uint32)
    starts = np.empty(len(ids), np.uint64)
    ends = np.empty(len(ids), np.uint64)
    offsets = np.zeros(len(words.valid) + 1, np.int64)
    filled = count = 0
    for i in range(len(words.valid)):
        at = words.offsets[i]
        while words.valid[i] and at < words.offsets[i + 1]:
            if not _is_word(words.data[at]):
                at += 1
                continue
            begun = filled
            filled = _append(text, filled, prefix, 0, len(prefix))
            while at < words.offsets[i + 1] and _is_word(words.data[at]):
                byte = words.data[at]
                text[filled] = byte + 32 if 65 <= byte <= 90 else byte
                filled += 1
                at += 1
            if filled - begun > longest + len(prefix):
                refused[i] = TOO_LONG
            starts[count] = begun
            ends[count] = filled
            ids[count] = murmur3_32(text, begun, filled, seed) & mask
            count += 1
        offsets[i + 1] = count
    return offsets, ids[:count], starts[:count], ends[:count], text


def read_list(
    array: Any, words: Words, prefix: np.ndarray, longest: int, seed: int, mask: np.uint32, refused: np.ndarray
) -> tuple[np.ndarray, ...]:
    """The items of lists, whose text is `words`, each hashed behind the prefix: as `read_tokens` gives them."""
    n = len(words.valid)
    lengths = compute.list_value_length(array).fill_null(0).to_numpy(zero_copy_only=False)
    rows = np.concatenate([[0], np.cumsum(lengths)])
    check_offsets(rows, len(array), n)
    ids, values, present = np.empty(n, np.uint32), np.empty(n, np.float32), np.empty(n, np.bool_)
    starts, ends = np.empty(n, np.uint64), np.empty(n, np.uint64)
    wrong = np.zeros(n, np.uint8)
    text = np.empty(int(words.offsets[-1] - words.offsets[0]) + n * len(prefix), np.uint8)
    out = ids, values, present, wrong, starts, ends, text
    read_cells(words, prefix, np.uint32(0), False, NO_MARK, longest, seed, mask, *out)
    if is_number(array.type.value_type):
        wrong[np.abs(numbers_of(array.flatten(), 0.0)) > LARGEST] = NOT_FINITE  # what is not a number is missing
    if wrong.any():
        for kind in (NOT_FINITE, TOO_LONG):
            refused[any_in_row(wrong == kind, rows)] = kind
    counted = np.concatenate([[0], np.cumsum(present)])
    return counted[rows].astype(np.int64), ids[present], starts[present], ends[present], text


def any_in_row(flags: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Whether any entry of each row is so."""
    return np.diff(np.concatenate([[0], np.cumsum(flags)])[offsets]) > 0


@kernel
def join_rows(offsets, ids, values, more_offsets, more_ids):
    """Rows with the features of two sets of rows; those of the second have the value 1."""
    n = len(offsets) - 1
    joined_offsets = np.empty(n + 1, np.int64)
    joined_ids = np.empty(len(ids) + len(more_ids), np.uint32)
    joined_values = np.empty(len(joined_ids), np.float32)
    filled = 0
    for i in range(n):
        joined_offsets[i] = filled
        for k in range(offsets[i], offsets[i + 1]):
            joined_ids[filled] = ids[k]
            joined_values[filled] = values[k]
            filled += 1
        for k in range(more_offsets[i], more_offsets[i + 1]):
            joined_ids[filled] = more_ids[k]
            joined_values[filled] = 1.0
            filled += 1
    joined_offsets[n] = filled
    return joined_offsets, joined_ids, joined_values
