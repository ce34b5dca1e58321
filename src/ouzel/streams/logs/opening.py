"""The log at an address. What reads it is imported only then."""

from __future__ import annotations

from typing import cast

from ouzel.streams.logs.protocol import Log
from ouzel.streams.logs.reading import Reading
from ouzel.streams.sources.addresses import address_of, is_database, query_of


def open_log(url: str, reading: Reading) -> Log:
    """The log at an address; DataError where there is none."""
    if is_database(url):
        from ouzel.streams.logs.tables import TableLog

        return TableLog(query_of(url), reading)
    address = address_of(url)
    return cast(Log, address.kind.module.open_address(address, reading))
