"""Addresses of logs: kafka://broker:9092/topic and its kin."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

from ouzel.errors import OuzelError, listed
from ouzel.streams.logs.databases import is_database, query_of

KINDS = {
    "kafka": "kafka",
    "nats": "jetstream",
    "redis": "redis_streams",
    "rediss": "redis_streams",  # over TLS
}
"""Schemes of addresses, and the file that reads each."""

SCHEME = re.compile(r"([a-z][a-z0-9+.-]*)://")


class Address(NamedTuple):
    """Where a log is."""

    scheme: str
    servers: str  # host:port, several with commas between them
    path: str
    user: str | None
    password: str | None
    options: dict[str, str]  # after the question mark: settings of the client

    @property
    def name(self) -> str:
        """The address for people, without what is secret in it."""
        return f"{self.scheme}://{self.servers}/{self.path}"


def is_log(source: Any) -> bool:
    """Whether a source is the address of a log.

    >>> is_log("kafka://localhost/clicks"), is_log("clicks.jsonl")
    (True, False)
    """
    if is_database(source):
        return query_of(source).cursor is not None
    found = SCHEME.match(source) if isinstance(source, str) else None
    return found is not None and found[1] in KINDS


def is_remote(source: Any) -> bool:
    """Whether a source is not a file, but the address of a log, or of a database."""
    return is_database(source) or is_log(source)


def name_of(address: str) -> str:
    """What an address is called, without the server and what is secret."""
    return query_of(address).name.partition(": ")[2] if is_database(address) else address_of(address).path


def only_log(sources: Sequence[Any]) -> str:
    """The address of a log that stands alone; OuzelError if anything stands beside it."""
    if len(sources) > 1:
        names = [name_of(source) if is_remote(source) else str(source) for source in sources]
        raise OuzelError(f"{listed(names)}: a log is read alone; learn the others first, and go on with --resume")
    return str(sources[0])


def address_of(url: str) -> Address:
    """The parts of an address.

    >>> address_of("kafka://ann:secret@one:9092,two:9092/clicks?security.protocol=SASL_SSL").name
    'kafka://one:9092,two:9092/clicks'
    """
    parts = urlsplit(url)
    login, _, servers = parts.netloc.rpartition("@")
    user, _, password = login.partition(":")
    path = unquote(parts.path.strip("/"))
    if not servers or not path:
        raise OuzelError(f"{parts.scheme}://{servers}/{path}: expected {parts.scheme}://server:port/name")
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    return Address(parts.scheme, servers, path, unquote(user) or None, unquote(password) or None, options)
