"""Messages sent to logs: each is there at least once when `send` returns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, cast

from ouzel.errors import OuzelError
from ouzel.streams.sources.addresses import EXAMPLE, address_of, is_database, is_log

ACKNOWLEDGED = 30.0  # seconds that a server has to acknowledge what it was sent


class Sink(Protocol):
    """Where messages go."""

    def send(self, messages: Sequence[bytes]) -> None:
        """Have messages acknowledged; DataError if they are not."""

    def close(self) -> None:
        """Leave the server."""


def open_sink(url: str) -> Sink:
    """What takes messages at an address; OuzelError where none does."""
    if not is_log(url) or is_database(url):
        raise OuzelError(f"messages are sent to a log such as {EXAMPLE}; got {url!r}")
    address = address_of(url)
    return cast(Sink, address.kind.module.open_sink(address))
