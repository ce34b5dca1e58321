"""Rows of plain JSON objects: numbers by their keys, and the inputs of crosses, put into the row buffer."""

from __future__ import annotations

import numpy as np

from ouzel.kernels.jit import force_inline
from ouzel.streams.formats.json_names import FIELD, HASH, ID, NAMED, USED, put_own_name, record_use
from ouzel.streams.kernels.row_buffer import (
    OWN_COLUMN,
    begin_row,
    finish_names,
    finish_row,
    has_repeats,
    put_number,
)

ZERO, ONE = np.uint64(0), np.uint64(1)
LINE, MARK, LINES, TAKEN, OBJECT = range(OWN_COLUMN, OWN_COLUMN + 5)
"""Columns of a row: the start of its line, the mark there, how many lines and inputs stand before it, its number."""


@force_inline
def begin_object(buffer, row, features, names, line, mark, lines, taken, stamp):
    """Begin the row of an object; record where its line begins, in case it must be read again."""
    begin_row(buffer, row, features, names)
    rows = buffer.rows
    rows[row, LINE], rows[row, MARK], rows[row, LINES], rows[row, TAKEN] = line, mark, lines, taken
    rows[row, OBJECT] = stamp


@force_inline
def put_member(buffer, count, keys, key, value):
    """Put the number of a key."""
    put_number(buffer, count, keys.table[key, ID], keys.table[key, HASH], value)


@force_inline
def put_any_member(buffer, count, named, keys, key, value, stamp, seed, data, start, end):
    """Put the number of a key, `data[start:end]`, that may be new; return how many features and names there are."""
    put_member(buffer, count, keys, key, value)
    present = np.uint64(buffer.values[count] != 0.0)
    if keys.table[key, USED] == ZERO:
        record_use(keys, key, stamp)
        if keys.table[key, NAMED]:
            place = count if present else np.uint64(len(buffer.ids) - 1)  # one that belongs to no row
            put_own_name(buffer, named, place, seed, data, start, end)
            named += ONE
    return count + present, named


@force_inline
def put_input(inputs, taken, keys, key, value, start, end, whole):
    """Add a feature of a field to the inputs; its name is, or ends in, the text from `start` to `end`."""
    count = taken[0]
    inputs.fields[count] = keys.table[key, FIELD] - ONE
    inputs.hashes[count], inputs.values[count] = keys.table[key, HASH], value
    inputs.starts[count], inputs.ends[count] = start, end
    inputs.whole[count] = whole
    taken[0] = count + ONE


@force_inline
def finish_rows(buffer, count, features, named, mask, ids, values, offsets, row, nnz):
    """Write the first `count` rows of the buffer behind `row` rows and `nnz` features.

    Stops before an object that has a feature twice: its last value counts, and Python reads it. Returns the number of
    rows written, and of features with them.
    """
    finish_names(buffer, features, named, count, mask)
    for k in range(count):
        end = finish_row(buffer, k, ids, values, nnz)
        if has_repeats(buffer, k, end - nnz):
            return k, nnz
        nnz = end
        offsets[row + k + ONE] = nnz
    return count, nnz


@force_inline
def finish_inputs(buffer, input_names, inputs, start, end):
    """Write the hashes of inputs that are words; `input_names` numbers their names from 1 on, 0 is no name."""
    for k in range(end - start):
        name = np.uint64(input_names[k])
        if name > ZERO:
            inputs.hashes[start + k] = buffer.names.hashes[name - ONE]
