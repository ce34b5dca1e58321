"""What comes beside a message, its key and its headers, as members of what it holds: columns like any other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ouzel.errors import OuzelError
from ouzel.streams.logs.address import address_of
from ouzel.streams.logs.databases import is_database
from ouzel.streams.options import Options

KEY, HEADER = "key", "header:"
KEYED = ("kafka", "nats")
FIELDS = {"with_key": "key", "with_headers": "field"}  # what an address of Redis must name
WORDS = {"with_key": "keys", "with_headers": "headers"}

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


def check_beside(options: Options, name: str, url: str | None) -> None:
    """Refuse to ask for what comes beside messages of a source, at an address unless it is a file, that has none."""
    for option in FIELDS:
        if not getattr(options, option) or option in options.inherited or (url is not None and has(url, option)):
            continue
        hint = ""
        if url is not None and not is_database(url):
            hint = " unless its address names their fields, as in redis://server/stream?field=message&key=user"
        raise OuzelError(f"{name}: has no {WORDS[option]} of messages{hint}; leave out", **{option: True})


def has(url: str, option: str) -> bool:
    """Whether messages at an address have what an option asks for.

    >>> has("kafka://broker/clicks", "with_key"), has("redis://server/clicks", "with_key")
    (True, False)
    """
    if is_database(url):
        return False
    address = address_of(url)
    return address.scheme in KEYED or FIELDS[option] in address.options


def _text(value: bytes | str) -> str:
    """A key or a header as text; bytes that are none are written as Python does."""
    return value if isinstance(value, str) else value.decode("utf-8", "backslashreplace")
