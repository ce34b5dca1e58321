"""Streams whose blocks hold whole groups of examples, such as the documents found for one query."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from ouzel.errors import DataError
from ouzel.streams.block import Block
from ouzel.streams.block_stream import BlockStream, DelegatingStream
from ouzel.streams.concatenation import concatenate


def whole_groups(blocks: Iterable[Block]) -> Iterator[Block]:
    """The examples in blocks that end where a group ends; a group is a run of examples with one group number."""
    rest: Block | None = None
    for block in blocks:
        joined = block if rest is None else concatenate([rest, block])
        groups = np.zeros(joined.rows) if joined.groups is None else joined.groups
        cut = int(np.flatnonzero(np.diff(groups, prepend=np.nan))[-1])
        if cut:
            yield joined.select(np.arange(cut))
        rest = joined.select(np.arange(cut, joined.rows))
    if rest is not None and rest.rows:
        yield rest


class Groups(DelegatingStream):
    """A stream whose blocks hold whole groups, to learn a ranking from."""

    def __init__(self, stream: BlockStream) -> None:
        super().__init__(stream)
        self._stream = stream
        self._blocks = whole_groups(_checked(stream))

    def _next(self) -> Block:
        return next(self._blocks)

    def close(self) -> None:
        """Stop reading."""
        self._stream.close()


def _checked(stream: BlockStream) -> Iterator[Block]:
    """The blocks of a stream, which must have groups and numbers for labels."""
    for block in stream:
        if block.groups is None:
            raise DataError(
                f"{stream.name}: has no groups to rank within: no qid:N in svmlight text; name a table's column with",
                group="NAME",
            )
        if block.label_names is not None:
            raise DataError(
                f"the label {block.label_names[0]!r} is not a number, and the better example is to have more"
            )
        yield block
