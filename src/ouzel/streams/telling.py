"""Of which features a stream has told the names: each block tells those it meets, or else the stream each but once."""

from __future__ import annotations

import numpy as np

from ouzel.kernels.jit import kernel
from ouzel.streams.block import Names
from ouzel.streams.text.spans import is_new, nothing_noted


@kernel
def _mark(noted, ids):
    for identity in ids:
        is_new(noted, identity)


class Telling:
    """What a stream has told, for readers that look ahead.

    A name may be told more than once all the same, for what is read ahead does not know of blocks not yet given out.
    """

    def __init__(self, bits: int) -> None:
        self.once = False  # whether names are told once only, for one who keeps them
        self._bits = bits
        self._told = nothing_noted(bits)

    def begin(self) -> np.ndarray:
        """The marks, see `is_new`, of what need not be told of a block that is read now, to be marked on."""
        return self._told.copy() if self.once else nothing_noted(self._bits)

    def told(self, names: Names | None) -> None:
        """Take note of the names of a block that is given out."""
        if self.once and names is not None:
            _mark(self._told, names.ids)
