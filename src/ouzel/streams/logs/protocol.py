"""What a log is to those who read it. Another broker is one more file with one such class."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

from ouzel.errors import DataError, OuzelError
from ouzel.rules import check, either, list_of, pair_of, text, whole
from ouzel.rules import table as a_table
from ouzel.streams.logs.join_state import Input, JoinState

Place = int | str  # of a message in its partition: messages are read in the order of their places
Say = Callable[[str], None]

NOTED_WITH = "#"  # between a place that is text and what a log notes with it
TOUCH = 0.2  # seconds after which a log that waits says so, to let others act
PATIENCE = 60.0  # seconds that a reading which is to end waits for a server that is gone
MOST_AT_ONCE = 4096  # messages of a batch


class Pause(Enum):
    """What a log gives out in place of messages."""

    WAITING = "messages are on their way, or the server is gone for a while"
    CAUGHT_UP = "there are no more messages at present"


class Batch(NamedTuple):
    """Some messages of one partition, in order."""

    partition: str
    places: Sequence[Place]  # (n,)
    values: Sequence[bytes | None]  # (n,) None where a compacted topic tells that a key is gone
    times: Sequence[int] = ()  # (n,) milliseconds since 1970, if they were asked for
    ends: Mapping[str, int] = MappingProxyType({})  # of the round of partitions that this batch is of
    inputs: Sequence[Input] = ()  # (n,) of two logs that are joined
    beside: Sequence[Mapping[str, str]] = ()  # (n,) keys and headers as members, if they were asked for

    def cut(self, start: int, stop: int) -> Batch:
        """Messages start to stop - 1."""
        here = slice(start, stop)
        found = self._replace(places=self.places[here], values=self.values[here], times=self.times[here])
        return found._replace(beside=self.beside[here], inputs=self.inputs[here])


NOTED = {
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
    """Where a reading of a log stands: all that it takes to go on as if it had not stopped."""

    last: dict[str, Place] = field(default_factory=dict)  # by partition: of the last message that was learnt
    ends: dict[str, int] = field(default_factory=dict)  # of the round of partitions under way, exclusive
    within: tuple[str, int] = ("", 0)  # the partition whose next message was begun, and its lines behind us
    skipped: int = 0  # bad lines
    lost: int = 0  # messages that were gone before they could be read
    examples: int = 0
    format: str = ""  # of the messages, once it is known
    joined: JoinState | None = None  # of two logs: how far each is read, and what waits

    def pass_over(self, batch: Batch, messages: int) -> None:
        """Stand behind the first messages of a batch that follows."""
        if messages:
            self.last[batch.partition] = batch.places[messages - 1]
        self.ends = dict(batch.ends)
        if self.joined is not None and batch.inputs:
            for given in batch.inputs[max(0, self.joined.taken - batch.inputs[0].number) : messages]:
                self.joined.take(given)

    def to_json(self) -> dict[str, Any]:
        """The position as JSON values."""
        found = {**self.__dict__, "within": list(self.within), "last": dict(self.last), "ends": dict(self.ends)}
        joined = found.pop("joined")
        return found if joined is None else {**found, "joined": joined.to_json()}

    @classmethod
    def from_json(cls, stored: Any) -> Position:
        """The position that `to_json` gave; OuzelError if it makes no sense."""
        joined, stored = (stored.get("joined"), {**stored}) if isinstance(stored, dict) else (None, stored)
        if joined is not None:
            del stored["joined"]
        check(stored, NOTED, "the position in a log")
        places, numbers = either(text, whole()), whole()
        if not (all(map(places.holds, stored["last"].values())) and all(map(numbers.holds, stored["ends"].values()))):
            raise OuzelError("the position in a log is not one of places")
        partition, lines = stored["within"]
        return cls(**{**stored, "within": (partition, lines)}, joined=joined and JoinState.from_json(joined))


class Log(Protocol):
    """Messages that a server keeps in order, in one partition or several."""

    name: str  # for people
    topic: str  # what holds the messages, without the server's address
    partitions: Sequence[str]  # their names; one without a name where there is but one
    say: Say  # called with lines for people; whoever reads it sets it

    @property
    def lost(self) -> int:
        """Messages left out since it was opened, for they were gone."""

    def identity(self) -> dict[str, str]:
        """What tells this log from another of the same name; a model notes it beside its position."""

    def read(self, position: Position, follow: bool) -> Generator[Batch | Pause, None, None]:
        """The messages behind a position, in an order that does not depend on time as long as the log does not grow.

        At the end as it stands now the iteration ends, unless it is to `follow`. GapError where messages between
        the position and the first that is left are gone.
        """

    def order(self, place: Place) -> Any:
        """A place as something that can be compared."""

    def behind(self, position: Position) -> int | None:
        """How many messages follow a position at present, as far as is known without asking."""

    def close(self) -> None:
        """Leave the server."""


def shown(place: Place) -> Place:
    """A place for people, without what a log has noted with it.

    >>> shown(7), shown("1700000000000-0#12")
    (7, '1700000000000-0')
    """
    return place if isinstance(place, int) else place.partition(NOTED_WITH)[0]


class GapError(DataError):
    """Messages that were to be read next are gone."""


def gap(name: str, partition: str, last: Place, first: Place, lost: int | None) -> GapError:
    """The error of messages that are gone between the last one learnt and the first one left."""
    count = f"{lost:,} messages" if lost is not None else "messages"
    where = f"partition {partition}, " if partition else ""
    return GapError.at(
        name,
        f"{where}{count} between {last}, the last one learnt, and {first}, the first one left, are gone",
        advice="train a new model, or leave them out with",
        on_gap="skip",
    )


def known(stored: Any) -> list[dict[str, Any]]:
    """The logs that a model notes, each with its identity and its position."""
    rule = list_of(a_table)
    if not rule.holds(stored) or not all(set(entry) == {"identity", "position"} for entry in stored):
        raise OuzelError("the logs that the model has read are not noted in a way that this version knows")
    return list(stored)
