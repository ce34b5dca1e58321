"""Databases by address: what a query answers, as Arrow record batches. The drivers are those of ADBC, and DuckDB."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit

from ouzel.errors import DataError, OuzelError

LIBRARIES = ("adbc_driver_manager", "duckdb", "_duckdb")  # whose errors are those of databases
SCHEMES = ("postgresql", "postgres", "sqlite", "duckdb")
OTHER = "adbc+"  # before the name of any other driver: adbc+snowflake://…
ROWS = 1 << 16  # of a batch
SHOWN = 60  # letters of a query


class Query(NamedTuple):
    """A question to a database. Its address is that of the database, with the question behind a #."""

    scheme: str
    place: str  # what the driver takes: an address, or the path of a file
    name: str  # for people
    sql: str
    cursor: str | None  # the column that only grows, if there is one

    def connect(self) -> Any:
        """A connection; DataError if there is none."""
        module = _driver_of(self.scheme)
        try:
            if self.scheme == "duckdb":
                return module.connect(self.place, read_only=self.place != ":memory:")
            if self.scheme == "sqlite" and not Path(self.place).is_file():
                raise FileNotFoundError("there is no such file")
            return module.connect(self.place, autocommit=True)
        except Exception as error:
            raise DataError(f"{self.name}: cannot be reached ({_said(error)}); is the address right?") from None

    def batches(self, connection: Any, sql: str) -> Iterator[Any]:
        """The record batches that answer a question."""
        if self.scheme == "duckdb":
            yield from connection.sql(sql).to_arrow_reader(ROWS)
            return
        with connection.cursor() as cursor:
            cursor.execute(sql)
            yield from cursor.fetch_record_batch()


@contextmanager
def connecting(query: Query) -> Iterator[Any]:
    """A connection in which a transaction begins, to write a table; what was not committed is rolled back."""
    module = _driver_of(query.scheme)
    try:
        connection = module.connect(query.place)
        if query.scheme == "duckdb":
            connection.begin()
    except Exception as error:
        raise DataError(f"{query.name}: cannot be reached ({_said(error)}); is the address right?") from None
    with connection:
        yield connection


@contextmanager
def asking(query: Query) -> Iterator[None]:
    """Ask a database in here: what it refuses is one line."""
    try:
        yield
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in LIBRARIES:
            raise
        raise DataError(f"{query.name}: is refused ({_said(error)})") from None


def is_database(source: Any) -> bool:
    """Whether a source is the address of a database.

    >>> is_database("sqlite:///shop.db#SELECT 1"), is_database("shop.db")
    (True, False)
    """
    scheme = source.partition("://")[0] if isinstance(source, str) and "://" in source else ""
    return scheme in SCHEMES or scheme.startswith(OTHER)


def query_of(address: str) -> Query:
    """The question that an address asks.

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
        raise OuzelError(f"{parts.scheme}://{host}{parts.path}: what is to be read of it? Ask with --sql 'SELECT …'")
    return Query(parts.scheme, place, f"{parts.scheme}://{host}{parts.path}: {shown}", sql.strip().rstrip(";"), cursor)


def with_query(database: str, sql: str, cursor: str | None) -> str:
    """The address of a question to a database.

    >>> with_query("postgresql://server/shop", "SELECT 1 AS id", "id")
    'postgresql://server/shop?cursor=id#SELECT 1 AS id'
    """
    if not is_database(database):
        raise OuzelError(
            f"--database takes an address such as postgresql://server/name, sqlite:///file.db, duckdb:///file.duckdb; "
            f"got {database!r}"
        )
    joint = "&" if "?" in database else "?"
    asked = f"{joint}{urlencode({'cursor': cursor})}" if cursor else ""
    return f"{database}{asked}#{sql}"


def _driver_of(scheme: str) -> Any:
    name = {"postgres": "postgresql"}.get(scheme, scheme.removeprefix(OTHER))
    module = "duckdb" if name == "duckdb" else f"adbc_driver_{name}.dbapi"
    try:
        return import_module(module)
    except ImportError:
        package = module.partition(".")[0].replace("_", "-")
        raise OuzelError(f'{scheme}: is read with {package}: pip install "ouzel[databases]" or {package}') from None


def _said(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
