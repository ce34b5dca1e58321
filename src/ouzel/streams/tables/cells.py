"""Cells of text columns: kernels that read numbers by value, words by the hash of `column=word`, text by tokens."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pyarrow

from ouzel.kernels.jit import force_inline, kernel
from ouzel.sketches.hashing import finish_hash, murmur3_32
from ouzel.streams.block import LARGEST, Names
from ouzel.streams.kernels.batch_hash import PADDING, ZERO, hash_update, hash_update_bytes
from ouzel.streams.kernels.new_names import NewNames, add_if_new, copy_names, read_only
from ouzel.streams.kernels.numbers import parse_number
from ouzel.streams.missing import is_missing, is_na_number_token, is_na_token
from ouzel.streams.tables.arrow_types import as_text, as_words, is_dictionary, is_list, is_there
from ouzel.streams.truth_values import NEITHER, find_large, make_small, truth_of

NOT_FINITE, TOO_LONG, NOT_A_DATE, NO_NUMBER = (np.uint8(code) for code in (1, 2, 3, 4))  # errors of cells
INFINITY = np.frombuffer(b"infinity", np.uint8)
BEHIND = PADDING  # bytes behind a text, where there are any: with them words are hashed faster


class Words(NamedTuple):
    """A column of text: cell i is `data[offsets[i]:offsets[i + 1]]`, UTF-8, where `valid[i]`."""

    offsets: np.ndarray  # (n + 1,) int64
    data: np.ndarray  # (bytes,) uint8
    valid: np.ndarray  # (n,) bool

    @classmethod
    def of(cls, offsets: np.ndarray, data: np.ndarray, valid: np.ndarray) -> Words:
        """A column of text; kernels are compiled for arrays that cannot be written, as those of Arrow are."""
        return cls(read_only(offsets), read_only(data), read_only(valid))


class Cells(NamedTuple):
    """The features of a column of text, and where their words lie in it."""

    ids: np.ndarray  # (n,) uint32
    values: np.ndarray  # (n,) float32, 0 where there is no feature
    missing: np.ndarray  # (n,) bool
    wrong: np.ndarray  # (n,) uint8: NOT_FINITE for a number, TOO_LONG for a word, else 0
    starts: np.ndarray  # (n,) uint64; equal to the end, unless there is a word
    ends: np.ndarray  # (n,) uint64


def words_of(array: pyarrow.Array) -> Words:
    """The text of an Arrow array of any type."""
    array = as_text(array)
    if not len(array):
        return Words.of(np.zeros(1, np.int64), np.empty(0, np.uint8), np.empty(0, np.bool_))
    _, offsets, data = array.buffers()
    here = np.frombuffer(offsets, np.int64)[array.offset : array.offset + len(array) + 1]
    text = np.empty(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
    check_offsets(here, len(array), len(text))
    if here[0] or here[-1] < len(text) - BEHIND:  # a part of a larger array
        text = text[here[0] : here[-1] + BEHIND]
        here = here - here[0]
    return Words.of(here, text, is_there(array))


def different(array: pyarrow.Array) -> pyarrow.Array:
    """The cells of a column, those of a dictionary once each: a long one may occur in many rows."""
    return as_text(array.dictionary).take(array.indices.unique().drop_null()) if is_dictionary(array) else array


def texts_of(words: Words) -> Iterator[str]:
    """Yield the words that are not missing, as text."""
    for start, stop in pairwise(words.offsets.tolist()):
        text = words.data[start:stop].tobytes().decode("utf-8", "replace")
        if not is_missing(text):
            yield text


def words_of_cells(array: pyarrow.Array) -> Words:
    """The text of an Arrow array whose cells are words; truth values are in small letters."""
    words = words_of(as_words(array))
    found = np.empty((len(words.valid), 2), np.int64)
    found = found[: find_large(*words, found)]
    if not len(found):
        return words
    data = words.data.copy()
    make_small(data, found)
    return words._replace(data=read_only(data))


def check_offsets(offsets: np.ndarray, rows: int, size: int) -> None:
    """Raise ValueError unless offsets (rows + 1,) ascend within `size` entries: kernels have no checks of bounds."""
    sound = len(offsets) == rows + 1 and offsets[0] >= 0 and offsets[-1] <= size and (offsets[1:] >= offsets[:-1]).all()
    if not sound:
        raise ValueError(f"offsets of {rows} cells do not ascend within the {size} entries that there are")


@force_inline
def is_infinity(data, start, stop):
    """Whether a cell is `inf` or `infinity` in any case, with a sign or without."""
    if data[start] == 43 or data[start] == 45:
        start += 1
    if stop - start != 3 and stop - start != 8:
        return False
    same = 0
    for k in range(stop - start):
        same += data[start + k] | 32 == INFINITY[k]
    return same == stop - start


@kernel
def read_cells(words, prefix, number_id, numeric, longest, seed, mask, bits, seen, cells, new):
    """Read each cell into `cells`; return how many words are new, and write their rows to `new` (n,) int64 first.

    A cell that reads as a number or a truth value (if `numeric`) is the value of feature `number_id`; any other is the
    feature `prefix` and the cell, hashed in place to the bits of `mask`, with value 1. Blanks around a cell do not
    count. `seen` has the ids so far, masked by `bits`, see `add_if_new`; where it is empty, no word is new.
    """
    before, tail_before, filled = hash_update_bytes(np.uint32(seed), ZERO, ZERO, prefix, 0, len(prefix))
    data = words.data
    last = np.int64(len(data)) - np.int64(PADDING)
    count = 0
    for i in range(len(words.valid)):
        cells.ids[i] = cells.values[i] = cells.wrong[i] = cells.starts[i] = cells.ends[i] = 0
        start, stop = words.offsets[i], words.offsets[i + 1]
        while start < stop and data[start] == 32:
            start += 1
        while stop > start and data[stop - 1] == 32:
            stop -= 1
        cells.missing[i] = start == stop or not words.valid[i]
        if cells.missing[i]:
            continue
        if numeric:
            value, end = parse_number(data, start, stop)
            if end == stop and abs(value) <= LARGEST:
                cells.ids[i] = number_id
                cells.values[i] = value
                continue
            if end == stop or is_infinity(data, start, stop):
                cells.wrong[i] = NOT_FINITE
                continue
        if is_na_token(data, start, stop) or (numeric and is_na_number_token(data, start, stop)):
            cells.missing[i] = True
            continue
        truth = truth_of(data, start, stop - start)
        if numeric and truth != NEITHER:
            cells.ids[i] = number_id
            cells.values[i] = truth
            continue
        size = stop - start
        if size > longest:
            cells.wrong[i] = TOO_LONG
            continue
        if stop <= last:
            word, tail, _ = hash_update(before, tail_before, filled, data, np.uint64(start), np.uint64(size))
        else:
            word, tail, _ = hash_update_bytes(before, tail_before, filled, data, start, stop)
        hashed = finish_hash(word, tail, len(prefix) + size)
        cells.ids[i] = hashed & mask
        cells.values[i] = 1.0
        cells.starts[i] = start
        cells.ends[i] = stop
        if len(seen) and add_if_new(seen, hashed & bits):
            new[count] = i
            count += 1
    return count


def empty_cells(rows: int) -> Cells:
    """Arrays for a number of cells, not filled."""
    kinds = np.uint32, np.float32, np.bool_, np.uint8, np.uint64, np.uint64
    return Cells._make(np.empty(rows, kind) for kind in kinds)


def names_of_cells(
    ids: np.ndarray, prefix: np.ndarray, data: np.ndarray, starts: np.ndarray, ends: np.ndarray
) -> Names:
    """The names of features (k,): the prefix, and the text `data[starts[k]:ends[k]]`."""
    return copy_names([NewNames.of(Names(ids, starts, ends, data), prefix=prefix)])


@kernel
def _is_word(byte):
    """Whether a byte belongs to a word: a letter, a digit, an apostrophe, or part of a letter beyond ASCII."""
    return 97 <= byte <= 122 or 65 <= byte <= 90 or 48 <= byte <= 57 or byte == 39 or byte >= 128


@force_inline
def _is_missing(data, start, stop):
    """Whether a text, without the blanks around it, is empty or a word for missing."""
    while start < stop and data[start] == 32:
        start += 1
    while stop > start and data[stop - 1] == 32:
        stop -= 1
    return start == stop or is_na_token(data, start, stop)


@kernel
def _find_missing(words, missing):
    for i in range(len(words.valid)):
        missing[i] = not words.valid[i] or _is_missing(words.data, words.offsets[i], words.offsets[i + 1])


def missing_cells(array: pyarrow.Array) -> np.ndarray:
    """Whether each cell (n,) of a column of text or lists is missing; an empty list is not."""
    if is_list(array.type):
        return ~is_there(array)
    words, missing = words_of_cells(array), np.empty(len(array), np.bool_)
    _find_missing(words, missing)
    return missing


@kernel
def read_tokens(words, prefix, longest, seed, mask, refused):
    """Tokens of each cell that is not missing, in lower case: (offsets (n + 1,), ids, starts, ends, text).

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
        present = words.valid[i] and not _is_missing(words.data, at, words.offsets[i + 1])
        while present and at < words.offsets[i + 1]:
            if not _is_word(words.data[at]):
                at += 1
                continue
            begun = filled
            for k in range(len(prefix)):
                text[filled] = prefix[k]
                filled += 1
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


MANY = 4  # most cells of a dictionary for each row, where all of them are read
