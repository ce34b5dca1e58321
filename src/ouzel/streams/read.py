"""`read`: any source in any format as a stream of blocks."""

from __future__ import annotations

import weakref
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ouzel.deferred import deferred
from ouzel.files import as_path
from ouzel.streams.block import Block
from ouzel.streams.block_stream import DelegatingStream
from ouzel.streams.files import Files
from ouzel.streams.options import Options, make_options
from ouzel.streams.sources.addresses import is_database, is_log, only_log
from ouzel.streams.sources.source import Source

if TYPE_CHECKING:
    from ouzel.streams import block_cache
    from ouzel.streams.block_cache import BlockCache
    from ouzel.streams.logs.stream import LogStream
else:
    block_cache = deferred("ouzel.streams.block_cache")


def open_source(path: str | Path) -> Source:
    """The source at an address: a file, standard input for "-", the rows of a query, or the messages of a log.

    >>> open_source("-").name
    'standard input'
    """
    if is_database(path):
        from ouzel.streams.sources.databases import DatabaseSource

        return DatabaseSource(str(path))
    if is_log(path):
        from ouzel.streams.logs.log_source import LogSource

        return LogSource(str(path))
    return Source(path)


def read(
    source: str | Path | Iterable[str | Path],
    format: str | None = None,
    *,
    cache: str | Path | BlockCache | None = None,
    **options: Any,
) -> Stream | LogStream:
    """A stream of blocks of examples from a file, several files, standard input ("-"), or a log (kafka://server/topic).

    `format` is a name of `ouzel.streams.formats.catalogue`; by default it is detected from the file name or its
    contents, as compression (gzip, bzip2, xz, zstd) is from its contents. `cache` is a folder for parsed examples,
    from which the same files are read when they are read with the same options again. `options` are the fields of
    `ouzel.streams.options.Options`, and for a log those of `ouzel.streams.logs.reading.Reading` as well.
    Raises DataError at the first bad line, after everything before it has been given out, unless `on_error="skip"`.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "tiny.svm")
    >>> _ = path.write_text("+1 1:0.5 3:2\\n-1 2:1\\n")
    >>> [block.rows for block in read(path)]
    [2]
    """
    paths = [source] if isinstance(source, (str, Path)) or not isinstance(source, Iterable) else list(source)
    for path in paths:
        as_path(path)  # refuses what is none
    if any(map(is_log, paths)):
        from ouzel.streams.logs.stream import read_log

        return read_log(only_log(paths), format, options)
    made = make_options(options)
    known = block_cache.BlockCache(cache, made) if isinstance(cache, (str, Path)) else cache
    return Stream([open_source(path) for path in paths], format, made, known)


class Stream(DelegatingStream):
    """The examples of files, once through. `close` it, or use it with `with`, if you stop early.

    A stream that is dropped is closed at once, in the thread that drops it, because no reader refers to it. The garbage
    collector could close it in any thread, even in one that the closing has to wait for.
    """

    def __init__(
        self, sources: list[Source], format: str | None, options: Options, cache: BlockCache | None = None
    ) -> None:
        files = Files(sources, format, options, cache)
        super().__init__(files)
        self._blocks = files.blocks()
        self._close = weakref.finalize(self, _close_all, self._blocks, sources)
        self._close.atexit = False

    def _next(self) -> Block:
        return next(self._blocks)

    def close(self) -> None:
        """Stop reading."""
        self._close()


def _close_all(blocks: Generator[Block, None, None], sources: list[Source]) -> None:
    blocks.close()
    for source in sources:
        source.close()
