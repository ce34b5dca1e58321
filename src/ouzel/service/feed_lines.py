"""Messages of a log as lines that a service learns, in parts with the position after each."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import NamedTuple

from ouzel.errors import DataError
from ouzel.service.lines import Refused
from ouzel.service.reading import Reading
from ouzel.service.submission import Submitted
from ouzel.streams.formats.catalogue import FORMATS, MESSAGE_FORMATS, Family, by_content
from ouzel.streams.formats.records import rows_as_json
from ouzel.streams.logs.arrow import rows_of_message
from ouzel.streams.logs.messages import lines_of
from ouzel.streams.logs.protocol import Batch, Place, Position, shown

AT_ONCE = 1024  # lines of a part: other examples wait for no more than these
TABLE = "sql"  # format of rows of a database, which are not messages


class Part(NamedTuple):
    """Successive lines, and the position after the last of them."""

    lines: list[Submitted]
    position: Position


class FeedLines:
    """Reader of the lines of one log, in one format: the given one, or that of the first message with a known one."""

    def __init__(self, reading: Reading, name: str, format: str | None) -> None:
        self.reading, self.name, self.format = reading, name, format

    def parts(self, batch: Batch, position: Position) -> Iterator[Part]:
        """Yield the lines of a batch that follows a position, in parts."""
        begun = position.within[1] if position.within[0] == batch.partition else 0
        messages = self._messages(batch)
        lines = [
            (line, place, k) for place, found in enumerate(messages) for k, line in enumerate(found, 1)
        ]  # with the place of the message, and the number of the line within it
        lines = [line for line in lines if line[1] or line[2] > begun]
        for start in range(0, len(lines) or 1, AT_ONCE):
            some = lines[start : start + AT_ONCE]
            behind, within = len(messages), 0
            if start + len(some) < len(lines):
                _, place, number = some[-1]
                ended = number == len(messages[place])
                behind, within = (place + 1, 0) if ended else (place, number)
            position = copy.deepcopy(position)
            position.advance(batch, behind)
            position.within = (batch.partition, within) if within else ("", 0)
            position.format = self.format or ""
            yield Part(self._submitted([line for line, _, _ in some]), position)

    def _messages(self, batch: Batch) -> list[list[bytes]]:
        """Return the lines of each message; a row of a table counts as a message."""
        if self.format == TABLE:
            return [[line] for line in rows_as_json(batch.values)]
        if self.format is None:
            self.format = self._detect_format(batch)
        format = FORMATS.get(self.format or "")
        if format is not None and format.is_columnar:
            return [
                self._rows(value, batch.metadata[k] if batch.metadata else {}) for k, value in enumerate(batch.values)
            ]
        return lines_of(batch, format)

    def _rows(self, value: bytes | None, metadata: Mapping[str, str]) -> list[bytes]:
        """Return the rows of a message as lines; an unreadable message is one line, which will be refused."""
        try:
            return (
                rows_as_json(rows_of_message(value, metadata, self.name, self.reading.options.limits)) if value else []
            )
        except DataError:
            return [value or b""]

    def _detect_format(self, batch: Batch) -> str | None:
        for value in filter(None, batch.values):
            with suppress(DataError):
                found = by_content(value[:4096], self.name)
                if found.in_messages:
                    return found.name
        return None

    def _submitted(self, lines: list[bytes]) -> list[Submitted]:
        """Return lines to submit, parsed unless they are JSON objects, or with the reason why they are refused."""
        if self.format is None:
            refused = Refused(f"found a message of no known format; expected {', '.join(MESSAGE_FORMATS)}")
            return [Submitted(line, refused=refused) for line in lines]
        format = FORMATS.get(self.format)
        if format is None or format.family is not Family.LINES or not lines:
            return [Submitted(line) for line in lines]
        return [
            Submitted(line).read_as(found)
            for line, found in zip(lines, self.reading.parsed(lines, format), strict=True)
        ]


def shown_places(position: Position) -> dict[str, Place]:
    """Return the place of the last learnt message of each partition, for people."""
    return {partition: shown(place) for partition, place in position.last.items()}
