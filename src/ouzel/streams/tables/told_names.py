"""Names of the words that columns of a table have told, each column's in a text of its own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ouzel.kernels.bytes import COPIED, copy_some
from ouzel.kernels.jit import force_inline, kernel
from ouzel.streams.block import Names
from ouzel.streams.tables.row_layout import Layout
from ouzel.streams.text.spans import ONE


@force_inline
def _append(text, filled, data, start, stop):
    """Copy a span to `text[filled:]`, and up to COPIED bytes more where they are there."""
    at = start
    while at < stop and at + np.uint64(COPIED) <= np.uint64(len(data)):
        copy_some(text, filled + (at - start), data, at)
        at += np.uint64(COPIED)
    while at < stop:
        text[filled + (at - start)] = data[at]
        at += ONE
    return filled + (stop - start)


@kernel
def _write_names(layout, data, told, filled, text, ends):
    """Write the names of one column's words behind what is `filled` of `text`; return how much is then."""
    for k in range(len(told)):
        column = told[k, 0]
        filled = _append(text, filled, layout.prefixes, layout.ends[column], layout.ends[column + ONE])
        filled = _append(text, filled, data, told[k, 2], told[k, 3])
        ends[k] = filled
    return filled


def names_told(layout: Layout, texts: Sequence[np.ndarray], counts: Sequence[int], told: np.ndarray) -> Names:
    """The names of words (k, TOLD), of which each text has so many."""
    ids, sizes = told[:, 1].astype(np.uint32), np.diff(layout.ends)[told[:, 0]] + told[:, 3] - told[:, 2]
    size = int(sizes.sum())
    ends, text = np.empty(len(told), np.uint64), np.empty(size + COPIED, np.uint8)
    first, filled = 0, np.uint64(0)
    for data, count in zip(texts, counts, strict=True):
        some = slice(first, first + count)
        filled = np.uint64(_write_names(layout, data, told[some], filled, text, ends[some]))
        first += count
    return Names(ids, ends - sizes, ends, text[:size])
