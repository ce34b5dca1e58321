"""Metadata of messages, their keys and headers, as columns like any other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

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


NO_METADATA = MetadataFields()


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
