"""The format of a source: the given one, or detected from its name, or from its first bytes."""

from __future__ import annotations

from ouzel.errors import DataError
from ouzel.streams.formats.catalogue import Format, by_content, by_file_name, find
from ouzel.streams.sources.source import Source


def find_format(source: Source, given: str | None) -> Format:
    """Return the format of a source; `given` if there is one.

    >>> find_format(Source("-"), "vw").name
    'vw'
    """
    known = given if given is not None else source.format
    if known is not None:
        return find(known)
    return by_file_name(source.plain_name) or _by_content(source)


def _by_content(source: Source) -> Format:
    head = source.peek()
    if not head:
        raise DataError.at(source.name, "is empty; there is nothing to learn from")
    return by_content(head, source.name)
