"""Groups of examples, such as the documents found for one query, kept whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from ouzel.streams.block import Block, concatenate


def whole_groups(blocks: Iterable[Block]) -> Iterator[Block]:
    """The same examples in blocks that end where a group ends. A group is a run of examples with one group number."""
    rest: Block | None = None
    for block in blocks:
        joined = block if rest is None else concatenate(rest, block)
        groups = np.zeros(joined.rows) if joined.groups is None else joined.groups
        cut = int(np.flatnonzero(np.diff(groups, prepend=np.nan))[-1])
        if cut:
            yield joined.select(np.arange(cut))
        rest = joined.select(np.arange(cut, joined.rows))
    if rest is not None and rest.rows:
        yield rest
