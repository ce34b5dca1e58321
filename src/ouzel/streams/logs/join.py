"""Join of two logs: events, and their labels, which arrive later.

Messages of both logs are read in the order of their times, events first where times are equal. A time that is earlier
than the one before it in the same log counts as that one. A log that is at its end delays the other only until it has
answered. Each message of either log is one message of the join; its value is None unless it completes an example.
"""

from __future__ import annotations

import copy
import math
import time
from collections import OrderedDict
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from typing import Any, NamedTuple, Self

from ouzel.errors import OuzelError
from ouzel.rules import Rule, check, either, label, list_of, table, text, whole
from ouzel.rules import label as a_label
from ouzel.streams.formats.catalogue import find
from ouzel.streams.formats.json_python import DECODER, object_of, with_members
from ouzel.streams.logs.messages import KEY, MetadataFields, content, has_metadata
from ouzel.streams.logs.protocol import COUNT_MARK, MOST_AT_ONCE, Batch, Idle, Log, Place, Position, Say
from ouzel.streams.logs.reading import Reading, open_log
from ouzel.streams.sources.addresses import EXAMPLE, is_database, is_log, name_of
from ouzel.streams.sources.prefetch import prefetch

EVENTS, LABELS = 0, 1
SIDES = ("events", "labels")
MOST_BYTES = 64 << 20  # of the state in a model file, which is written with every checkpoint
ROW = 48  # bytes of a row without its text

Pending = OrderedDict[str, tuple[int, Any]]  # by join key: number of events when it arrived, and event or label


class Input(NamedTuple):
    """A message of one of the two logs."""

    number: int  # of inputs before it
    side: int
    partition: str
    place: int | str
    ends: Mapping[str, int]
    time: int  # milliseconds since 1970, never less than before on its side
    key: str | None = None  # None: it matches nothing
    value: Any = None  # the lines of an event, or a label
    malformed: bytes | None = None  # text to parse as it is: neither event nor label


class LabelledEvent(NamedTuple):
    """An event with its label."""

    event: str
    label: Any


def _size(key: str, value: object) -> int:
    """Estimate the bytes of a row in a model file, where JSON is escaped twice."""
    text = f"{key}{value}"
    return ROW + len(text.encode()) + 3 * (text.count('"') + text.count("\\") + text.count("\n"))


def _row(kind: Rule) -> Rule:
    return Rule(
        lambda row: (
            isinstance(row, list)
            and len(row) == 3
            and text.holds(row[0])
            and whole().holds(row[1])
            and kind.holds(row[2])
        ),
        "a row",
    )


SCHEMA = {
    **dict.fromkeys(("taken", "seen", "late", "unlabelled"), whole()),
    **dict.fromkeys(("last", "ends"), list_of(table, 2)),
    "times": list_of(whole(), 2),
    "events": list_of(_row(text)),
    "labels": list_of(_row(label)),
}


class JoinStats(NamedTuple):
    """Counts of unmatched and pending events and labels.

    >>> JoinStats(2, 1, 40, 3).facts
    ['  labels       2 found no event   1 event found no label   40 events and 3 labels wait']
    """

    late_labels: int  # without a pending event
    unlabelled_events: int  # expired without a label
    waiting_events: int
    waiting_labels: int

    @property
    def facts(self) -> list[str]:
        """The counts as lines for people."""
        late, unlabelled, events, labels = self
        found = f"{late:,} found no event   {_counted(unlabelled, 'event')} found no label"
        return [f"  {'labels':<13}{found}   {_counted(events, 'event')} and {_counted(labels, 'label')} wait"]

    def to_json(self) -> dict[str, int]:
        """JSON values."""
        return self._asdict()


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'s' * (count != 1)}"


