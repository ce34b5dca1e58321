"""Databases: rows of a query as a source, and writing of tables. The drivers are those of ADBC, and DuckDB."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow

from ouzel.errors import DataError, OuzelError
from ouzel.streams.sources.addresses import OTHER, Query, is_database, query_of
from ouzel.streams.sources.source import Source, message_of

LIBRARIES = ("adbc_driver_manager", "duckdb", "_duckdb")  # of database errors
ROWS = 1 << 16  # of a batch
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class DatabaseSource(Source):
    """Source of the rows of a query."""

    format = "arrow"

    def __init__(self, address: str) -> None:
        self.query = query_of(address)
        super().__init__("-")
        self.name = self.query.name.partition(": ")[2]

    def tables(self) -> Iterator[pyarrow.Table]:
        """Yield the rows as tables."""
        with closing(connect(self.query)) as connection, asking(self.query):
            for batch in batches_of(self.query, connection, self.query.sql):
                yield pyarrow.Table.from_batches([batch])


def connect(query: Query) -> Any:
    """Connect to the database of a query; DataError if that fails."""
    module = _driver_of(query.scheme)
    try:
        if query.scheme == "duckdb":
            return module.connect(query.place, read_only=query.place != ":memory:")
        if query.scheme == "sqlite" and not Path(query.place).is_file():
            raise FileNotFoundError("there is no such file")
        return module.connect(query.place, autocommit=True)
    except Exception as error:
        raise DataError.at(query.name, f"cannot be reached ({message_of(error)}); is the address right?") from None


def batches_of(query: Query, connection: Any, sql: str) -> Iterator[pyarrow.RecordBatch]:
    """Yield the record batches of a statement."""
    if query.scheme == "duckdb":
        yield from connection.sql(sql).to_arrow_reader(ROWS)
        return
    with connection.cursor() as cursor:
        cursor.execute(sql)
        yield from cursor.fetch_record_batch()


@contextmanager
def connecting(query: Query) -> Iterator[Any]:
    """Connect in a transaction, to write a table; it is rolled back unless it is committed."""
    module = _driver_of(query.scheme)
    try:
        connection = module.connect(query.place)
        if query.scheme == "duckdb":
            connection.begin()
    except Exception as error:
        raise DataError.at(query.name, f"cannot be reached ({message_of(error)}); is the address right?") from None
    with connection:
        yield connection


@contextmanager
def asking(query: Query) -> Iterator[None]:
    """Turn errors of a database into a DataError of one line."""
    try:
        yield
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in LIBRARIES:
            raise
        raise DataError.at(query.name, f"is refused ({message_of(error)})") from None


def check_table(address: str) -> None:
    """Refuse an address that does not name a table of a database."""
    database, _, name = address.partition("#")
    if not is_database(database):
        raise OuzelError(
            "--save-to takes a table of a database, such as sqlite:///file.db#weights or "
            f"postgresql://server/name#weights; got {address!r}"
        )
    if not NAME.fullmatch(name):
        raise OuzelError(
            f"{database.rpartition('@')[2]}: which table? Name it behind a #, in letters, digits and _, as in #weights"
        )


def write_table(address: str, parts: Iterable[pyarrow.Table], *, replace: bool) -> int:
    """Write Arrow tables of one schema to a table of a database, in one transaction; return the number of rows.

    The table is created if it does not exist; with `replace` it is replaced, else rows are appended. Raises DataError
    if the database refuses.
    """
    check_table(address)
    query = query_of(address)
    count = 0
    with connecting(query) as connection, asking(query):
        write = _write_to_duckdb if query.scheme == "duckdb" else _ingest
        for number, table in enumerate(parts):
            write(connection, query.sql, table, replace and not number)
            count += table.num_rows
        connection.commit()
    return count


def _write_to_duckdb(connection: Any, name: str, table: pyarrow.Table, replace: bool) -> None:
    connection.register("given", table)
    made = "CREATE OR REPLACE TABLE" if replace else "CREATE TABLE IF NOT EXISTS"
    connection.execute(f"{made} {name} AS SELECT * FROM given LIMIT 0")
    connection.execute(f"INSERT INTO {name} BY NAME SELECT * FROM given")
    connection.unregister("given")


def _ingest(connection: Any, name: str, table: pyarrow.Table, replace: bool) -> None:
    with connection.cursor() as cursor:
        cursor.adbc_ingest(name, table, mode="replace" if replace else "create_append")


def _driver_of(scheme: str) -> ModuleType:
    name = {"postgres": "postgresql"}.get(scheme, scheme.removeprefix(OTHER))
    module = "duckdb" if name == "duckdb" else f"adbc_driver_{name}.dbapi"
    try:
        return import_module(module)
    except ImportError:
        package = module.partition(".")[0].replace("_", "-")
        raise OuzelError(f'{scheme}: is read with {package}: pip install "ouzel[databases]" or {package}') from None
