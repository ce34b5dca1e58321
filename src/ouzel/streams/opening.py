"""The source at a path or an address. What reads logs and databases is imported only for them."""

from __future__ import annotations

from pathlib import Path

from ouzel.streams.sources.addresses import is_database, is_log
from ouzel.streams.sources.source import Source


def open_source(path: str | Path) -> Source:
    """A file, standard input for "-", the rows that a database answers, or the messages of a log as lines.

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
