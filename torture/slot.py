"""A page of memory that a worker and its watchdog share: what is at work, and counts that a death does not lose."""

from __future__ import annotations

import mmap
import struct

from torture.names import Name
from torture.verdicts import KINDS

FIRST = 24  # byte of the first count
TEXT = 256
COUNTS = struct.Struct(f"<{len(KINDS)}Q")


class Slot:
    """Counts of one job, and the name of the input at work.

    >>> slot = Slot()
    >>> slot.begin(Name("csv", (3,)))
    >>> slot.end("refused")
    >>> slot.counts["refused"], slot.at_work, slot.ticks
    (1, None, 2)
    """

    def __init__(self) -> None:
        self.page = mmap.mmap(-1, 4096)  # shared with processes forked from here on

    def begin(self, name: Name) -> None:
        """Note that this input is at work."""
        text = str(name).encode()
        struct.pack_into(f"<BH{len(text)}s", self.page, TEXT, 1, len(text), text)
        self.tick()

    def end(self, kind: str) -> None:
        """Note what became of it."""
        struct.pack_into("<B", self.page, TEXT, 0)
        self._add(FIRST + 8 * KINDS.index(kind), 1)
        self.tick()

    def tick(self) -> None:
        """Say that there is progress."""
        self._add(0, 1)

    def add_kills(self, count: int) -> None:
        """Count processes killed."""
        self._add(8, count)

    @property
    def ticks(self) -> int:
        """Grows with all progress."""
        return int(struct.unpack_from("<Q", self.page, 0)[0])

    @property
    def kills(self) -> int:
        """Processes killed."""
        return int(struct.unpack_from("<Q", self.page, 8)[0])

    @property
    def counts(self) -> dict[str, int]:
        """How many inputs came to each kind of end."""
        return dict(zip(KINDS, COUNTS.unpack_from(self.page, FIRST), strict=True))

    @property
    def at_work(self) -> Name | None:
        """The input at work, if one is."""
        return self.last if self.page[TEXT] else None

    @property
    def last(self) -> Name | None:
        """The input at work, or the one before."""
        (length,) = struct.unpack_from("<H", self.page, TEXT + 1)
        return Name.parse(self.page[TEXT + 3 : TEXT + 3 + length].decode()) if length else None

    def _add(self, place: int, count: int) -> None:
        (before,) = struct.unpack_from("<Q", self.page, place)
        struct.pack_into("<Q", self.page, place, before + count)
