"""Join of two logs: events, and their labels, which arrive later.

Messages of both logs are read in the order of their times, events first where times are equal. A time that is earlier
than the one before it in the same log counts as that one. A log that is at its end delays the other only until it has
answered. Each message of either log is one message of the join; its value is None unless it completes an example.
"""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from typing import Any, NamedTuple

from ouzel.errors import OuzelError
from ouzel.ranges import Label, stored_as
from ouzel.streams.formats.catalogue import find
from ouzel.streams.formats.json_python import DECODER, object_of, with_members
from ouzel.streams.logs.messages import KEY, MetadataFields, content, has_metadata
from ouzel.streams.logs.opening import open_log
from ouzel.streams.logs.protocol import (
    COUNT_MARK,
    EVENTS,
    LABELS,
    MOST_AT_ONCE,
    SIDES,
    Batch,
    Idle,
    Input,
    JoinState,
    Log,
    Place,
    Position,
    Say,
)
from ouzel.streams.logs.reading import Reading
from ouzel.streams.sources.addresses import EXAMPLE, is_database, is_log, name_of
from ouzel.streams.sources.prefetch import prefetch

JSON_LINES = find("jsonl")
REPORT_INTERVAL = 60.0  # seconds between two lines on what was left out


class ParsedMessage(NamedTuple):
    """Join key and content of a message."""

    key: str | None = None
    value: Any = None
    malformed: bytes | None = None


class Side:
    """Cursor over one of the two logs."""

    def __init__(self, found: Iterator[tuple[float, Batch | Idle]]) -> None:
        self._found = found
        self.batch: Batch | None = None
        self.at = 0  # next message in the batch
        self.moment = math.inf  # when the batch arrived
        self.over = False
        self._caught_up = -math.inf  # when the log was last at its end

    def ready(self, since: float) -> bool:
        """Whether the next message has arrived, or the log was at its end after `since`; asks the log once."""
        if self.batch is None and not self.over and self._caught_up < since:
            moment, found = next(self._found, (math.inf, None))
            self.over = found is None
            self._caught_up = moment if found is Idle.AT_END else -math.inf
            if isinstance(found, Batch) and len(found.places):
                self.batch, self.at, self.moment = found, 0, moment
        return self.batch is not None or self.over or self._caught_up >= since

    @property
    def idle(self) -> bool:
        """Whether the log was at its end when last read."""
        return self.batch is None and (self.over or self._caught_up > -math.inf)

    def time(self, before: int) -> int:
        """Return the time of the next message, but not less than `before`."""
        assert self.batch is not None
        return max(before, self.batch.times[self.at])

    def take(self) -> tuple[Batch, int]:
        """Return the batch of the next message, and its index there; advance by one."""
        batch, at = self.batch, self.at
        assert batch is not None
        self.at += 1
        if self.at == len(batch.places):
            self.batch, self.moment = None, math.inf
        return batch, at


