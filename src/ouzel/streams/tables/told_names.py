"""Names of the words that columns of a table have told, each column's in a text of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ouzel.kernels.bytes import COPIED
from ouzel.kernels.jit import kernel
from ouzel.streams.block import Names
from ouzel.streams.tables.row_layout import Layout
from ouzel.streams.text.spans import ONE, append


@kernel
def _write_names(layout, data, told, filled, names):
    """Write the names of one column's words behind what is `filled` of the text; return how much is then."""
    ids, starts, ends, text = names
    for k in range(np.uint64(len(told))):
        word = told[k]
        column = word[0]
        ids[k], starts[k] = word[1], filled
        filled = append(text, filled, layout.prefixes, layout.ends[column], layout.ends[column + ONE])
        filled = append(text, filled, data, word[2], word[3])
        ends[k] = filled
    return filled


class Told(NamedTuple):
    """Words that a column has told: how many, how many bytes, and the text they lie in."""

    words: int
    size: int
    text: np.ndarray


def names_told(layout: Layout, parts: Sequence[tuple[int, Told]], told: np.ndarray) -> Names:
    """The names of words (k, TOLD), those of some columns one behind the other."""
    lengths = np.diff(layout.ends).tolist()
    count = sum(part.words for _, part in parts)
    size = sum(part.size + part.words * lengths[column] for column, part in parts)
    starts, ends = np.empty(count, np.uint64), np.empty(count, np.uint64)
    names = Names(np.empty(count, np.uint32), starts, ends, np.empty(size + COPIED, np.uint8))
    first, filled = 0, np.uint64(0)
    for _, part in parts:
        some = slice(first, first + part.words)
        here = Names(names.ids[some], starts[some], ends[some], names.text)
        filled = np.uint64(_write_names(layout, part.text, told[some], filled, here))
        first += part.words
    return names._replace(text=names.text[:size])
