"""What the module of a format has, by its family, and what its reader is given."""

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


def no_remarks(source: str) -> list[str]:
    """No lines for people."""
    return []


class LineParser(NamedTuple):
    """What reads lines of one stream."""

    parse: Callable[[np.ndarray, int, int, Options], Parsed]
    """The examples in whole lines of text, `data[start:stop]` (uint8)."""
    remarks: Callable[[str], list[str]] = no_remarks
    """Lines for people at the end, on a source of that name."""


class LineFormat(Protocol):
    """Lines of text, each an example, that a kernel parses."""

    def parser(self, options: Options, emitter: NameEmitter) -> LineParser:
        """What parses the lines of a stream that is read with these options."""

    def lines_of(self, block: Block) -> Iterator[str]:
        """The examples of a block as lines; DataError where the format has no place for what they hold."""


class ColumnarFormat(Protocol):
    """Columns of types, as Arrow tables."""

    def tables(self, source: Source, options: Options) -> Iterator[pyarrow.Table]:
        """The tables of a file, the first of which may be empty: it tells the columns. None is validated yet."""

    def rows_stored(self, source: Source, limits: Limits) -> int:
        """How many rows a file has; uses the source up."""

    def writer(self, file: BinaryIO, schema: pyarrow.Schema, packed: str | None = None) -> Any:
        """What writes record batches or tables to a file, `packed` by a codec, or "none"; None: as is usual."""


class ArrayFormat(Protocol):
    """An array, read whole."""

    def read_blocks(self, source: Source, options: Options) -> Iterator[Block]:
        """The examples of a file."""
