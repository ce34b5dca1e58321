"""The cache of parsed examples: a folder with an Arrow file for each source, which is read instead of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from ouzel import __version__
from ouzel.errors import OuzelError
from ouzel.streams.block import Block
from ouzel.streams.convert import ARROW, written
from ouzel.streams.feature_space import FeatureSpace
from ouzel.streams.formats.catalogue import Format
from ouzel.streams.options import Options, make_options
from ouzel.streams.sources.error_context import error_context
from ouzel.streams.sources.source import Source
from ouzel.streams.stored_space import described

WITHOUT_EFFECT = ("limits", "inherited", "query", "space", "on_error")  # on the examples of a file that is read whole


class BlockCache:
    """A folder of parsed examples of files that are read with some options.

    The name of a file there is a digest of all that its examples depend on: the source, its size and time, the options,
    what was known of features when reading began, and this version.
    """

    def __init__(self, folder: str | Path, options: Options) -> None:
        self.folder = Path(folder)
        if not self.folder.is_dir():
            raise OuzelError(f"{folder}: is not a folder; make it first, and finished examples are kept in it")
        if options.on_error != "raise":
            raise OuzelError("examples are kept of files that are read whole; leave out", on_error=options.on_error)
        relevant = [field.name for field in fields(Options) if field.name not in WITHOUT_EFFECT]
        self._key = [{name: getattr(options, name) for name in relevant}, described(options.space)]

    def path_of(self, source: Source, format: Format) -> Path | None:
        """The cached file of a source, present or not; None for a pipe, and for an Arrow file, which needs none."""
        if not isinstance(source.path, Path) or source.size is None or format is ARROW:
            return None
        state = source.path.stat()
        key = [str(source.path.resolve()), state.st_size, state.st_mtime_ns, format.name, *self._key, __version__]
        digest = hashlib.blake2b(json.dumps(key).encode(), digest_size=16).hexdigest()
        return self.folder / f"{source.path.name[:64]}.{digest}.arrow"

    def storing(
        self, blocks: Iterable[Block], source: Source, format: Format, path: Path, options: Options
    ) -> Iterator[Block]:
        """The blocks of a source, which are in the cached file once all of them were read."""

        def read() -> Iterator[Block]:
            with error_context(source, format.name):  # its errors name the source, and not the cached file
                yield from blocks

        return written(read(), path, options)

    def read(self, source: Source, options: Options) -> Iterator[Block]:
        """The blocks of a cached file."""
        from ouzel.streams.formats.batches import read_table
        from ouzel.streams.tables.schema import ColumnKinds

        known = replace(options, inherited=tuple(field.name for field in fields(Options)))
        with error_context(source, ARROW.name):
            yield from read_table(source, known, ARROW, lambda count: None, ColumnKinds(known))


def cache_for(folder: str, reading: Mapping[str, Any], space: FeatureSpace, inherited: Sequence[str]) -> BlockCache:
    """The cache of examples that are read in this way for a model, by what it knows before anything is learnt."""
    return BlockCache(folder, make_options({**reading, "space": space, "inherited": inherited}))
