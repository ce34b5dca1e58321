"""Tables of databases that answers are written to: `sqlite:///shop.db#weights`, by the drivers that read them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from ouzel.errors import OuzelError
from ouzel.streams.logs.databases import asking, connecting, is_database, query_of

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def check_table(address: str) -> None:
    """Refuse an address that is not that of a table in a database."""
    database, _, name = address.partition("#")
    if not is_database(database):
        raise OuzelError(
            f"--to takes a table of a database, such as sqlite:///file.db#weights or postgresql://server/name#weights; "
            f"got {address!r}"
        )
    if not NAME.fullmatch(name):
        raise OuzelError(
            f"{database.rpartition('@')[2]}: which table? Name it behind a #, in letters, digits and _, as in #weights"
        )


def write_table(address: str, parts: Iterable[Any], *, replace: bool) -> int:
    """Write Arrow tables of one schema to a table of a database, in one transaction; return how many rows.

    The table is made if it is not there; with `replace` it is made anew, else rows are added to it. Raises DataError
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


def _write_to_duckdb(connection: Any, name: str, table: Any, replace: bool) -> None:
    connection.register("given", table)
    made = "CREATE OR REPLACE TABLE" if replace else "CREATE TABLE IF NOT EXISTS"
    connection.execute(f"{made} {name} AS SELECT * FROM given LIMIT 0")
    connection.execute(f"INSERT INTO {name} BY NAME SELECT * FROM given")
    connection.unregister("given")


def _ingest(connection: Any, name: str, table: Any, replace: bool) -> None:
    with connection.cursor() as cursor:
        cursor.adbc_ingest(name, table, mode="replace" if replace else "create_append")
