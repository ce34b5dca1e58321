"""Cells of text columns: kernels that read numbers by value, words by the hash of `column=word`, text by tokens.

Of dictionary columns the words are read once for all the rows that have them, and checked once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline, kernel
from ouzel.sketches.hashing import finish_hash, murmur3_32
from ouzel.streams.block import LARGEST, Names
from ouzel.streams.kernels.batch_hash import PADDING, ZERO, hash_update, hash_update_bytes
from ouzel.streams.kernels.new_names import NewNames, add_if_new, copy_names
from ouzel.streams.kernels.numbers import parse_number
from ouzel.streams.missing import NEITHER, find_large, is_na_number_token, is_na_token, make_small, truth_of
from ouzel.streams.tables.arrow_types import as_text, as_words, is_list, is_there

if TYPE_CHECKING:
    import pyarrow
from collections.abc import Callable, Hashable

import pyarrow
import pyarrow.compute as compute

from ouzel.streams.tables.arrow_types import filled, is_dictionary, types

NOT_FINITE, TOO_LONG, NOT_A_DATE, NO_NUMBER = (np.uint8(code) for code in (1, 2, 3, 4))  # errors of cells
INFINITY = np.frombuffer(b"infinity", np.uint8)


BEHIND = PADDING  # bytes behind a text, where there are any: with them words are hashed faster


class Words(NamedTuple):
    """A column of text: cell i is `data[offsets[i]:offsets[i + 1]]`, UTF-8, where `valid[i]`."""

    offsets: np.ndarray  # (n + 1,) int64
    data: np.ndarray  # (bytes,) uint8
    valid: np.ndarray  # (n,) bool


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
        return Words(np.zeros(1, np.int64), np.empty(0, np.uint8), np.empty(0, np.bool_))
    _, offsets, data = array.buffers()
    here = np.frombuffer(offsets, np.int64)[array.offset : array.offset + len(array) + 1]
    text = np.empty(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
    check_offsets(here, len(array), len(text))
    if here[0] or here[-1] < len(text) - BEHIND:  # a part of a larger array
        text = text[here[0] : here[-1] + BEHIND]
        here = here - here[0]
    return Words(here, text, is_there(array))


def words_of_cells(array: pyarrow.Array) -> Words:
    """The text of an Arrow array whose cells are words; truth values are in small letters."""
    words = words_of(as_words(array))
    found = np.empty((len(words.valid), 2), np.int64)
    found = found[: find_large(*words, found)]
    if not len(found):
        return words
    data = words.data.copy()
    make_small(data, found)
    return words._replace(data=data)


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


POSITIONS = pyarrow.int32(), pyarrow.int64()
AS_BYTES = {pyarrow.string(): pyarrow.binary(), pyarrow.large_string(): pyarrow.large_binary()}
MANY = 4  # most cells of a dictionary for each row, where all of them are read


@kernel
def _pick(codes, cells, bits, seen, ids, values, new):
    """Write the id and the value of each row's cell; return how many words are new, and write these to `new` first.

    `seen` has the ids so far, masked by `bits`, see `add_if_new`.
    """
    used = np.zeros(len(cells.ids), np.bool_)
    count = 0
    for i in range(len(codes)):
        code = codes[i]
        ids[i], values[i] = cells.ids[code], cells.values[code]
        if not used[code]:
            used[code] = True
            if cells.starts[code] < cells.ends[code] and add_if_new(seen, cells.ids[code] & bits):
                new[count] = code
                count += 1
    return count


class DecodedDictionary(NamedTuple):
    """A dictionary, the text of its cells, and their features; a last cell is null."""

    dictionary: pyarrow.Array
    text: np.ndarray  # (bytes,) uint8
    cells: Cells

    @classmethod
    def of(cls, dictionary: pyarrow.Array, read: Callable[[Words], Cells]) -> DecodedDictionary:
        """A dictionary whose cells are read by `read`."""
        words = words_of_cells(dictionary)
        words = Words(np.append(words.offsets, words.offsets[-1:]), words.data, np.append(words.valid, False))
        return cls(dictionary, words.data, read(words))

    def pick(
        self, codes: np.ndarray, bits: np.uint32, seen: np.ndarray, ids: np.ndarray, values: np.ndarray
    ) -> np.ndarray:
        """Write the id and the value of each row's cell; return the cells whose words are new, see `_pick`."""
        new = np.empty(len(self.cells.ids), np.int64)
        return new[: _pick(codes, self.cells, bits, seen, ids, values, new)]


