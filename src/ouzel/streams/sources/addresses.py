"""Addresses of logs, such as kafka://broker:9092/topic, and of databases, by their schemes. No client is imported.

`LOGS` is the catalogue of logs for the command line, services and tests. A further log is one file in `streams/logs`
and one entry.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Sequence
from types import ModuleType
from typing import NamedTuple, TypeGuard
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from ouzel.errors import OuzelError, listed

DATABASES = ("postgresql", "postgres", "sqlite", "duckdb")  # schemes
OTHER = "adbc+"  # prefix of any other driver: adbc+snowflake://…
SHOWN = 60  # characters of a query
SCHEME = re.compile(r"([a-z][a-z0-9+.-]*)://")


class LogKind(NamedTuple):
    """Entry of the catalogue: a kind of log, the schemes of its addresses, and its module."""

    name: str  # for people
    schemes: tuple[str, ...]
    module_name: str  # below ouzel.streams.logs
    example: str  # an address
    extra: str  # what to install: ouzel[extra]; empty if it needs no library
    has_keys: bool  # whether messages have a key and headers; else the address names fields for them

    @property
    def module(self) -> ModuleType:
        """Its module, imported on first use; OuzelError if the library that it needs is not installed."""
        return importlib.import_module(f"ouzel.streams.logs.{self.module_name}")

    def check_library(self) -> None:
        """Raise OuzelError if the library that it needs is not installed."""
        _ = self.module


LOGS = (
    LogKind("Kafka", ("kafka",), "kafka", "kafka://broker:9092/topic", "kafka", True),
    LogKind("Redis streams", ("redis", "rediss"), "redis_streams", "redis://server:6379/stream", "redis", False),
    LogKind("NATS JetStream", ("nats",), "jetstream", "nats://server:4222/stream", "nats", True),
)
"""Every kind of log."""
BY_SCHEME = {scheme: kind for kind in LOGS for scheme in kind.schemes}
EXAMPLE = LOGS[0].example  # address, for error messages


class Address(NamedTuple):
    """Address of a log."""

    scheme: str
    servers: str  # host:port, several with commas between them
    path: str
    user: str | None
    password: str | None
    options: dict[str, str]  # after the question mark: settings of the client

    @property
    def kind(self) -> LogKind:
        """The entry of its kind of log."""
        return BY_SCHEME[self.scheme]

    @property
    def name(self) -> str:
        """The address for people, without login and options."""
        return f"{self.scheme}://{self.servers}/{self.path}"


def is_log(source: object) -> TypeGuard[str]:
    """Whether a source is the address of a log.

    >>> is_log("kafka://localhost/clicks"), is_log("clicks.jsonl")
    (True, False)
    """
    if is_database(source):
        return query_of(source).cursor is not None
    found = SCHEME.match(source) if isinstance(source, str) else None
    return found is not None and found[1] in BY_SCHEME


def is_remote(source: object) -> TypeGuard[str]:
    """Whether a source is the address of a log or a database, not a file."""
    return is_database(source) or is_log(source)


def name_of(address: str) -> str:
    """Return the name of the source at an address, without server and login."""
    return query_of(address).name.partition(": ")[2] if is_database(address) else address_of(address).path


def only_log(sources: Sequence[object]) -> str:
    """Return the only source, the address of a log; OuzelError if there are several."""
    if len(sources) > 1:
        names = [name_of(source) if is_remote(source) else str(source) for source in sources]
        raise OuzelError(f"{listed(names)}: a log is read alone; learn the others first, and go on with --resume")
    return str(sources[0])


def address_of(url: str) -> Address:
    """Parse the address of a log.

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


class Query(NamedTuple):
    """Query of a database. Its address is that of the database, then # and the SQL."""

    scheme: str
    place: str  # for the driver: an address, or the path of a file
    name: str  # for people
    sql: str
    cursor: str | None  # column whose values only grow, if there is one


def is_database(source: object) -> TypeGuard[str]:
    """Whether a source is the address of a database.

    >>> is_database("sqlite:///shop.db#SELECT 1"), is_database("shop.db")
    (True, False)
    """
    scheme = source.partition("://")[0] if isinstance(source, str) and "://" in source else ""
    return scheme in DATABASES or scheme.startswith(OTHER)


def query_of(address: str) -> Query:
    """Parse the address of a query.

    >>> query_of("postgresql://ann:secret@server/shop?cursor=id#SELECT * FROM clicks").name
    'postgresql://server/shop: SELECT * FROM clicks'
    """
    before, _, sql = address.partition("#")
    parts = urlsplit(before)
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    cursor = options.pop("cursor", None)
    place = parts._replace(query=urlencode(options), scheme=parts.scheme.removeprefix(OTHER)).geturl()
    if parts.scheme in ("sqlite", "duckdb"):
        place = (parts.netloc + parts.path).removeprefix("/") if not parts.path.startswith("//") else parts.path[1:]
    host = parts.netloc.rpartition("@")[2]
    shown = sql.strip() if len(sql.strip()) <= SHOWN else f"{sql.strip()[:SHOWN]}…"
    if not sql.strip():
        raise OuzelError(
            f"{parts.scheme}://{host}{parts.path}: what is to be read of it? Ask with --sql 'SELECT …', or "
            "with #SELECT … at the end of the address"
        )
    return Query(parts.scheme, place, f"{parts.scheme}://{host}{parts.path}: {shown}", sql.strip().rstrip(";"), cursor)


def with_query(database: str, sql: str, cursor: str | None) -> str:
    """Return the address of a query of a database.

    >>> with_query("postgresql://server/shop", "SELECT 1 AS id", "id")
    'postgresql://server/shop?cursor=id#SELECT 1 AS id'
    """
    if not is_database(database):
        raise OuzelError(
            f"--database takes an address such as postgresql://server/name, sqlite:///file.db, duckdb:///file.duckdb; "
            f"got {database!r}"
        )
    joint = "&" if "?" in database else "?"
    question = f"{joint}{urlencode({'cursor': cursor})}" if cursor else ""
    return f"{database}{question}#{sql}"
