"""Files of any format as one stream of blocks, parsed in other threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Generator, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Self, cast

import numpy as np

from ouzel.deferred import deferred
from ouzel.errors import DataError, EmptyError, listed
from ouzel.streams.block import Block
from ouzel.streams.feature_space import NOTHING_KNOWN, reconcile
from ouzel.streams.formats.catalogue import Family, Format, find_format
from ouzel.streams.kernels.lines import Parsed
from ouzel.streams.kernels.new_names import NameEmitter
from ouzel.streams.labels import labels_in, sort_key
from ouzel.streams.limits import Limits
from ouzel.streams.options import OF_MESSAGES, Options, check_format, refuse_of_messages
from ouzel.streams.sources.error_context import error_context, reason_of
from ouzel.streams.sources.prefetch import BLOCKS_AHEAD, prefetch_file, prefetch_map
from ouzel.streams.sources.source import Source

if TYPE_CHECKING:
    from ouzel.streams.block_cache import BlockCache
    from ouzel.streams.formats.protocol import LineParser
    from ouzel.streams.interactions import deriver
    from ouzel.streams.sources import chunks
    from ouzel.streams.sources.chunks import Chunk
    from ouzel.streams.tables.schema import ColumnKinds
else:
    deriver = deferred("ouzel.streams.interactions.deriver")
    chunks = deferred("ouzel.streams.sources.chunks")  # of lines

FEW = 20  # different labels that are surely classes
MOST_EXAMPLES = 1 << 60
Parser = Callable[[np.ndarray, int, int, Options], Parsed]


class FileProfile(NamedTuple):
    """The columns and labels in the first block of a file, for comparison with other files of a stream."""

    name: str
    columns: Collection[str]  # of a table; empty where the vocabulary is open
    labels: set[Any]

    @classmethod
    def of(cls, name: str, block: Block) -> Self:
        """The profile of the file of this name, by its first block."""
        columns = block.space.kinds if block.space.fixed_columns else ()
        return cls(name, columns, {label for label in labels_in(block) if label is not None})

    def differences_from(self, first: FileProfile) -> list[str]:
        """Lines for people on what differs from the stream's first file."""
        found = []
        more = [name for name in self.columns if name not in first.columns]
        less = [name for name in first.columns if name not in self.columns]
        if self.columns and first.columns and (more or less):
            said = [f"{what} {listed(names, 5)}" for what, names in (("with", more), ("without", less)) if names]
            found.append(f"{self.name}: has other columns than {first.name}, {' and '.join(said)}")
        few = max(len(self.labels), len(first.labels)) <= FEW
        kinds, before = ({isinstance(label, str) for label in labels} for labels in (self.labels, first.labels))
        if self.labels and first.labels and not self.labels & first.labels and (few or kinds != before):
            found.append(f"{self.name}: has other labels, {_shown(self)}, than {first.name}, {_shown(first)}")
        return [f"{line}; they are read as one stream" for line in found]


def _shown(profile: FileProfile) -> str:
    return listed([str(label) for label in sorted(profile.labels, key=sort_key)], 3)


