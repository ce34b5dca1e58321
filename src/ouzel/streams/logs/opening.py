"""Opening of the log, or of the sink of messages, at an address."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, cast

from ouzel.errors import OuzelError
from ouzel.streams.logs.protocol import Log
from ouzel.streams.logs.reading import Reading
from ouzel.streams.sources.addresses import EXAMPLE, address_of, is_database, is_log, query_of

ACKNOWLEDGED = 30.0  # seconds that a server has to acknowledge what it was sent


def open_log(url: str, reading: Reading) -> Log:
    """Open the log at an address; DataError if there is none."""
    if is_database(url):
        from ouzel.streams.logs.table_log import TableLog

        return TableLog(query_of(url), reading)
    address = address_of(url)
    return cast(Log, address.kind.module.open_address(address, reading))


class Sink(Protocol):
    """Receiver of messages: each is stored at least once when `send` returns."""

    def send(self, messages: Sequence[bytes]) -> None:
        """Send messages and wait until they are acknowledged; DataError if they are not."""

    def close(self) -> None:
        """Disconnect."""


def open_sink(url: str) -> Sink:
    """Open the sink at an address; OuzelError if it takes no messages."""
    if not is_log(url) or is_database(url):
        raise OuzelError(f"messages are sent to a log such as {EXAMPLE}; got {url!r}")
    address = address_of(url)
    return cast(Sink, address.kind.module.open_sink(address))
