"""Groups of examples, such as the documents found for one query, kept whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Self

import numpy as np

from ouzel.errors import DataError
from ouzel.streams.block import Block
from ouzel.streams.concatenation import concatenate


def whole_groups(blocks: Iterable[Block]) -> Iterator[Block]:
    """The same examples in blocks that end where a group ends. A group is a run of examples with one group number."""
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


class Groups:
    """A stream to learn a ranking from: its blocks hold whole groups. Else it is the stream it is made of."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._blocks = whole_groups(self._checked())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Block:
        return next(self._blocks)

    def _checked(self) -> Iterator[Block]:
        for block in self._stream:
            if block.groups is None:
                names = ", ".join(source.name for source in self._stream.sources)
                raise DataError(
                    f"{names}: has no groups to rank within: no qid:N in svmlight text; name a table's column with",
                    group="NAME",
                )
            if block.label_names is not None:
                raise DataError(
                    f"the label {block.label_names[0]!r} is not a number, and the better example is to have more"
                )
            yield block
