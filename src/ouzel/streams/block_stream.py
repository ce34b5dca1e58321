"""`BlockStream`: blocks one after the other, and facts on those read so far, whatever they are read from."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Iterator, Sequence
from typing import Protocol, Self, runtime_checkable

from ouzel.errors import OuzelError
from ouzel.streams.block import Block
from ouzel.streams.feature_space import NOTHING_KNOWN, FeatureSpace
from ouzel.streams.options import Options

UNKNOWN = Options()  # of blocks that come without options


class StreamFacts(Protocol):
    """Facts on a stream, as far as it was read."""

    @property
    def name(self) -> str:
        """The name of the source in messages."""

    @property
    def options(self) -> Options:
        """The options that examples are read with."""

    @property
    def space(self) -> FeatureSpace:
        """The meaning of the feature ids read so far."""

    @property
    def examples(self) -> int:
        """Examples read so far."""

    @property
    def begins(self) -> Sequence[int]:
        """The number of examples before each source that has been opened."""

    @property
    def skipped(self) -> int:
        """The number of bad lines skipped."""

    @property
    def remarks(self) -> Sequence[str]:
        """Lines for people on what was inferred of columns."""

    @property
    def size(self) -> int | None:
        """Bytes to read; None if unknown."""

    @property
    def position(self) -> int:
        """Bytes read so far; 0 if the size is unknown."""

    def emit_names_once(self) -> None:
        """Emit each name with the first block that has it, and rarely again: for a consumer that keeps all names."""


@runtime_checkable
class BlockStream(StreamFacts, Protocol):
    """Blocks of examples, once through. `close` it, or use it with `with`, if you stop early."""

    @property
    def seconds(self) -> float:
        """Seconds spent waiting for blocks."""

    @property
    def leaves_out(self) -> bool:
        """Whether it skips what an earlier run has learnt."""

    @property
    def resumed(self) -> bool:
        """Whether it resumes where a run was interrupted."""

    @property
    def waiting(self) -> bool:
        """Whether it may be interrupted without harm while it waits."""

    @property
    def incomplete(self) -> bool:
        """Whether an interruption came while it recorded what was learnt."""

    def first(self) -> Block:
        """The next block, which stays to be read."""

    def recognise(self) -> None:
        """Read until `resumed` is known."""

    def learnt(self, examples: int) -> None:
        """Record that this many of the examples that were read have been learnt."""

    def close(self) -> None:
        """Stop reading."""

    def __iter__(self) -> Self: ...

    def __next__(self) -> Block: ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


class BlockIterator(ABC):
    """A `BlockStream` without its facts: `_next` returns its blocks; it skips nothing and records nothing."""

    seconds = 0.0
    leaves_out = False
    waiting = True
    incomplete = False
    _ahead: Block | None = None  # read by `first`

    @abstractmethod
    def _next(self) -> Block:
        """The next block; StopIteration at the end."""

    @abstractmethod
    def close(self) -> None:
        """Stop reading."""

    def first(self) -> Block:
        """The next block, which stays to be read."""
        if self._ahead is None:
            self._ahead = next(self)
        return self._ahead

    @property
    def resumed(self) -> bool:
        """Whether it resumes where a run was interrupted."""
        return False

    def recognise(self) -> None:  # noqa: B027 it is known already
        """Read until `resumed` is known."""

    def learnt(self, examples: int) -> None:  # noqa: B027 there are no records
        """Record that this many of the examples that were read have been learnt."""

    def emit_names_once(self) -> None:  # noqa: B027 blocks go on naming all their features
        """Emit each name with the first block that has it, and rarely again: for a consumer that keeps all names."""

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
    """A stream with the facts of another object, such as the stream that its blocks come from."""

    def __init__(self, facts: StreamFacts) -> None:
        self._facts = facts

    @property
    def name(self) -> str:
        """The name of the source in messages."""
        return self._facts.name

    @property
    def options(self) -> Options:
        """The options that examples are read with."""
        return self._facts.options

    @property
    def space(self) -> FeatureSpace:
        """The meaning of the feature ids read so far."""
        return self._facts.space

    @property
    def examples(self) -> int:
        """Examples read so far."""
        return self._facts.examples

    @property
    def begins(self) -> Sequence[int]:
        """The number of examples before each source that has been opened."""
        return self._facts.begins

    @property
    def skipped(self) -> int:
        """The number of bad lines skipped."""
        return self._facts.skipped

    @property
    def remarks(self) -> Sequence[str]:
        """Lines for people on what was inferred of columns."""
        return self._facts.remarks

    @property
    def size(self) -> int | None:
        """Bytes to read; None if unknown."""
        return self._facts.size

    @property
    def position(self) -> int:
        """Bytes read so far; 0 if the size is unknown."""
        return self._facts.position

    def emit_names_once(self) -> None:
        """Emit each name with the first block that has it, and rarely again: for a consumer that keeps all names."""
        self._facts.emit_names_once()


class GivenBlocks(BlockIterator):
    """A stream of blocks that are not read from bytes: those of data in memory, or any that a user made."""

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
        if not isinstance(block, Block):
            raise OuzelError(
                f"a stream is blocks of examples, and this has a {type(block).__name__}; give ouzel.blocks_from(data)"
            )
        self.examples += block.rows
        self.space = block.space
        return block

    def close(self) -> None:
        """Stop reading."""
        if isinstance(self._blocks, Generator):
            self._blocks.close()


def as_stream(blocks: Iterable[Block]) -> BlockStream:
    """Blocks as a stream, unchanged if they are one already.

    Examples
    --------
    >>> stream = as_stream([])
    >>> stream.skipped, stream.size, as_stream(stream) is stream
    (0, None, True)
    """
    if isinstance(blocks, BlockStream):
        return blocks
    if isinstance(blocks, str) or not isinstance(blocks, Iterable):
        raise OuzelError(
            f"a stream is blocks of examples, as ouzel.read(path) and ouzel.blocks_from(data) give; got {blocks!r:.80}"
        )
    return GivenBlocks(blocks)
