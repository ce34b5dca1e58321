"""Protocol of logs, their batches and positions. A further broker is one file with one class of this protocol."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

from ouzel.errors import DataError, OuzelError
from ouzel.rules import check, either, list_of, pair_of, text, whole
from ouzel.rules import table as a_table
from ouzel.streams.logs.join import Input, JoinState

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


POSITION_SCHEMA = {
    "last": a_table,
    "ends": a_table,
    "within": pair_of(text, whole()),
    "skipped": whole(),
    "lost": whole(),
    "examples": whole(),
    "format": text,
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
        check(stored, POSITION_SCHEMA, "the position in a log")
        places, numbers = either(text, whole()), whole()
        if not (all(map(places.holds, stored["last"].values())) and all(map(numbers.holds, stored["ends"].values()))):
            raise OuzelError("the position in a log is not one of places")
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
    rule = list_of(a_table)
    if not rule.holds(stored) or not all(set(entry) == {"identity", "position"} for entry in stored):
        raise OuzelError("the logs that the model has read are not noted in a way that this version knows")
    return list(stored)
