"""Finished examples kept in a folder, each source as an Arrow file of its own: what was read once is read no more."""

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
from ouzel.streams.convert import written
from ouzel.streams.feature_space import FeatureSpace
from ouzel.streams.formats.catalogue import Format, find
from ouzel.streams.options import Options, make_options
from ouzel.streams.sources.error_context import error_context
from ouzel.streams.sources.source import Source
from ouzel.streams.stored_space import described

ARROW = find("arrow")
MEANS_NOTHING = ("limits", "inherited", "query", "space", "on_error")  # to what the examples of a file are


class Kept:
    """A folder of finished examples of files that are read with some options.

    What a file is called there tells all that its examples depend on: the source, its size and time, the options, what
    was known of features when reading began, and this version. So nothing else is taken for it.
    """

    def __init__(self, folder: str | Path, options: Options) -> None:
        self.folder = Path(folder)
        if not self.folder.is_dir():
            raise OuzelError(f"{folder}: is not a folder; make it first, and finished examples are kept in it")
        if options.on_error != "raise":
            raise OuzelError("examples are kept of files that are read whole; leave out", on_error=options.on_error)
        said = {
            field.name: getattr(options, field.name) for field in fields(Options) if field.name not in MEANS_NOTHING
        }
        self._said = [said, described(options.space)]

    def place_of(self, source: Source, format: Format) -> Path | None:
        """Where the examples of a source lie, or are to lie; None of what arrives, or is an Arrow file anyway."""
        if not isinstance(source.path, Path) or source.size is None or format is ARROW:
            return None
        state = source.path.stat()
        told = [str(source.path.resolve()), state.st_size, state.st_mtime_ns, format.name, *self._said, __version__]
        digest = hashlib.blake2b(json.dumps(told).encode(), digest_size=16).hexdigest()
        return self.folder / f"{source.path.name[:64]}.{digest}.arrow"

    def keeping(
        self, blocks: Iterable[Block], source: Source, format: Format, place: Path, options: Options
    ) -> Iterator[Block]:
        """The blocks of a source, which lie in their place when all were read."""

        def read() -> Iterator[Block]:
            with error_context(source, format.name):  # what goes wrong in it is not the place's fault
                yield from blocks

        return written(read(), place, options)

    def read(self, source: Source, options: Options) -> Iterator[Block]:
        """The blocks that were kept in a place."""
        from ouzel.streams.formats.batches import read_table
        from ouzel.streams.tables.schema import ColumnKinds

        known = replace(options, inherited=tuple(field.name for field in fields(Options)))
        with error_context(source, ARROW.name):
            yield from read_table(source, known, ARROW, lambda count: None, ColumnKinds(known))


def kept_in(folder: str, reading: Mapping[str, Any], space: FeatureSpace, inherited: Sequence[str]) -> Kept:
    """Where examples are kept that are read in this way for a model, by what it knows before anything is learnt."""
    return Kept(folder, make_options({**reading, "space": space, "inherited": inherited}))
