"""Two logs as one: events, and the labels that come for them later.

The two are read in the order of their messages' times, events first where these are equal; a time that is earlier than
one before it in the same log counts as that. A log that has nothing more at present holds up the other for no longer
than it takes to ask. Each message is one message of what is made of them: without a value, unless it completes an
example.
"""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from typing import Any, NamedTuple

from ouzel.errors import OuzelError
from ouzel.rules import label as a_label
from ouzel.streams.formats.catalogue import find
from ouzel.streams.formats.json_python import DECODER, object_of, with_members
from ouzel.streams.logs.join_state import EVENTS, LABELS, SIDES, Input, JoinState
from ouzel.streams.logs.messages import content
from ouzel.streams.logs.metadata import KEY, Beside, has
from ouzel.streams.logs.opening import open_log
from ouzel.streams.logs.protocol import MOST_AT_ONCE, NOTED_WITH, Batch, Log, Pause, Place, Position, Say
from ouzel.streams.logs.reading import Reading
from ouzel.streams.sources.addresses import EXAMPLE, is_database, is_log, name_of
from ouzel.streams.sources.prefetch import made_ahead

JSON_LINES = find("jsonl")
TOLD = 60.0  # seconds between two lines on what was left out


class Split(NamedTuple):
    """What a message holds."""

    key: str | None = None
    value: Any = None
    odd: bytes | None = None


class Side:
    """One of the logs as it is read."""

    def __init__(self, found: Iterator[tuple[float, Batch | Pause]]) -> None:
        self._found = found
        self.batch: Batch | None = None
        self.at = 0  # messages of it behind us
        self.moment = math.inf  # when it was there
        self.over = False
        self._caught_up = -math.inf  # when there was last no more

    def ready(self, since: float) -> bool:
        """Whether its next message is known, or that there was none since a moment; asks once if not."""
        if self.batch is None and not self.over and self._caught_up < since:
            moment, found = next(self._found, (math.inf, None))
            self.over = found is None
            self._caught_up = moment if found is Pause.CAUGHT_UP else -math.inf
            if isinstance(found, Batch) and len(found.places):
                self.batch, self.at, self.moment = found, 0, moment
        return self.batch is not None or self.over or self._caught_up >= since

    @property
    def resting(self) -> bool:
        """Whether it had no more when it was last asked."""
        return self.batch is None and (self.over or self._caught_up > -math.inf)

    def time(self, before: int) -> int:
        """When its next message was sent, or one before it that is later."""
        assert self.batch is not None
        return max(before, self.batch.times[self.at])

    def take(self) -> tuple[Batch, int]:
        """The batch of the next message, and its place there; it is behind us then."""
        batch, at = self.batch, self.at
        assert batch is not None
        self.at += 1
        if self.at == len(batch.places):
            self.batch, self.moment = None, math.inf
        return batch, at


