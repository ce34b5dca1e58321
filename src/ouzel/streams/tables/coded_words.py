"""Words of dictionaries: the ids of the cells that rows have, and which of the words are met for the first time."""

from __future__ import annotations

import numpy as np

from ouzel.kernels.jit import kernel
from ouzel.streams.tables.coded import Coded
from ouzel.streams.tables.plain_words import NONE
from ouzel.streams.tables.told_names import Told
from ouzel.streams.text.spans import ONE, ZERO, first_met


@kernel
def _pick(codes, cells, batch, noted, ids, new):
    """Write the ids, or NONE, of `codes` (n,), positions among `cells`; return how many words are not yet noted.

    Their cells come first in `new` (n,). `cells` (m, 2) are the ids, and the last batch that had each.
    """
    met = count = ZERO
    for i in range(np.uint64(len(codes))):
        cell = np.uint64(codes[i])
        ids[i] = cells[cell, ZERO]
        new[met] = cell
        met += np.uint64(cells[cell, ONE] != batch)
        cells[cell, ONE] = batch
    for k in range(met):
        cell = new[k]
        identity = cells[cell, ZERO]
        new[count] = cell
        count += first_met(noted, identity, np.uint64(identity != NONE))
    return count


@kernel
def _tell(starts, ends, cells, column, new, told):
    """Tell of the words in the cells `new` (k,): column, id, and where they start and end; return their bytes."""
    size = ZERO
    for k in range(len(new)):
        cell, word = new[k], told[k]
        word[0], word[1], word[2], word[3] = column, cells[cell, ZERO], starts[cell], ends[cell]
        size += ends[cell] - starts[cell]
    return size


class CodedReader:
    """Reads a column of positions in dictionaries, which are often those of the batch before."""

    def __init__(self, column: int) -> None:
        self._column = np.uint64(column)
        self._known: Coded | None = None
        self._cells = np.empty((0, 2), np.uint32)
        self._batch = 0

    def read(
        self, known: Coded, codes: np.ndarray, noted: np.ndarray, ids: np.ndarray, new: np.ndarray, told: np.ndarray
    ) -> Told:
        """Write the ids, or NONE, of positions (n,) in a dictionary; words that are not yet `noted` are told.

        `new` (n,) uint64 is room.
        """
        starts, ends = known.cells.starts, known.cells.ends
        if self._known is not known:
            self._known, self._batch = known, 0
            self._cells = np.zeros((len(starts), 2), np.uint32)
            self._cells[:, 0] = np.where(starts < ends, known.cells.ids, NONE)
        self._batch += 1
        codes = codes.view()
        codes.flags.writeable = False  # as those of Arrow are, for which the kernel is compiled
        count = int(_pick(codes, self._cells, np.uint32(self._batch), noted, ids, new))
        size = _tell(starts, ends, self._cells, self._column, new[:count], told)
        return Told(count, int(size), known.text)
