"""Rows of plain JSON objects in the row buffer: features by their keys, and the factors of crosses."""

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
"""Of a row, where its line begins, the mark there, lines and factors before it, and its number among all objects."""


@force_inline
def begin_object(buffer, row, features, names, line, mark, lines, taken, stamp):
    """Begin the row of an object; note where its line begins, should it have to be read again."""
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
    """Gather a number whose key, `data[start:end]`, may have none yet; return how many features and names there are."""
    put_member(buffer, count, keys, key, value)
    present = np.uint64(buffer.values[count] != 0.0)
    if keys.table[key, USED] == ZERO:
        record_use(keys, key, stamp)
        if keys.table[key, NAMED]:
            place = count if present else np.uint64(len(buffer.ids) - 1)  # which no row has
            put_own_name(buffer, named, place, seed, data, start, end)
            named += ONE
    return count + present, named


@force_inline
def put_factor(factors, taken, keys, key, value, start, end, whole):
    """Take a feature of a field, whose name is, or ends in, the text from `start` to `end`."""
    count = taken[0]
    factors.fields[count] = keys.table[key, FIELD] - ONE
    factors.hashes[count], factors.values[count] = keys.table[key, HASH], value
    factors.starts[count], factors.ends[count] = start, end
    factors.whole[count] = whole
    taken[0] = count + ONE


@force_inline
def finish_rows(buffer, count, features, named, mask, ids, values, offsets, row, nnz):
    """Write the first `count` rows that were buffer, of so many features and names, behind `row` and `nnz` others.

    Of one feature the last value counts: an object with a feature twice is not a row, and ends this. Returns how many
    are rows, and the nonzeros with them.
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
def finish_factors(buffer, factor_names, factors, start, end):
    """Give the factors of rows the hashes of their names, which `factor_names` counts from 1 on; 0 is that of none."""
    for k in range(end - start):
        name = np.uint64(factor_names[k])
        if name > ZERO:
            factors.hashes[start + k] = buffer.names.hashes[name - ONE]
