"""The protocols that modules of formats follow, one for each family."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, Protocol

import numpy as np

from ouzel.streams.block import Block
from ouzel.streams.kernels.lines import Parsed
from ouzel.streams.kernels.new_names import NameEmitter
from ouzel.streams.limits import Limits
from ouzel.streams.options import Options
from ouzel.streams.sources.source import Source

if TYPE_CHECKING:
    import pyarrow

    from ouzel.streams.tables.schema import ColumnKinds


def no_remarks(source: str) -> list[str]:
    """Return no lines for people."""
    return []


class LineParser(NamedTuple):
    """The parser of the lines of one stream."""

    parse: Callable[[np.ndarray, int, int, Options], Parsed]
    """Parses whole lines of text, `data[start:stop]` (uint8)."""
    remarks: Callable[[str], list[str]] = no_remarks
    """Returns lines for people at the end of a source of that name."""


class LineFormat(Protocol):
    """Lines of text, each an example, that a kernel parses."""

    def parser(self, options: Options, emitter: NameEmitter) -> LineParser:
        """Return the parser of the lines of a stream that is read with these options."""

    def lines_of(self, block: Block) -> Iterator[str]:
        """Yield the examples of a block as lines; DataError if the format cannot hold them."""


class ColumnarFormat(Protocol):
    """Columns of types, as Arrow tables."""

    def tables(self, source: Source, options: Options) -> Iterator[pyarrow.Table]:
        """Yield the tables of a file, not validated; the first may be empty, and names the columns."""

    def rows_stored(self, source: Source, limits: Limits) -> int:
        """Return the number of rows in a file; consumes the source."""

    def writer(self, file: BinaryIO, schema: pyarrow.Schema, packed: str | None = None) -> Any:
        """Return a writer of record batches or tables to a file, `packed` by a codec, "none", or the default (None)."""


class RecordFormat(Protocol):
    """Records of several kinds, in one file."""

    def read_records(
        self,
        source: Source,
        options: Options,
        skipped: Callable[[int], None],
        kinds: ColumnKinds,
        emitter: NameEmitter | None = None,
    ) -> Iterator[Block]:
        """Yield the blocks of a file; `kinds` decides what members of objects hold."""


class ArrayFormat(Protocol):
    """An array, read whole."""

    def read_blocks(self, source: Source, options: Options) -> Iterator[Block]:
        """Yield the blocks of a file."""