class JoinedLog:
    """Log of the examples made of a log of events and a log of labels, joined by key or by a field of both."""

    partitions: Sequence[str] = ("",)

    def __init__(self, events: Log, labels: Log, reading: Reading, label: str) -> None:
        self.logs = events, labels
        self.name, self.topic = f"{events.name} with {labels.name}", f"{events.topic} with {labels.topic}"
        self._reading, self._label = reading, label
        self._say: Say = lambda line: None
        self._reported = ("", time.monotonic())

    @property
    def say(self) -> Say:
        """Function called with lines for people."""
        return self._say

    @say.setter
    def say(self, say: Say) -> None:
        self._say = self.logs[EVENTS].say = self.logs[LABELS].say = say

    @property
    def lost(self) -> int:
        """Messages of both logs that were gone before they could be read."""
        return sum(log.lost for log in self.logs)

    def identity(self) -> dict[str, str]:
        """Identities of both logs, and the join key."""
        both = zip(self.logs, SIDES, strict=True)
        parts = {f"{name} of {side}": value for log, side in both for name, value in log.identity().items()}
        return {"kind": "joined", "topic": self.topic, "member": self._reading.by or "the key", **parts}

    def order(self, place: Place) -> int:
        """Return how many messages of both logs came before."""
        return int(str(place).partition(COUNT_MARK)[2])

    def lag(self, position: Position) -> int | None:
        """Return the lag, summed over both logs."""
        state = position.joined or JoinState(0)
        found = [log.lag(_position(state, side)) for side, log in enumerate(self.logs)]
        return None if None in found else sum(filter(None, found))

    def close(self) -> None:
        """Disconnect from both servers."""
        for log in self.logs:
            log.close()

    def read(self, position: Position, follow: bool) -> Generator[Batch | Idle, None, None]:
        """Yield the messages of both logs after a position."""
        state = position.joined
        assert state is not None
        with ExitStack() as stack:
            sides = [
                Side(
                    stack.enter_context(
                        closing(prefetch(_with_arrival_times(log.read(_position(state, number), follow))))
                    )
                )
                for number, log in enumerate(self.logs)
            ]
            inputs: list[Input] = []
            values: list[bytes | None] = []
            while not all(side.over and side.batch is None for side in sides):
                moments = [side.moment for side in sides]
                ready = min([side.ready(moments[1 - number]) for number, side in enumerate(sides)])  # ask both
                heads = [number for number, side in enumerate(sides) if side.batch is not None]
                if ready and heads:
                    number = min(heads, key=lambda number: (sides[number].time(state.times[number]), number))
                    inputs.append(self._input(state, number, sides[number]))
                    values.append(self._value(state, inputs[-1]))
                if inputs and (not (ready and heads) or state.taken % MOST_AT_ONCE == 0):
                    yield _batch(inputs, values)
                    inputs, values = [], []
                if not (ready and heads):
                    self._report(state, REPORT_INTERVAL)
                    yield Idle.AT_END if all(side.idle for side in sides) else Idle.WAITING
            if inputs:
                yield _batch(inputs, values)
            self._report(state, 0.0)
            yield Idle.AT_END

    def _input(self, state: JoinState, number: int, side: Side) -> Input:
        """Take the next message of a side."""
        moment = side.time(state.times[number])
        batch, at = side.take()
        metadata = dict(batch.metadata[at]) if batch.metadata else {}
        split = self._parse(batch.values[at], metadata, number)
        return Input(state.taken, number, batch.partition, batch.places[at], batch.ends, moment, *split)

    def _value(self, state: JoinState, given: Input) -> bytes | None:
        """Return the example that an input completes, or its malformed text; else None."""
        found = state.take(given)
        if found is None:
            return given.malformed
        return b"\n".join(with_members(line, {self._label: found.label}) for line in found.event.encode().split(b"\n"))

    def _parse(self, value: bytes | None, metadata: dict[str, str], side: int) -> ParsedMessage:
        """Parse the lines of JSON of an event or a label."""
        lines = content(value, JSON_LINES)
        if not lines:
            return ParsedMessage()
        key = metadata.get(KEY)
        if not self._reading.metadata.key:
            metadata.pop(KEY, None)
        try:
            row = object_of(lines[0]) if side == EVENTS or lines[0].startswith(b"{") else None
            if self._reading.by is not None:
                key = None if row is None else _key_of(row.get(self._reading.by))
            if side == EVENTS:
                return ParsedMessage(key, b"\n".join(with_members(line, metadata) for line in lines).decode())
            found = _scalar(b" ".join(lines)) if row is None else row.get(self._label)
        except (ValueError, RecursionError):
            found = None
        if side == LABELS and stored_as(Label).holds(found):
            return ParsedMessage(key, found)
        return ParsedMessage(malformed=value if side == EVENTS else b"label " + b" ".join(lines))  # not JSON

    def _report(self, state: JoinState, pause: float) -> None:
        """Report what was left out, if that has changed and the last report is older than `pause` seconds."""
        said, before = self._reported
        if state.summary() != said and time.monotonic() - before >= pause:
            self._reported = state.summary(), time.monotonic()
            self.say(f"{self.name}: {state.summary()}")


def join(url: str, reading: Reading, label: str) -> JoinedLog:
    """Open the events at an address, joined with the labels of `reading`; OuzelError if they cannot be joined."""
    assert reading.labels is not None
    by_key = reading.by is None
    for address in (url, reading.labels):
        if not is_log(address) or is_database(address):
            raise OuzelError(f"labels come from a log, and for one, such as {EXAMPLE}; got {address!r}")
        if by_key and not has_metadata(address, "with_key"):
            raise OuzelError(
                f"{name_of(address)}: has no keys to find labels by; name a member of both logs with", by="id"
            )
    events = open_log(url, replace(reading, metadata=reading.metadata._replace(key=by_key or reading.metadata.key)))
    try:
        return JoinedLog(
            events, open_log(reading.labels, replace(reading, metadata=MetadataFields(by_key))), reading, label
        )
    except BaseException:
        events.close()
        raise


def _with_arrival_times(found: Generator[Batch | Idle, None, None]) -> Iterator[tuple[float, Batch | Idle]]:
    """Pair each item of a log with its time of arrival: it may wait before it is used."""
    with closing(found):
        for one in found:
            yield time.monotonic(), one


def _batch(inputs: list[Input], values: list[bytes | None]) -> Batch:
    places = [f"{SIDES[one.side]} {one.partition}:{one.place}{COUNT_MARK}{one.number + 1}" for one in inputs]
    return Batch("", places, values, [one.time for one in inputs], inputs=inputs)


def _position(state: JoinState, side: int) -> Position:
    return Position(dict(state.last[side]), dict(state.ends[side]))


def _key_of(value: object) -> str | None:
    """Return a join key as text; None if it is neither text nor a whole number."""
    return str(value) if isinstance(value, (str, int)) else None


def _scalar(text: bytes) -> object:
    """Parse a label that is not in an object: JSON, else a word."""
    try:
        return DECODER.decode(text.decode())
    except ValueError:
        return text.decode().strip()
