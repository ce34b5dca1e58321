"""Blocks one after the other, whatever they are made of."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from typing import Self

from ouzel.streams.block import Block


class BlockIterator(ABC):
    """Blocks of examples, once through. `close` it, or use it with `with`, if you stop early."""

    unbounded = False  # whether it is a log, whose end nobody knows
    seconds = 0.0  # spent waiting for blocks
    _ahead: Block | None = None  # looked at, and not given out

    @abstractmethod
    def _next(self) -> Block:
        """The block that is next; StopIteration at the end."""

    @abstractmethod
    def close(self) -> None:
        """Stop reading."""

    def first(self) -> Block:
        """The block that comes next, which stays to be read."""
        if self._ahead is None:
            self._ahead = next(self)
        return self._ahead

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Block:
        if self._ahead is not None:
            block, self._ahead = self._ahead, None
            return block
        begun = time.perf_counter()
        try:
            return self._next()
        finally:
            self.seconds += time.perf_counter() - begun

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
