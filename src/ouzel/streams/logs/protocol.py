"""Protocol of logs, their batches and positions. A further broker is one file with one class of this protocol."""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, Self

from ouzel.errors import DataError, OuzelError
from ouzel.ranges import Label, Table, check_stored, stored_as

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


SCHEMA: dict[str, Any] = {
    **dict.fromkeys(("taken", "seen", "late", "unlabelled"), int),
    "last": tuple[dict[str, str | int], dict[str, str | int]],
    "ends": tuple[Table, Table],
    "times": tuple[int, int],
    "events": list[tuple[str, int, str]],
    "labels": list[tuple[str, int, Label]],
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
        check_stored(stored, SCHEMA, "what waits for labels")
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


Place = int | str  # of a message in its partition; messages are read in this order
Say = Callable[[str], None]

COUNT_MARK = "#"  # between a place that is text and the count that a log adds to it
POLL_INTERVAL = 0.2  # seconds after which a log without messages yields `Idle`
TIMEOUT = 60.0  # seconds that a reading with an end waits for a server that is gone
MOST_AT_ONCE = 4096  # messages of a batch


class Idle(Enum):
    """Items that a log yields when it has no messages."""

    WAITING = "messages are on their way, or the server is gone for a while"
    AT_END = "there are no more messages at present"


class Batch(NamedTuple):
    """Consecutive messages of one partition."""

    partition: str
    places: Sequence[Place]  # (n,)
    values: Sequence[bytes | None]  # (n,) None where a compacted topic deletes a key
    times: Sequence[int] = ()  # (n,) milliseconds since 1970, if requested
    ends: Mapping[str, int] = MappingProxyType({})  # of the partitions, in the round of this batch
    inputs: Sequence[Input] = ()  # (n,) of a join of two logs
    metadata: Sequence[Mapping[str, str]] = ()  # (n,) keys and headers as columns, if requested

    def cut(self, start: int, stop: int) -> Batch:
        """Return messages start to stop - 1."""
        here = slice(start, stop)
        found = self._replace(places=self.places[here], values=self.values[here], times=self.times[here])
        return found._replace(metadata=self.metadata[here], inputs=self.inputs[here])


POSITION_SCHEMA: dict[str, Any] = {
    "last": dict[str, str | int],
    "ends": dict[str, int],
    "within": tuple[str, int],
    "skipped": int,
    "lost": int,
    "examples": int,
    "format": str,
}


@dataclass
class Position:
    """Position in a log: everything that is needed to resume as if the reading had not stopped."""

    last: dict[str, Place] = field(default_factory=dict)  # by partition: place of the last message learnt
    ends: dict[str, int] = field(default_factory=dict)  # of the partitions, in the current round, exclusive
    within: tuple[str, int] = ("", 0)  # partition of a message learnt in part, and its lines that were learnt
    skipped: int = 0  # bad lines
    lost: int = 0  # messages that were gone before they could be read
    examples: int = 0
    format: str = ""  # of the messages, once it is known
    joined: JoinState | None = None  # state of a join of two logs

    def advance(self, batch: Batch, messages: int) -> None:
        """Move past the first messages of the next batch."""
        if messages:
            self.last[batch.partition] = batch.places[messages - 1]
        self.ends = dict(batch.ends)
        if self.joined is not None and batch.inputs:
            for given in batch.inputs[max(0, self.joined.taken - batch.inputs[0].number) : messages]:
                self.joined.take(given)

    def to_json(self) -> dict[str, Any]:
        """Return the position as JSON values."""
        found = {**self.__dict__, "within": list(self.within), "last": dict(self.last), "ends": dict(self.ends)}
        joined = found.pop("joined")
        return found if joined is None else {**found, "joined": joined.to_json()}

    @classmethod
    def from_json(cls, stored: Any) -> Position:
        """Return the position that `to_json` wrote; OuzelError if it is not sound."""
        joined, stored = (stored.get("joined"), {**stored}) if isinstance(stored, dict) else (None, stored)
        if joined is not None:
            del stored["joined"]
        check_stored(stored, POSITION_SCHEMA, "the position in a log")
        partition, lines = stored["within"]
        return cls(**{**stored, "within": (partition, lines)}, joined=joined and JoinState.from_json(joined))


class Log(Protocol):
    """Messages that a server stores in order, in one or several partitions."""

    name: str  # for people
    topic: str  # of topic, stream or table, without the server's address
    partitions: Sequence[str]  # their names; ("",) if there is only one
    say: Say  # called with lines for people; the reader of the log sets it

    @property
    def lost(self) -> int:
        """Messages skipped since it was opened because they were gone."""

    def identity(self) -> dict[str, str]:
        """Return what distinguishes this log from another of the same name; stored with a position."""

    def read(self, position: Position, follow: bool) -> Generator[Batch | Idle, None, None]:
        """Yield the messages after a position, in an order that is the same in every reading of the same log.

        The iteration ends at the present end of the log, unless it is to `follow`. Raises GapError if messages between
        the position and the first one left are gone.
        """

    def order(self, place: Place) -> Any:
        """Return a comparable value of a place."""

    def lag(self, position: Position) -> int | None:
        """Return how many messages follow a position, if known without a request."""

    def close(self) -> None:
        """Disconnect."""


def shown(place: Place) -> Place:
    """Return a place for people, without the count that a log adds.

    >>> shown(7), shown("1700000000000-0#12")
    (7, '1700000000000-0')
    """
    return place if isinstance(place, int) else place.partition(COUNT_MARK)[0]


class GapError(DataError):
    """The messages to read next are gone."""


def gap(name: str, partition: str, last: Place, first: Place, lost: int | None) -> GapError:
    """Return the error of a gap between the last message learnt and the first one left."""
    count = f"{lost:,} messages" if lost is not None else "messages"
    where = f"partition {partition}, " if partition else ""
    return GapError.at(
        name,
        f"{where}{count} between {last}, the last one learnt, and {first}, the first one left, are gone",
        advice="train a new model, or leave them out with",
        on_gap="skip",
    )


def stored_positions(stored: Any) -> list[dict[str, Any]]:
    """Check the logs that a model stores, each with its identity and its position."""
    if not stored_as(list[Table]).holds(stored) or not all(set(entry) == {"identity", "position"} for entry in stored):
        raise OuzelError("the logs that the model has read are not noted in a way that this version knows")
    return list(stored)
