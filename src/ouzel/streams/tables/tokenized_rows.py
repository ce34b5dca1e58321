"""Tokenized rows: cells where they lie in CSV text, which become columns of Arrow on demand."""

from __future__ import annotations

from functools import cached_property
from typing import TypeAlias

import numpy as np
import pyarrow
import pyarrow.csv

from ouzel.kernels.bytes import COPIED, LOOKED_AT, copy_some, eight_bytes
from ouzel.kernels.jit import kernel
from ouzel.streams.missing import is_one_of

QUOTE, ONE, THREE, LONG, ALL = np.uint8(34), np.uint64(1), np.uint64(3), np.uint64(COPIED), np.uint64(2**64 - 1)
DOUBLED = np.uint32(1 << 31)  # marks a cell with quotation marks, which are written twice
BEHIND = COPIED + LOOKED_AT  # bytes behind a text that are read, and written over
FEW, SHORT = 64, np.uint64(8)  # most different cells of a column, and bytes of each, that are compared in place
TILE = 256  # rows that are copied together, in the nearest cache

NULLS = sorted(word.encode() for word in pyarrow.csv.ConvertOptions().null_values if word)
SIZES = np.array([len(word) for word in NULLS])
WORDS = np.array([list(word.ljust(SIZES.max())) for word in NULLS], np.uint8)
BEGINS = np.bincount(WORDS[:, 0], minlength=256) > 0  # whether one of the words begins with a byte
ENDS = np.bincount([word[-1] for word in NULLS], minlength=256) > 0  # or ends with it


@kernel
def copy_cells(data, starts, sizes, columns, begins, text, offsets, valid):
    """Copy the cells of some columns (k,) to `text`, those of each from `begins[k]` on.

    Writes their `offsets` (k, rows + 1), and to `valid` (k, rows) bool whether they are not null. `text` has BEHIND
    more bytes behind every column.
    """
    rows = len(starts)
    for first in range(0, rows, TILE):
        for k in range(len(columns)):
            column = columns[k]
            filled = np.uint64(begins[k] + offsets[k, first])
            for row in range(first, min(first + TILE, rows)):
                start, size = starts[row, column], np.uint64(sizes[row, column])
                at = np.uint64(start & ~DOUBLED)
                begun = filled
                if start & DOUBLED:
                    while filled < begun + size:
                        text[filled] = data[at]
                        at += ONE + np.uint64(data[at] == QUOTE)
                        filled += ONE
                else:
                    copy_some(text, filled, data, at)
                    if size > LONG:
                        for part in range(LONG, size, LONG):
                            copy_some(text, filled + part, data, at + part)
                    filled += size
                is_null = size == 0
                if not is_null and BEGINS[text[begun]] & ENDS[text[begun + size - ONE]]:
                    is_null = is_one_of(text, np.int64(begun), np.int64(size), SIZES, WORDS)
                valid[k, row] = not is_null
                offsets[k, row + 1] = np.int64(filled) - begins[k]


@kernel
def code_cells(data, starts, sizes, cells, codes):
    """Number the different cells of a column (n,) in order; write the size and letters of each to `cells` (FEW, 2).

    Returns how many there are; -1 if there are more, or if one is long or has quotation marks written twice.
    """
    count = np.uint64(0)
    for i in range(len(starts)):
        size = np.uint64(sizes[i])
        if size > SHORT or starts[i] & DOUBLED:
            return -1
        letters = eight_bytes(data, np.uint64(starts[i]))
        letters &= (ONE << (size << THREE)) - ONE if size < SHORT else ALL
        k = np.uint64(0)
        while k < count and not (cells[k, 1] == letters and cells[k, 0] == size):
            k += ONE
        if k == count:
            if count == len(cells):
                return -1
            cells[k, 0], cells[k, 1] = size, letters
            count += ONE
        codes[i] = k
    return np.int64(count)


class TokenizedRows:
    """Rows of text cells: their starts and sizes in a text, row after row.

    Behind the text are BEHIND bytes. A cell whose quotation marks are written twice has DOUBLED in its start.
    """

    def __init__(self, names: list[str], data: np.ndarray, starts: np.ndarray, sizes: np.ndarray, rows: int) -> None:
        shape = rows, len(names)
        self.names = names
        self.data = data  # (bytes,) uint8
        self.starts = starts[: rows * len(names)].reshape(shape)  # uint32
        self.sizes = sizes[: rows * len(names)].reshape(shape)  # uint32
        self.num_rows = rows
        self._columns: dict[str, pyarrow.Array] = {}

    @cached_property
    def schema(self) -> pyarrow.Schema:
        """The columns, of text."""
        return pyarrow.schema([(name, pyarrow.large_string()) for name in self.names])

    def column(self, name: str) -> pyarrow.Array:
        """A column, null where PyArrow's parser has null."""
        if name not in self._columns:
            self._columns[name] = self._copied([self.names.index(name)])[0]
        return self._columns[name]

    def encoded(self, name: str) -> tuple[np.ndarray, list[str]] | None:
        """A column as positions (n,) in a list of its different cells, -1 where it is null.

        None if its different cells are not few and short.
        """
        place = self.names.index(name)
        cells, codes = np.empty((FEW, 2), np.uint64), np.empty(self.num_rows, np.int64)
        count = int(code_cells(self.data, self.starts[:, place], self.sizes[:, place], cells, codes))
        if count < 0:
            return None
        found = [letters.to_bytes(8, "little")[:size] for size, letters in cells[:count].tolist()]
        known = [cell for cell in found if cell and cell not in NULLS]
        if len(known) < count:
            codes = np.array([known.index(cell) if cell in known else -1 for cell in found])[codes]
        return codes, [cell.decode() for cell in known]

    def to_arrow(self) -> pyarrow.RecordBatch:
        """The rows as a record batch."""
        return pyarrow.RecordBatch.from_arrays(self._copied(list(range(len(self.names)))), schema=self.schema)

    def _copied(self, columns: list[int]) -> list[pyarrow.Array]:
        chosen = np.array(columns)
        totals = self.sizes[:, chosen].sum(axis=0, dtype=np.int64)
        begins = np.concatenate([[0], np.cumsum(totals + BEHIND)])
        text = np.empty(int(begins[-1]), np.uint8)
        offsets = np.empty((len(columns), self.num_rows + 1), np.int64)
        valid = np.empty((len(columns), self.num_rows), np.bool_)
        offsets[:, 0] = 0
        copy_cells(self.data, self.starts, self.sizes, chosen, begins, text, offsets, valid)
        ends = begins[:-1] + totals + COPIED
        return [_column(offsets[k], text[begins[k] : ends[k]], valid[k]) for k in range(len(columns))]


TableBatch: TypeAlias = pyarrow.RecordBatch | TokenizedRows


def as_arrow(batch: TableBatch) -> pyarrow.RecordBatch:
    """A batch as PyArrow's."""
    return batch.to_arrow() if isinstance(batch, TokenizedRows) else batch


def _column(offsets: np.ndarray, text: np.ndarray, valid: np.ndarray) -> pyarrow.Array:
    nulls = len(valid) - int(np.count_nonzero(valid))
    bits = pyarrow.py_buffer(np.packbits(valid, bitorder="little")) if nulls else None
    buffers = pyarrow.py_buffer(offsets), pyarrow.py_buffer(text)
    return pyarrow.LargeStringArray.from_buffers(len(valid), *buffers, bits, nulls)
