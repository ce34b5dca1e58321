"""Messages as lines, and the results of decoding them: examples and bad lines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from ouzel.errors import DataError
from ouzel.streams.block import Block
from ouzel.streams.formats.catalogue import Family, Format
from ouzel.streams.formats.json_python import object_of, with_members
from ouzel.streams.logs.protocol import Batch, shown
from ouzel.streams.options import Options, refuse_of_messages
from ouzel.streams.sources.addresses import address_of, is_database

KEY, HEADER = "key", "header:"
ADDRESS_FIELDS = {"with_key": "key", "with_headers": "field"}  # options of an address of Redis

Metadata = Mapping[str, str]  # of one message: columns and their values


class MetadataFields(NamedTuple):
    """Selection of the metadata that become columns."""

    key: bool = False
    headers: bool = False

    def of_message(self, key: bytes | str | None, headers: Iterable[tuple[str, bytes | str | None]]) -> Metadata:
        """Select from the key and headers of a message.

        >>> MetadataFields(True, True).of_message(b"ann", [("from", b"app")])
        {'key': 'ann', 'header:from': 'app'}
        """
        found = {KEY: _text(key)} if self.key and key is not None else {}
        if self.headers:
            found |= {HEADER + name: _text(value) for name, value in headers if value is not None}
        return found


NO_METADATA: MetadataFields = MetadataFields()


def metadata_fields(options: Options) -> MetadataFields:
    """Return the metadata that options request."""
    return MetadataFields(options.with_key, options.with_headers)


def check_metadata(options: Options, name: str, url: str) -> None:
    """Refuse options that request metadata of an address whose messages have none."""
    for option in ADDRESS_FIELDS:
        if has_metadata(url, option):
            continue
        fields = " unless its address names their fields, as in redis://server/stream?field=message&key=user"
        refuse_of_messages(options, name, option, "" if is_database(url) else fields)


def has_metadata(url: str, option: str) -> bool:
    """Whether messages at an address have the metadata that an option requests.

    >>> has_metadata("kafka://broker/clicks", "with_key"), has_metadata("redis://server/clicks", "with_key")
    (True, False)
    """
    if is_database(url):
        return False
    address = address_of(url)
    return address.kind.has_keys or ADDRESS_FIELDS[option] in address.options


def _text(value: bytes | str) -> str:
    """Decode a key or a header; bytes that are not UTF-8 are escaped as Python does."""
    return value if isinstance(value, str) else value.decode("utf-8", "backslashreplace")


class Bad(NamedTuple):
    """A line that is not an example."""

    message: int  # its index in the batch
    line: int  # its index in the batch
    error: DataError
    original: bytes  # the whole message

    @property
    def reason(self) -> str:
        """The error as a line; its advice is left out if that is to skip the line."""
        return self.error.reason if self.error.options == {"on_error": "skip"} else str(self.error)


class Decoded(NamedTuple):
    """The examples and bad lines of a batch."""

    batch: Batch
    blocks: list[Block]
    lines: np.ndarray  # (rows,) int64, the line of each row
    firsts: np.ndarray  # (n + 1,) int64, the first line of each message, then the number of lines
    bad: list[Bad]


def content(value: bytes | None, format: Format | None) -> list[bytes]:
    """Split a message into its lines that are not blank; a JSON object on several lines becomes one.

    `format` is None while it is not known.

    >>> from ouzel.streams.formats.catalogue import find
    >>> json_lines, svmlight = find("jsonl"), find("svmlight")
    >>> content(b'{"a":\\n1}', json_lines), content(b"1 2:3\\n\\n0 4:5\\n", svmlight), content(None, svmlight)
    ([b'{"a": 1}'], [b'1 2:3', b'0 4:5'], [])
    """
    lines = [line for line in (value or b"").splitlines() if line.strip()]
    if format is not None and format.family is Family.OBJECTS and len(lines) > 1:
        try:
            object_of(b" ".join(lines))
        except (ValueError, RecursionError):
            return lines
        return [b" ".join(lines)]
    return [line for line in lines if format is None or not format.comment or not line.startswith(format.comment)]


def lines_of(batch: Batch, format: Format | None) -> list[list[bytes]]:
    """Return the lines of each message, with its metadata as members."""
    lines = [content(value, format) for value in batch.values]
    if not batch.metadata:
        return lines
    return [[with_members(line, members) for line in some] for some, members in zip(lines, batch.metadata, strict=True)]


def location_of(name: str, batch: Batch, message: int) -> str:
    """Describe the location of a message for people."""
    partition = f"partition {batch.partition}, " if batch.partition else ""
    return f"{name}: {partition}offset {shown(batch.places[message])}"
