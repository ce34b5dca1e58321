"""The log at an address. What reads it is imported only then."""

from __future__ import annotations

from importlib import import_module
from typing import Any, cast

from ouzel.streams.logs.address import KINDS, Address, address_of
from ouzel.streams.logs.databases import is_database, query_of
from ouzel.streams.logs.protocol import Log
from ouzel.streams.logs.reading import Reading


def open_log(url: str, reading: Reading) -> Log:
    """The log at an address; DataError where there is none."""
    if is_database(url):
        from ouzel.streams.logs.tables import TableLog

        return TableLog(query_of(url), reading)
    address = address_of(url)
    return cast(Log, library_of(address).open_address(address, reading))


def library_of(address: Address) -> Any:
    """The file that reads the logs of a scheme; OuzelError where the library that it needs is absent."""
    return import_module(f"ouzel.streams.logs.{KINDS[address.scheme]}")