class Files:
    """Files that are read once through, and facts on what was read so far."""

    def __init__(
        self, sources: list[Source], format: str | None, options: Options, cache: BlockCache | None = None
    ) -> None:
        self.sources = sources
        self.options = options
        self.formats = [find_format(source, format) for source in sources]
        for source, found in zip(sources, self.formats, strict=True):
            for option in OF_MESSAGES:
                refuse_of_messages(options, source.name, option)
            check_format(options, source.name, found)
        self.examples = 0
        self.begins: list[int] = []  # examples before each source that has been opened
        self.skipped = 0  # bad lines skipped
        self.remarks: list[str] = []  # on what was inferred of columns, for people
        self.space = NOTHING_KNOWN  # the meaning of the ids read so far
        self._profile: FileProfile | None = None  # of the first file
        self._kinds: ColumnKinds | None = None  # of the columns of tables
        self._parsers: dict[str, LineParser] = {}  # of formats of lines
        self._deriver = deriver.Deriver(options) if options.derived else None
        self._emitter = NameEmitter(options.bits)
        self._cache = cache
        self._cache_sources: dict[Source, Source] = {}  # cached files that are read instead of sources
        self._counting = threading.Lock()
        sizes = [source.size for source in sources]
        self.size = None if None in sizes else sum(size or 0 for size in sizes)
        self._groups = _group_ends(options.query, options.limits) if options.query else None

    @property
    def name(self) -> str:
        """The sources in words, for messages."""
        return ", ".join(source.name for source in self.sources)

    @property
    def position(self) -> int:
        """Bytes of the files read so far; a cached file counts for the same share of its source."""
        return sum(self._position_of(source) for source in self.sources)

    def _position_of(self, source: Source) -> int:
        cached = self._cache_sources.get(source)
        if cached is None:
            return source.position
        return (source.size or 0) * cached.position // max(1, cached.size or 0)

    def emit_names_once(self) -> None:
        """Emit each name with the first block that has it, and rarely again: for a consumer that keeps all names.

        Blocks that are written to a cache have all names of their file all the same.
        """
        if self._cache is None:
            self._emitter.once = True
            if self._deriver is not None:
                self._deriver.emit_names_once()

    def blocks(self) -> Generator[Block, None, None]:
        """The blocks of all files."""
        for source, format in zip(self.sources, self.formats, strict=True):
            self.begins.append(self.examples)
            before, given = self.examples + self.skipped, 0
            with error_context(source, format.name):
                for block in self._cached_or_parsed(source, format):
                    if block.rows:
                        if not given and len(self.sources) > 1:
                            self._compare(FileProfile.of(source.name, block))
                        if self._groups is not None:
                            numbers = np.arange(self.examples, self.examples + block.rows)
                            block = block._replace(groups=np.searchsorted(self._groups, numbers, side="right"))
                        self.space = reconcile(self.space, block.space, learning=True)
                        places = np.arange(given, given + block.rows) if block.numbers is None else block.numbers
                        block = block._replace(space=self.space, numbers=before + places)
                        given += block.rows
                        self.examples += block.rows
                        self._emitter.emitted(block.names)
                        yield block
        if not self.examples:
            if self.skipped:
                bad = f"all {self.skipped} lines are bad" if self.skipped > 1 else "its one line is bad"
                raise EmptyError.at(self.name, f"{bad}; if it is of another format, name that with", format="NAME")
            raise EmptyError.at(self.name, "there are no examples in it; there is nothing to learn from")
        for parser in self._parsers.values():
            self.remarks += parser.remarks(self.sources[-1].name)
        if self._deriver is not None:
            self.remarks += self._deriver.unknown(self.sources[-1].name)

    def _cached_or_parsed(self, source: Source, format: Format) -> Iterator[Block]:
        """The blocks of a source with their derived features, from the cache or on the way into it."""
        path = None if self._cache is None else self._cache.path_of(source, format)
        if self._cache is not None and path is not None and path.exists():
            self._cache_sources[source] = Source(path)
            return self._cache.read(self._cache_sources[source], self.options)
        blocks = self._blocks_of(source, format)
        if self._deriver is not None:
            blocks = self._deriver.derive(blocks, whole=False)
        if self._cache is None or path is None:
            return blocks
        return self._cache.storing(blocks, source, format, path, self.options)

    def _compare(self, profile: FileProfile) -> None:
        """Remark on the differences of a file from the stream's first one."""
        if self._profile is None:
            self._profile = profile
        self.remarks += profile.differences_from(self._profile)

    def _blocks_of(self, source: Source, format: Format) -> Iterator[Block]:
        if format.family is Family.LINES:
            if format.name not in self._parsers:
                self._parsers[format.name] = format.module.parser(self.options, self._emitter)
            return self._lines(source, self._parsers[format.name].parse)
        if format.family is Family.ARRAYS:
            return cast(Iterator[Block], format.module.read_blocks(source, self.options))
        from ouzel.streams.tables.schema import ColumnKinds

        if self._kinds is None:
            self._kinds = ColumnKinds(self.options, self.remarks.append)
        blocks = self._blocks_of_columns(source, format, self._kinds)
        return prefetch_file(source, blocks, BLOCKS_AHEAD)

    def _blocks_of_columns(self, source: Source, format: Format, kinds: ColumnKinds) -> Iterator[Block]:
        if format.family is Family.RECORDS:
            from ouzel.streams.formats.records import read_records

            return read_records(source, self.options, self._count_skipped, kinds, self._emitter)
        from ouzel.streams.formats.batches import read_table

        return read_table(source, self.options, format, self._count_skipped, kinds, self._emitter)

    def _count_skipped(self, count: int) -> None:
        with self._counting:  # several threads read
            self.skipped += count

    def _lines(self, source: Source, parse: Parser) -> Iterator[Block]:
        lines = rows = 0
        parse_chunk = partial(_parse_chunk, parse, self.options)
        pieces = chunks.chunks_of(source, self.options.limits)
        for parsed in prefetch_map(parse_chunk, pieces, endless=source.size is None):
            self.skipped += parsed.skipped
            assert parsed.block.numbers is not None
            yield parsed.block._replace(numbers=parsed.block.numbers + rows)
            rows += parsed.block.rows + parsed.skipped
            if parsed.problem is not None:
                raise parsed.problem.error(source.name, lines)
            lines += parsed.lines


def _parse_chunk(parse: Parser, options: Options, chunk: Chunk) -> Parsed:
    return parse(*chunk, options)


def _group_ends(path: str, limits: Limits) -> np.ndarray:
    """Where each group ends, from a file with one size a line."""
    source = Source(path)
    with error_context(source, "query"):
        try:
            sizes = np.array([int(line) for line in source.read_all(limits).split()], np.int64)
            if (sizes < 0).any() or sizes.sum(dtype=np.float64) > MOST_EXAMPLES:
                raise ValueError(f"found {sizes.min()} to {sizes.max()}")
        except (OverflowError, ValueError) as error:
            raise DataError.at(
                path, f"expected the number of examples of each group, one a line ({reason_of(error)})"
            ) from None
        return np.cumsum(sizes)
