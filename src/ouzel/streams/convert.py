"""`convert`: a stream in another format, to be read faster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path

from ouzel.errors import OuzelError
from ouzel.files import as_path, write_atomically
from ouzel.streams.block import Block
from ouzel.streams.block_stream import as_stream
from ouzel.streams.concatenation import concatenate
from ouzel.streams.formats.catalogue import FORMATS, Family, Format, by_file_name, find, names_of
from ouzel.streams.options import Options

ARROW = find("arrow")
PACKED = ("lz4", "zstd")
BATCH_ROWS, BATCH_FEATURES = 1 << 16, 1 << 20  # of a record batch at most; many small ones are slow to read


def format_of(path: str | Path, packed: str | None) -> Format:
    """The format of a file by the ending of its name; OuzelError, which lists the formats, if there is none."""
    format = by_file_name(path)
    if format is None or not format.is_converted_to:
        endings = ", ".join(ending for known in FORMATS.values() if known.is_converted_to for ending in known.suffixes)
        raise OuzelError(f"{path}: the ending of a file's name says what to convert to: {endings}")
    if packed is not None and (packed not in PACKED or not format.is_columnar):
        columnar = " and ".join(names_of(lambda known: known.is_columnar))
        raise OuzelError(f"{columnar} files are packed by {' or '.join(PACKED)}; got {packed!r} for {path}")
    return format


def convert(
    stream: Iterable[Block],
    path: str | Path,
    *,
    packed: str | None = None,
    on_block: Callable[[Block], object] = lambda block: None,
) -> int:
    """Write a stream to a file, which appears whole at the end; return the number of examples.

    The ending of the file's name says the format: .arrow and .parquet (`packed` by lz4 or zstd) keep all that blocks
    have, names of features too; .svm and .vw are text for other programs. `on_block` is called with each block.

    Examples
    --------
    >>> import tempfile, ouzel
    >>> folder = Path(tempfile.mkdtemp())
    >>> written = (folder / "tiny.csv").write_text("price,city,sold\\n2.5,Rome,1\\n3,Oslo,0\\n")
    >>> convert(ouzel.read(folder / "tiny.csv", label="sold"), folder / "tiny.arrow")
    2
    """
    format = format_of(as_path(path), packed)
    blocks = as_stream(stream)
    if format.family is Family.LINES:
        from ouzel.streams.formats.writing import write_lines

        return write_lines(_parts(blocks, on_block), path, format)
    count = 0
    for block in written(blocks, path, blocks.options, format, packed):
        count += block.rows
        on_block(block)
    return count


def written(
    blocks: Iterable[Block], path: str | Path, options: Options, format: Format = ARROW, packed: str | None = None
) -> Iterator[Block]:
    """The blocks of a stream, which are also written to an Arrow or Parquet file; it appears when all are read."""
    from ouzel.streams.formats.blocks import BlockTables

    rest = iter(blocks)
    first = next(rest, None)
    if first is None:
        return
    tables = BlockTables(options, first)
    with write_atomically(path) as file, format.module.writer(file, tables.schema, packed or "none") as writer:
        gathered: list[Block] = []
        for block in chain([first], rest):
            most = max(1, min(BATCH_ROWS, BATCH_FEATURES * block.rows // max(1, block.nonzeros)))
            for part in block.parts(most):
                if gathered and not _fit_together(gathered, part):
                    writer.write_batch(tables.batch(concatenate(gathered)))
                    gathered.clear()
                gathered.append(part)
            yield block
        writer.write_batch(tables.batch(concatenate(gathered)))


def _fit_together(gathered: list[Block], more: Block) -> bool:
    """Whether a block may be written in one record batch with those before it."""
    last, parts = gathered[-1], [*gathered, more]
    return (
        sum(part.rows for part in parts) <= BATCH_ROWS
        and sum(part.nonzeros for part in parts) <= BATCH_FEATURES
        and (last.label_names, last.space) == (more.label_names, more.space)
        and last.tags is None is more.tags
    )


def _parts(blocks: Iterable[Block], on_block: Callable[[Block], object]) -> Iterator[Block]:
    """The blocks in parts no larger than blocks of tables."""
    for block in blocks:
        yield from block.parts()
        on_block(block)
