"""Files of any format as blocks of examples, parsed in threads of their own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Generator, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Self, cast

import numpy as np

from ouzel.errors import DataError, EmptyError, listed
from ouzel.streams.block import Block
from ouzel.streams.cache import Kept
from ouzel.streams.feature_space import NOTHING_KNOWN, meet
from ouzel.streams.formats.catalogue import Family, Format
from ouzel.streams.formats.detection import find_format
from ouzel.streams.interactions.deriver import Deriver
from ouzel.streams.kernels.lines import Parsed
from ouzel.streams.kernels.new_names import NameEmitter
from ouzel.streams.label_values import labels_in, sort_key
from ouzel.streams.limits import Limits
from ouzel.streams.options import OF_MESSAGES, Options, check_format, refuse_of_messages
from ouzel.streams.sources.chunks import Chunk, chunks_of
from ouzel.streams.sources.error_context import reading, reason_of
from ouzel.streams.sources.prefetch import BLOCKS_AHEAD, file_ahead, mapped_ahead
from ouzel.streams.sources.source import Source

if TYPE_CHECKING:
    from ouzel.streams.formats.protocol import LineParser
    from ouzel.streams.tables.schema import ColumnKinds

FEW = 20  # different labels of a block that are classes, so that others are other classes


class Sight(NamedTuple):
    """What the first block of a file shows."""

    name: str
    columns: Collection[str]  # of a table; nothing where features come one by one
    labels: set[Any]

    @classmethod
    def of(cls, name: str, block: Block) -> Self:
        """What a block of the file of this name shows."""
        columns = block.space.kinds if block.space.closed else ()
        return cls(name, columns, {label for label in labels_in(block) if label is not None})

    def against(self, first: Sight) -> list[str]:
        """Lines for people on what is not as in the stream's first file."""
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


def _shown(sight: Sight) -> str:
    return listed([str(label) for label in sorted(sight.labels, key=sort_key)], 3)


MOST_EXAMPLES = 1 << 60

Parser = Callable[[np.ndarray, int, int, Options], Parsed]


class Files:
    """Files that are read once through, and what is known of them so far."""

    def __init__(self, sources: list[Source], format: str | None, options: Options, kept: Kept | None = None) -> None:
        self.sources = sources
        self.options = options
        self.formats = [find_format(source, format) for source in sources]
        for source, found in zip(sources, self.formats, strict=True):
            for option in OF_MESSAGES:
                refuse_of_messages(options, source.name, option)
            check_format(options, source.name, found)
        self.examples = 0
        self.begins: list[int] = []  # examples before each source that has been begun
        self.skipped = 0  # bad lines left out
        self.remarks: list[str] = []  # on what was decided of columns, for people
        self.space = NOTHING_KNOWN  # what the ids read so far stand for
        self._sight: Sight | None = None  # of the first file
        self._kinds: ColumnKinds | None = None  # of the columns of tables
        self._parsers: dict[str, LineParser] = {}  # of formats of lines
        self._deriver = Deriver(options)
        self._telling = NameEmitter(options.bits)
        self._kept = kept
        self._stand_ins: dict[Source, Source] = {}  # what is read where a source was kept
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
        """Bytes of the files read so far; of one whose examples were kept, as large a part as was read of those."""
        return sum(self._position_of(source) for source in self.sources)

    def _position_of(self, source: Source) -> int:
        kept = self._stand_ins.get(source)
        return source.position if kept is None else (source.size or 0) * kept.position // max(1, kept.size or 0)

    def tell_names_once(self) -> None:
        """Have a name told by the first block that has it, and hardly by others: for one who keeps the names of all.

        Examples that are kept on the way have the names of their own file all the same.
        """
        if self._kept is None:
            self._telling.once = True
            self._deriver.tell_once()

    def blocks(self) -> Generator[Block, None, None]:
        """Their examples."""
        for source, format in zip(self.sources, self.formats, strict=True):
            self.begins.append(self.examples)
            before, given = self.examples + self.skipped, 0
            with reading(source, format.name):
                for block in self._finished(source, format):
                    if block.rows:
                        if not given and len(self.sources) > 1:
                            self._compare(Sight.of(source.name, block))
                        if self._groups is not None:
                            numbers = np.arange(self.examples, self.examples + block.rows)
                            block = block._replace(groups=np.searchsorted(self._groups, numbers, side="right"))
                        self.space = meet(self.space, block.space, learning=True)
                        places = np.arange(given, given + block.rows) if block.numbers is None else block.numbers
                        block = block._replace(space=self.space, numbers=before + places)
                        given += block.rows
                        self.examples += block.rows
                        self._telling.emitted(block.names)
                        yield block
        if not self.examples:
            if self.skipped:
                bad = f"all {self.skipped} lines are bad" if self.skipped > 1 else "its one line is bad"
                raise EmptyError.at(self.name, f"{bad}; if it is of another format, name that with", format="NAME")
            raise EmptyError.at(self.name, "there are no examples in it; there is nothing to learn from")
        for parser in self._parsers.values():
            self.remarks += parser.remarks(self.sources[-1].name)
        self.remarks += self._deriver.unknown(self.sources[-1].name)

    def _finished(self, source: Source, format: Format) -> Iterator[Block]:
        """The blocks of a source with what is made of their features, from where they are kept or on the way there."""
        place = None if self._kept is None else self._kept.place_of(source, format)
        if self._kept is not None and place is not None and place.exists():
            self._stand_ins[source] = Source(place)
            return self._kept.read(self._stand_ins[source], self.options)
        blocks = self._deriver.all(self._blocks_of(source, format), whole=False)
        return (
            blocks
            if self._kept is None or place is None
            else self._kept.keeping(blocks, source, format, place, self.options)
        )

    def _compare(self, sight: Sight) -> None:
        """Note what a file's first block has otherwise than that of the stream's first file."""
        if self._sight is None:
            self._sight = sight
        self.remarks += sight.against(self._sight)

    def _blocks_of(self, source: Source, format: Format) -> Iterator[Block]:
        if format.family is Family.LINES:
            if format.name not in self._parsers:
                self._parsers[format.name] = format.module.parser(self.options, self._telling)
            return self._lines(source, self._parsers[format.name].parse)
        if format.family is Family.ARRAYS:
            return cast(Iterator[Block], format.module.read_blocks(source, self.options))
        from ouzel.streams.formats.batches import read_table
        from ouzel.streams.tables.schema import ColumnKinds

        if self._kinds is None:
            self._kinds = ColumnKinds(self.options, self.remarks.append)
        blocks = read_table(source, self.options, format, self._count_skipped, self._kinds, self._telling)
        return file_ahead(source, blocks, BLOCKS_AHEAD)

    def _count_skipped(self, count: int) -> None:
        with self._counting:  # several threads read
            self.skipped += count

    def _lines(self, source: Source, parse: Parser) -> Iterator[Block]:
        lines = rows = 0
        parse_chunk = partial(_parse_chunk, parse, self.options)
        chunks = chunks_of(source, self.options.limits)
        for parsed in mapped_ahead(parse_chunk, chunks, endless=source.size is None):
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
    with reading(source, "query"):
        try:
            sizes = np.array([int(line) for line in source.read_all(limits).split()], np.int64)
            if (sizes < 0).any() or sizes.sum(dtype=np.float64) > MOST_EXAMPLES:
                raise ValueError(f"found {sizes.min()} to {sizes.max()}")
        except (OverflowError, ValueError) as error:
            raise DataError.at(
                path, f"expected the number of examples of each group, one a line ({reason_of(error)})"
            ) from None
        return np.cumsum(sizes)
