"""Blocks with the crosses of their factors: `Crosser`, of which a stream has one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from ouzel.errors import DataError, listed
from ouzel.streams.block import Block, Names
from ouzel.streams.crosses.factors import Factors
from ouzel.streams.crosses.naming import all_factors, combinations
from ouzel.streams.crosses.rows import count_crosses, cross_rows, name_sizes, write_names
from ouzel.streams.feature_names import FILTER_BITS
from ouzel.streams.options import Options
from ouzel.streams.patterns import matches

AT_ONCE = 1 << 18  # features that are made at a time: what fits a cache
FEWEST = 1024  # rows
MOST_OF_A_ROW = 1 << 24
MOST_NAMED = 1 << 19  # crosses whose names are told, until they are told anew
AGAIN = 1 << 18  # examples after which names are told anew, for models that forget them


class Crosser:
    """Makes the crosses that the options of a stream ask for, of one block after the other."""

    def __init__(self, options: Options) -> None:
        self.crosses = options.crossed
        self.mask = np.uint64((1 << options.bits) - 1)
        self._learnt = options.space.known
        self.met: set[str] = set()  # fields
        self._noted = np.zeros(max(1, 1 << min(options.bits, FILTER_BITS) >> 6), np.uint64)
        self._named = self._rows = 0

    def all(self, blocks: Iterable[Block], whole: bool = True) -> Iterator[Block]:
        """The blocks with their crosses; those of very many features in parts, unless they are to stay `whole`."""
        for block in blocks:
            yield from self.parts(block, whole) if self.crosses else (block,)

    def tell_again(self) -> None:
        """Tell the names of crosses from the next block on anew."""
        self._noted[:] = 0
        self._named = self._rows = 0

    def unknown(self, name: str) -> list[str]:
        """A line for people if a cross is of fields that were not met."""
        odd = [field for field in all_factors(self.crosses) if not any(matches(one, (field,)) for one in self.met)]
        return [f"{name}: nothing to cross is called {listed(odd)}"] if odd else []

    def parts(self, block: Block, whole: bool = False) -> Iterator[Block]:
        """A block with its crosses, in parts."""
        factors = block.factors
        if factors is None:
            if not block.rows or not block.space.known or block.space.crosses == self.crosses:
                yield block
                return
            crosses = ", ".join(self.crosses)
            if self._learnt:
                raise DataError(
                    f"the model was learnt with the crosses {crosses}, and this data has no columns to cross"
                )
            raise DataError(f"there are no columns or namespaces to cross in this data; leave out --cross {crosses}")
        self.met.update(factors.names)
        table, sizes = combinations(factors.names, self.crosses)
        counts = np.empty(block.rows)
        count_crosses(factors.entries, table, sizes, np.int64(len(factors.names)), counts)
        if counts.max(initial=0) > MOST_OF_A_ROW:
            row = int(np.argmax(counts))
            raise DataError(
                f"row {row + 1} of a block makes {counts[row]:,.0f} crosses; cross columns of fewer features"
            )
        ends = np.cumsum(counts + np.diff(block.offsets))
        start = 0
        block = block._replace(space=block.space._replace(crosses=self.crosses, named=True))
        while start < block.rows:
            before = ends[start - 1] if start else 0.0
            stop = block.rows
            if not whole:
                stop = min(stop, max(start + FEWEST, int(np.searchsorted(ends, before + AT_ONCE))))
            widest = int((counts + np.diff(block.offsets))[start:stop].max())
            yield self._crossed(block, factors, table, sizes, start, stop, int(ends[stop - 1] - before), widest)
            start = stop

    def _crossed(
        self,
        block: Block,
        factors: Factors,
        table: np.ndarray,
        sizes: np.ndarray,
        start: int,
        stop: int,
        room: int,
        widest: int,
    ) -> Block:
        """Rows of a block with their crosses, at most so many features, and `widest` of a row."""
        if self._rows > AGAIN:
            self.tell_again()
        self._rows += stop - start
        entries = factors.entries
        offsets = np.empty(stop - start + 1, np.uint64)
        ids, values = np.empty(room, np.uint32), np.empty(room, np.float32)
        few = min(room, MOST_NAMED - self._named)
        notes, note_ids = np.empty((few, table.shape[1]), np.int64), np.empty(few, np.uint32)
        longest = int(np.diff(entries.bounds[start:stop]).max(initial=0))
        named = cross_rows(
            block.offsets,
            block.indices,
            block.values,
            entries,
            np.int64(start),
            np.int64(stop),
            table,
            sizes,
            np.int64(len(factors.names)),
            self.mask,
            self._noted,
            np.zeros(1 << (2 * widest).bit_length(), np.uint32),
            np.int64(longest),
            offsets,
            ids,
            values,
            notes,
            note_ids,
        )
        self._named += int(named)
        end = int(offsets[-1])
        made = block.slice(start, stop)._replace(offsets=offsets, indices=ids[:end], values=values[:end], factors=None)
        names = _names_of(factors, notes[: int(named)], note_ids[: int(named)])
        return made._replace(names=Names.joined([None if start else block.names, names]))


def _names_of(factors: Factors, notes: np.ndarray, ids: np.ndarray) -> Names | None:
    """The names of crosses that were noted."""
    if not len(notes):
        return None
    sizes = np.cumsum([0, *map(len, factors.prefixes)]).astype(np.uint64)
    prefixes = np.frombuffer(b"".join(factors.prefixes) + b" ", np.uint8)
    ends = np.empty(len(notes), np.uint64)
    name_sizes(factors.entries, sizes, notes, ends)
    text = np.empty(int(ends[-1]), np.uint8)
    write_names(factors.entries, prefixes, sizes, notes, text)
    return Names(ids, np.concatenate([np.zeros(1, np.uint64), ends[:-1]]), ends, text)