class JoinedLog:
    """The examples that a log of events and a log of labels make, by the keys of messages or a member of both."""

    partitions: Sequence[str] = ("",)

    def __init__(self, events: Log, labels: Log, reading: Reading, label: str) -> None:
        self.logs = events, labels
        self.name, self.topic = f"{events.name} with {labels.name}", f"{events.topic} with {labels.topic}"
        self._reading, self._label = reading, label
        self._say: Say = lambda line: None
        self._told = ("", time.monotonic())

    @property
    def say(self) -> Say:
        """Called with lines for people."""
        return self._say

    @say.setter
    def say(self, say: Say) -> None:
        self._say = self.logs[EVENTS].say = self.logs[LABELS].say = say

    @property
    def lost(self) -> int:
        """Messages of both that were gone before they could be read."""
        return sum(log.lost for log in self.logs)

    def identity(self) -> dict[str, str]:
        """What tells the two logs from others of their names, and what joins them."""
        both = zip(self.logs, SIDES, strict=True)
        parts = {f"{name} of {side}": value for log, side in both for name, value in log.identity().items()}
        return {"kind": "joined", "topic": self.topic, "member": self._reading.by or "the key", **parts}

    def order(self, place: Place) -> int:
        """By how many messages of both came before."""
        return int(str(place).partition(NOTED_WITH)[2])

    def behind(self, position: Position) -> int | None:
        """Messages of both that are to come."""
        state = position.joined or JoinState(0)
        found = [log.behind(_position(state, side)) for side, log in enumerate(self.logs)]
        return None if None in found else sum(filter(None, found))

    def close(self) -> None:
        """Leave the servers."""
        for log in self.logs:
            log.close()

    def read(self, position: Position, follow: bool) -> Generator[Batch | Pause, None, None]:
        """The messages of both logs behind a position."""
        state = position.joined
        assert state is not None
        with ExitStack() as stack:
            sides = [
                Side(
                    stack.enter_context(closing(made_ahead(_with_moments(log.read(_position(state, number), follow)))))
                )
                for number, log in enumerate(self.logs)
            ]
            inputs: list[Input] = []
            values: list[bytes | None] = []
            while not all(side.over and side.batch is None for side in sides):
                moments = [side.moment for side in sides]
                ready = min([side.ready(moments[1 - number]) for number, side in enumerate(sides)])  # each is asked
                heads = [number for number, side in enumerate(sides) if side.batch is not None]
                if ready and heads:
                    number = min(heads, key=lambda number: (sides[number].time(state.times[number]), number))
                    inputs.append(self._input(state, number, sides[number]))
                    values.append(self._value(state, inputs[-1]))
                if inputs and (not (ready and heads) or state.taken % MOST_AT_ONCE == 0):
                    yield _batch(inputs, values)
                    inputs, values = [], []
                if not (ready and heads):
                    self._tell(state, TOLD)
                    yield Pause.CAUGHT_UP if all(side.resting for side in sides) else Pause.WAITING
            if inputs:
                yield _batch(inputs, values)
            self._tell(state, 0.0)
            yield Pause.CAUGHT_UP

    def _input(self, state: JoinState, number: int, side: Side) -> Input:
        """The next message of a side."""
        moment = side.time(state.times[number])
        batch, at = side.take()
        beside = dict(batch.beside[at]) if batch.beside else {}
        split = self._split(batch.values[at], beside, number)
        return Input(state.taken, number, batch.partition, batch.places[at], batch.ends, moment, *split)

    def _value(self, state: JoinState, given: Input) -> bytes | None:
        """What a message makes, if it makes anything."""
        found = state.take(given)
        if found is None:
            return given.odd
        return b"\n".join(with_members(line, {self._label: found.label}) for line in found.event.encode().split(b"\n"))

    def _split(self, value: bytes | None, beside: dict[str, str], side: int) -> Split:
        """What a message holds: lines of JSON that are an event, or a label."""
        lines = content(value, JSON_LINES)
        if not lines:
            return Split()
        key = beside.get(KEY)
        if not self._reading.beside.key:
            beside.pop(KEY, None)
        try:
            row = object_of(lines[0]) if side == EVENTS or lines[0].startswith(b"{") else None
            if self._reading.by is not None:
                key = None if row is None else _key_of(row.get(self._reading.by))
            if side == EVENTS:
                return Split(key, b"\n".join(with_members(line, beside) for line in lines).decode())
            found = _scalar(b" ".join(lines)) if row is None else row.get(self._label)
        except (ValueError, RecursionError):
            found = None
        if side == LABELS and a_label.holds(found):
            return Split(key, found)
        return Split(odd=value if side == EVENTS else b"label " + b" ".join(lines))  # which is no JSON

    def _tell(self, state: JoinState, pause: float) -> None:
        """Say what was left out, if that has changed, and was not said just now."""
        said, before = self._told
        if state.told() != said and time.monotonic() - before >= pause:
            self._told = state.told(), time.monotonic()
            self.say(f"{self.name}: {state.told()}")


def join(url: str, reading: Reading, label: str) -> JoinedLog:
    """The events at an address with the labels that `reading` names; OuzelError where the two cannot be joined."""
    assert reading.labels is not None
    by_key = reading.by is None
    for address in (url, reading.labels):
        if not is_log(address) or is_database(address):
            raise OuzelError(f"labels come from a log, and for one, such as {EXAMPLE}; got {address!r}")
        if by_key and not has(address, "with_key"):
            raise OuzelError(
                f"{name_of(address)}: has no keys to find labels by; name a member of both logs with", by="id"
            )
    events = open_log(url, replace(reading, beside=reading.beside._replace(key=by_key or reading.beside.key)))
    try:
        return JoinedLog(events, open_log(reading.labels, replace(reading, beside=Beside(by_key))), reading, label)
    except BaseException:
        events.close()
        raise


def _with_moments(found: Iterator[Batch | Pause]) -> Iterator[tuple[float, Batch | Pause]]:
    """What a log gives out, and when: it may wait before it is looked at."""
    with closing(found):  # type: ignore[type-var]
        for one in found:
            yield time.monotonic(), one


def _batch(inputs: list[Input], values: list[bytes | None]) -> Batch:
    places = [f"{SIDES[one.side]} {one.partition}:{one.place}{NOTED_WITH}{one.number + 1}" for one in inputs]
    return Batch("", places, values, [one.time for one in inputs], inputs=inputs)


def _position(state: JoinState, side: int) -> Position:
    return Position(dict(state.last[side]), dict(state.ends[side]))


def _key_of(value: Any) -> str | None:
    """A member by which messages are joined, as text; None if it is not a name or a whole number."""
    return str(value) if isinstance(value, (str, int)) else None


def _scalar(text: bytes) -> Any:
    """A label that stands alone: what it is in JSON, else a word."""
    try:
        return DECODER.decode(text.decode())
    except ValueError:
        return text.decode().strip()
