"""`BlockStream`: blocks one after the other, and what is known of them so far, whatever they are read from."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Iterator, Sequence
from typing import Protocol, Self, runtime_checkable

from ouzel.streams.block import Block
from ouzel.streams.feature_space import NOTHING_KNOWN, FeatureSpace
from ouzel.streams.options import Options

UNKNOWN = Options()  # how blocks are read of which nothing is said


class StreamFacts(Protocol):
    """What is known of a stream so far."""

    @property
    def name(self) -> str:
        """What is read, as messages call it."""

    @property
    def options(self) -> Options:
        """How examples are read."""

    @property
    def space(self) -> FeatureSpace:
        """What the ids read so far stand for."""

    @property
    def examples(self) -> int:
        """Examples read so far."""

    @property
    def begins(self) -> Sequence[int]:
        """Examples before each source that has been begun."""

    @property
    def skipped(self) -> int:
        """Bad lines left out."""

    @property
    def remarks(self) -> Sequence[str]:
        """Lines for people on what was decided of columns."""

    @property
    def size(self) -> int | None:
        """Bytes to read; None if unknown."""

    @property
    def position(self) -> int:
        """Bytes read so far; 0 if the size is unknown."""

    def tell_names_once(self) -> None:
        """Let the first block with a feature name it, and hardly others: for a reader that keeps all names."""


@runtime_checkable
class BlockStream(StreamFacts, Protocol):
    """Blocks of examples, once through. `close` it, or use it with `with`, if you stop early."""

    @property
    def seconds(self) -> float:
        """Seconds spent waiting for blocks."""

    @property
    def leaves_out(self) -> bool:
        """Whether it begins behind what a run has learnt before."""

    @property
    def resumed(self) -> bool:
        """Whether it goes on where a run was cut off."""

    @property
    def waiting(self) -> bool:
        """Whether an interruption while it is read harms nothing."""

    @property
    def incomplete(self) -> bool:
        """Whether an interruption fell into recording what was learnt."""

    def first(self) -> Block:
        """The block that comes next, which stays to be read."""

    def recognise(self) -> None:
        """Read until `resumed` is known."""

    def learnt(self, examples: int) -> None:
        """Record that this many of the examples given out have been learnt."""

    def close(self) -> None:
        """Stop reading."""

    def __iter__(self) -> Self: ...

    def __next__(self) -> Block: ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


class BlockIterator(ABC):
    """A `BlockStream` but for its facts: `_next` gives its blocks; it leaves nothing out and records nothing."""

    seconds = 0.0
    leaves_out = False
    waiting = True
    incomplete = False
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

    @property
    def resumed(self) -> bool:
        """Whether it goes on where a run was cut off."""
        return False

    def recognise(self) -> None:  # noqa: B027 there is nothing to read for
        """Read until `resumed` is known."""

    def learnt(self, examples: int) -> None:  # noqa: B027 there are no records
        """Record that this many of the examples given out have been learnt."""

    def tell_names_once(self) -> None:  # noqa: B027 blocks go on naming all their features
        """Let the first block with a feature name it, and hardly others: for a reader that keeps all names."""

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


class DelegatingStream(BlockIterator):
    """A stream whose facts are those of another object, such as the stream that its blocks are made of."""

    def __init__(self, facts: StreamFacts) -> None:
        self._facts = facts

    @property
    def name(self) -> str:
        """What is read, as messages call it."""
        return self._facts.name

    @property
    def options(self) -> Options:
        """How examples are read."""
        return self._facts.options

    @property
    def space(self) -> FeatureSpace:
        """What the ids read so far stand for."""
        return self._facts.space

    @property
    def examples(self) -> int:
        """Examples read so far."""
        return self._facts.examples

    @property
    def begins(self) -> Sequence[int]:
        """Examples before each source that has been begun."""
        return self._facts.begins

    @property
    def skipped(self) -> int:
        """Bad lines left out."""
        return self._facts.skipped

    @property
    def remarks(self) -> Sequence[str]:
        """Lines for people on what was decided of columns."""
        return self._facts.remarks

    @property
    def size(self) -> int | None:
        """Bytes to read; None if unknown."""
        return self._facts.size

    @property
    def position(self) -> int:
        """Bytes read so far; 0 if the size is unknown."""
        return self._facts.position

    def tell_names_once(self) -> None:
        """Let the first block with a feature name it, and hardly others: for a reader that keeps all names."""
        self._facts.tell_names_once()


class GivenBlocks(BlockIterator):
    """Blocks that are not read from bytes, as a stream: those of data in memory, or any that somebody made."""

    skipped = 0
    size: int | None = None
    position = 0

    def __init__(
        self,
        blocks: Iterable[Block],
        name: str = "blocks",
        options: Options = UNKNOWN,
        remarks: Sequence[str] = (),
    ) -> None:
        self._blocks: Iterator[Block] = iter(blocks)
        self.name, self.options, self.remarks = name, options, remarks
        self.space = NOTHING_KNOWN
        self.examples = 0
        self.begins = (0,)

    def _next(self) -> Block:
        block = next(self._blocks)
        self.examples += block.rows
        self.space = block.space
        return block

    def close(self) -> None:
        """Stop reading."""
        if isinstance(self._blocks, Generator):
            self._blocks.close()


def as_stream(blocks: Iterable[Block]) -> BlockStream:
    """Blocks as a stream, which they may be already.

    Examples
    --------
    >>> stream = as_stream([])
    >>> stream.skipped, stream.size, as_stream(stream) is stream
    (0, None, True)
    """
    return blocks if isinstance(blocks, BlockStream) else GivenBlocks(blocks)