class JoinState:
    """Progress in two logs, and their pending messages, which expire after `window` further events."""

    def __init__(self, window: int) -> None:
        self.window = window
        self.taken = 0  # inputs so far
        self.seen = 0  # events among them
        self.late = 0  # labels without an event that waited
        self.unlabelled = 0  # events that expired without a label
        self.last: list[dict[str, int | str]] = [{}, {}]  # of each side, as in a position
        self.ends: list[dict[str, int]] = [{}, {}]
        self.times = [0, 0]
        self.pending: tuple[Pending, Pending] = (OrderedDict(), OrderedDict())  # of each side
        self.bytes = 0  # estimated, of the pending messages in a model file

    def take(self, given: Input) -> LabelledEvent | None:
        """Take the next input, and return the example that it completes, if any."""
        side = given.side
        self.taken += 1
        self.last[side][given.partition] = given.place
        self.ends[side] = dict(given.ends)
        self.times[side] = given.time
        if given.malformed is not None or (given.value is None):
            return None
        if side == EVENTS:
            self.seen += 1
            self._expire()
        if given.key is None:
            self._count_dropped(side)
            return None
        if given.key in self.pending[1 - side]:
            other = self._drop(1 - side, given.key)
            return LabelledEvent(given.value, other) if side == EVENTS else LabelledEvent(other, given.value)
        pending = self.pending[side]
        if given.key in pending or len(pending) >= self.window:
            self._drop(side, given.key if given.key in pending else next(iter(pending)))
            self._count_dropped(side)
        pending[given.key] = self.seen, given.value
        self.bytes += _size(given.key, given.value)
        while self.bytes > MOST_BYTES:
            side = EVENTS if self.pending[EVENTS] else LABELS
            self._drop(side, next(iter(self.pending[side])))
            self._count_dropped(side)
        return None

    def _drop(self, side: int, key: str) -> Any:
        """Remove and return the pending message of a key."""
        value = self.pending[side].pop(key)[1]
        self.bytes -= _size(key, value)
        return value

    def _expire(self) -> None:
        """Drop messages that have been pending for a whole window."""
        for side, pending in enumerate(self.pending):
            while pending and self.seen - pending[key := next(iter(pending))][0] >= self.window:
                self._drop(side, key)
                self._count_dropped(side)

    def _count_dropped(self, side: int) -> None:
        if side == EVENTS:
            self.unlabelled += 1
        else:
            self.late += 1

    @property
    def stats(self) -> JoinStats:
        """Counts of unmatched and pending messages."""
        return JoinStats(self.late, self.unlabelled, *map(len, self.pending))

    def summary(self) -> str:
        """Summarize what was left out in a line; empty if nothing was."""
        said = [f"labels without an event among the last {self.window:,} ({self.late:,})"] if self.late else []
        if self.unlabelled:
            said.append(f"events without a label before {self.window:,} more came ({self.unlabelled:,})")
        return f"left out: {', '.join(said)}" if said else ""

    def to_json(self) -> dict[str, Any]:
        """Return the state as JSON values."""
        rows = [[[key, *kept] for key, kept in pending.items()] for pending in self.pending]
        found = {name: getattr(self, name) for name in SCHEMA if hasattr(self, name)}
        return {**copy.deepcopy(found), **dict(zip(SIDES, rows, strict=True))}

    @classmethod
    def from_json(cls, stored: Any) -> Self:
        """Return the state that `to_json` wrote; OuzelError if it is not sound."""
        check(stored, SCHEMA, "what waits for labels")
        places = either(text, whole())
        if not all(map(places.holds, [place for side in stored["last"] for place in side.values()])) or not all(
            len(stored[name]) == 2 for name in ("last", "ends", "times")
        ):
            raise OuzelError("what waits for labels is not of two logs")
        found = cls(0)
        for name in SCHEMA.keys() - set(SIDES):
            setattr(found, name, stored[name])
        for pending, name in zip(found.pending, SIDES, strict=True):
            pending.update((key, (number, value)) for key, number, value in stored[name])
        for pending in found.pending:
            found.bytes += sum(_size(key, value) for key, (_, value) in pending.items())
        return found

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        """Copy the state; the immutable lines are shared."""
        found = copy.copy(self)
        found.last, found.ends = [dict(side) for side in self.last], [dict(side) for side in self.ends]
        found.times = list(self.times)
        found.pending = (self.pending[0].copy(), self.pending[1].copy())
        return found


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
        if side == LABELS and a_label.holds(found):
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
