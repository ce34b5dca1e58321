"""What the columns of a table hold for kernels that read whole rows, and the names of the words that these find."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ouzel.kernels.bytes import COPIED
from ouzel.kernels.jit import kernel
from ouzel.streams.block import Names
from ouzel.streams.feature_space import CATEGORY, NUMBER
from ouzel.streams.text.spans import ONE, ZERO, absorb_bytes, append

KINDS = (NUMBER, CATEGORY)  # of columns that are read
IS_NUMBER = KINDS.index(NUMBER)
TOLD = 4  # of a word: its column, its id, and where it starts and ends


class Layout(NamedTuple):
    """What columns hold, and what the hashes of their words begin with."""

    kinds: np.ndarray  # (columns,) uint8: where among KINDS, behind them if a column is left out
    own: np.ndarray  # (columns,) uint32, the ids of numbers
    prefixes: np.ndarray  # (bytes,) uint8, `column=` of each column, one behind the other, and COPIED bytes more
    ends: np.ndarray  # (columns + 1,) uint64, where these end
    words: np.ndarray  # (columns,) uint32, with the next two the hashes of the prefixes, not finished
    held: np.ndarray  # (columns,) uint64
    bits: np.ndarray  # (columns,) uint64


@kernel
def _begin(seed, layout):
    """Hash the prefixes."""
    for k in range(len(layout.kinds)):
        layout.words[k], layout.held[k], layout.bits[k] = absorb_bytes(
            np.uint32(seed), ZERO, ZERO, layout.prefixes, layout.ends[k], layout.ends[k + 1]
        )


def layout_of(names: Sequence[str], kinds: Mapping[str, str], ids: Mapping[str, int], seed: int) -> Layout:
    """The layout of a table with columns of these names, those of numbers with ids."""
    known = [KINDS.index(kinds[name]) if kinds.get(name) in KINDS else len(KINDS) for name in names]
    own = [ids.get(name, 0) for name in names]
    prefixes = [f"{name}=".encode() for name in names]
    ends = np.cumsum([0, *map(len, prefixes)]).astype(np.uint64)
    room = (np.empty(len(names), kind) for kind in (np.uint32, np.uint64, np.uint64))
    text = np.frombuffer(b"".join([*prefixes, bytes(COPIED)]), np.uint8)
    layout = Layout(np.array(known, np.uint8), np.array(own, np.uint32), text, ends, *room)
    _begin(seed, layout)
    return layout


@kernel
def _write_names(layout, data, told, text, ends):
    filled = ZERO
    for k in range(len(told)):
        column = told[k, 0]
        filled = append(text, filled, layout.prefixes, layout.ends[column], layout.ends[column + ONE])
        filled = append(text, filled, data, told[k, 2], told[k, 3])
        ends[k] = filled


def names_of(layout: Layout, data: np.ndarray, told: np.ndarray) -> Names:
    """The names of words in a text, behind which are COPIED bytes, of which is `told` (k, TOLD)."""
    ids, sizes = told[:, 1].astype(np.uint32), np.diff(layout.ends)[told[:, 0]] + told[:, 3] - told[:, 2]
    size = int(sizes.sum())
    ends, text = np.empty(len(told), np.uint64), np.empty(size + COPIED, np.uint8)
    _write_names(layout, data, told, text, ends)
    return Names(ids, ends - sizes, ends, text[:size])