class Dictionaries:
    """The last dictionary of each column: many batches often have the same."""

    def __init__(self) -> None:
        self._last: dict[Hashable, DecodedDictionary] = {}

    def read(
        self, column: Hashable, array: pyarrow.Array, read: Callable[[Words], Cells]
    ) -> tuple[DecodedDictionary, np.ndarray]:
        """The dictionary of a column, its cells read by `read`, and the cell of each row (n,).

        If it has many more cells than there are rows, only those that rows have are read.
        """
        last, dictionary = self._last.get(column), array.dictionary
        if last is None or not _are_equal(last.dictionary, dictionary):
            if len(dictionary) > MANY * len(array):
                codes = _codes(array.indices, len(dictionary))
                used, codes = np.unique(codes, return_inverse=True)
                return DecodedDictionary.of(
                    as_text(dictionary).take(pyarrow.array(used[used < len(dictionary)])), read
                ), codes
            last = self._last[column] = DecodedDictionary.of(dictionary, read)
        return last, _codes(array.indices, len(dictionary))


class Checks:
    """Checks of tables, which kernels trust; a dictionary that a column keeps is checked once."""

    def __init__(self) -> None:
        self._sound: dict[int, pyarrow.Array] = {}  # the last dictionary of each column

    def check(self, table: pyarrow.Table) -> None:
        """Raise ValueError if offsets, positions in dictionaries, or letters are unsound."""
        table.validate()
        for place, column in enumerate(table.columns):
            for array in column.chunks:
                if is_dictionary(array) and place in self._sound and _are_equal(self._sound[place], array.dictionary):
                    _check_positions(array)
                    continue
                _check_cells(array)
                if is_dictionary(array):
                    self._sound[place] = array.dictionary


def _check_cells(array: pyarrow.Array) -> None:
    """Raise ValueError if offsets or letters are unsound. Text in ASCII needs no check of each cell."""
    kind = AS_BYTES.get(array.type)
    if kind is None or not _is_sound_ascii(array.view(kind)):
        array.validate(full=True)


def _is_sound_ascii(array: pyarrow.Array) -> bool:
    try:
        array.validate(full=True)
    except ValueError:  # the caller validates the array in its own type, for the message
        return False
    _, offsets, data = array.buffers()
    if data is None or not len(array):
        return True
    kind = np.int32 if types.is_binary(array.type) else np.int64
    here = np.frombuffer(offsets, kind)[array.offset : array.offset + len(array) + 1]
    return bool(np.frombuffer(data, np.uint8)[here[0] : here[-1]].max(initial=0) < 128)


def _check_positions(array: pyarrow.Array) -> None:
    lowest, highest = (cell.as_py() for cell in compute.min_max(array.indices).values())
    if lowest is not None and (lowest < 0 or highest >= len(array.dictionary)):
        raise ValueError(f"cells of a dictionary of {len(array.dictionary)} are numbered {lowest} to {highest}")


def _are_equal(dictionary: pyarrow.Array, other: pyarrow.Array) -> bool:
    """Whether two dictionaries are the same to the byte."""
    if (dictionary.type, dictionary.offset, len(dictionary)) != (other.type, other.offset, len(other)):
        return False
    if pyarrow.types.is_nested(dictionary.type) or is_dictionary(dictionary):
        return False
    parts, others = dictionary.buffers(), other.buffers()
    same = (
        one is two if one is None or two is None else one.equals(two) for one, two in zip(parts, others, strict=False)
    )
    return len(parts) == len(others) and all(same)


def _codes(indices: pyarrow.Array, null: int) -> np.ndarray:
    """Positions (n,) int32 or int64 in a dictionary, and `null`, the one behind its cells, where a row has none."""
    if indices.null_count or indices.type not in POSITIONS:
        indices = indices.cast(pyarrow.int32() if null < 1 << 31 else pyarrow.int64(), safe=False)
    return filled(indices, null)
