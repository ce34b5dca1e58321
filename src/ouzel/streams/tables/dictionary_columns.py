"""Dictionary columns: their words are read once for all the rows that have them, and checked once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import NamedTuple

import numpy as np
import pyarrow

from ouzel.kernels.jit import kernel
from ouzel.streams.kernels.new_names import add_if_new
from ouzel.streams.tables.arrow_types import as_text, compute, filled, is_dictionary, types
from ouzel.streams.tables.cells import Cells, Words, words_of_cells

AS_BYTES = {pyarrow.string(): pyarrow.binary(), pyarrow.large_string(): pyarrow.large_binary()}
POSITIONS = pyarrow.int32(), pyarrow.int64()
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
        words = Words.of(np.append(words.offsets, words.offsets[-1:]), words.data, np.append(words.valid, False))
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
