"""What comes beside a message, its key and its headers, as members of what it holds: columns like any other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ouzel.streams.options import Options, refuse_of_messages
from ouzel.streams.sources.addresses import address_of, is_database

KEY, HEADER = "key", "header:"
FIELDS = {"with_key": "key", "with_headers": "field"}  # what an address of Redis must name

Members = Mapping[str, str]


class Beside(NamedTuple):
    """What of it is wanted."""

    key: bool = False
    headers: bool = False

    def members(self, key: bytes | str | None, headers: Iterable[tuple[str, Any]]) -> Members:
        """Those of a message with a key and headers.

        >>> Beside(True, True).members(b"ann", [("from", b"app")])
        {'key': 'ann', 'header:from': 'app'}
        """
        found = {KEY: _text(key)} if self.key and key is not None else {}
        if self.headers:
            found |= {HEADER + name: _text(value) for name, value in headers if value is not None}
        return found


NOTHING = Beside()


def beside_of(options: Options) -> Beside:
    """What is asked for."""
    return Beside(options.with_key, options.with_headers)


def check_beside(options: Options, name: str, url: str) -> None:
    """Refuse to ask for what comes beside messages of a source at an address that has none."""
    for option in FIELDS:
        if has(url, option):
            continue
        fields = " unless its address names their fields, as in redis://server/stream?field=message&key=user"
        refuse_of_messages(options, name, option, "" if is_database(url) else fields)


def has(url: str, option: str) -> bool:
    """Whether messages at an address have what an option asks for.

    >>> has("kafka://broker/clicks", "with_key"), has("redis://server/clicks", "with_key")
    (True, False)
    """
    if is_database(url):
        return False
    address = address_of(url)
    return address.kind.has_keys or FIELDS[option] in address.options


def _text(value: bytes | str) -> str:
    """A key or a header as text; bytes that are none are written as Python does."""
    return value if isinstance(value, str) else value.decode("utf-8", "backslashreplace")
