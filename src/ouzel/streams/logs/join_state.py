"""Examples whose labels come later, in a log of their own: what waits for the other half, as part of a position.

Each message of either log is an input. What becomes of it depends on the inputs before it alone, so a position that has
taken the same inputs as the reader stands where the reader stood.
"""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, NamedTuple, Self

from ouzel.errors import OuzelError
from ouzel.rules import Rule, check, either, label, list_of, table, text, whole

Waiting = OrderedDict[str, tuple[int, Any]]  # by its key: how many events there were when it came, and what it is

EVENTS, LABELS = 0, 1
SIDES = ("events", "labels")


MOST_BYTES = 64 << 20  # of the notes of a model file, which are written with every checkpoint
ROW = 48  # bytes of a row but for its text


class Input(NamedTuple):
    """A message of one of the two logs."""

    number: int  # of inputs before it
    side: int
    partition: str
    place: int | str
    ends: Mapping[str, int]
    time: int  # milliseconds since 1970, never less than before on its side
    key: str | None = None  # None: it is for nobody
    value: Any = None  # the lines of an event, or a label
    odd: bytes | None = None  # what is to be read as it is, for it is neither


class Joined(NamedTuple):
    """An event and its label."""

    event: str
    label: Any


def _size(key: str, value: Any) -> int:
    """Bytes of a row in a model file, where marks that JSON escapes are escaped twice."""
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


NOTED = {
    **dict.fromkeys(("taken", "seen", "late", "unlabelled"), whole()),
    **dict.fromkeys(("last", "ends"), list_of(table, 2)),
    "times": list_of(whole(), 2),
    "events": list_of(_row(text)),
    "labels": list_of(_row(label)),
}


class Matching(NamedTuple):
    """How far events and labels have found one another.

    >>> Matching(2, 1, 40, 3).facts
    ['  labels       2 found no event   1 event found no label   40 events and 3 labels wait']
    """

    late_labels: int  # without an event that waited
    unlabelled_events: int  # that waited in vain
    waiting_events: int
    waiting_labels: int

    @property
    def facts(self) -> list[str]:
        """The counts for people."""
        late, unlabelled, events, labels = self
        found = f"{late:,} found no event   {_counted(unlabelled, 'event')} found no label"
        return [f"  {'labels':<13}{found}   {_counted(events, 'event')} and {_counted(labels, 'label')} wait"]

    def to_json(self) -> dict[str, int]:
        """JSON values."""
        return self._asdict()


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'s' * (count != 1)}"


class JoinState:
    """How far two logs were read, and what of them waits: an event for as many further ones as the bound says."""

    def __init__(self, within: int) -> None:
        self.within = within
        self.taken = 0  # inputs
        self.seen = 0  # events among them
        self.late = 0  # labels without an event that waited
        self.unlabelled = 0  # events that waited in vain
        self.last: list[dict[str, int | str]] = [{}, {}]  # of each side, as in a position
        self.ends: list[dict[str, int]] = [{}, {}]
        self.times = [0, 0]
        self.waiting: tuple[Waiting, Waiting] = (
            OrderedDict(),
            OrderedDict(),
        )  # of each side
        self.bytes = 0  # of the model file that what waits takes, about

    def take(self, given: Input) -> Joined | None:
        """Take the next input; the example that it completes, if it does."""
        side = given.side
        self.taken += 1
        self.last[side][given.partition] = given.place
        self.ends[side] = dict(given.ends)
        self.times[side] = given.time
        if given.odd is not None or (given.value is None):
            return None
        if side == EVENTS:
            self.seen += 1
            self._forget()
        if given.key is None:
            self._count(side)
            return None
        if given.key in self.waiting[1 - side]:
            other = self._drop(1 - side, given.key)
            return Joined(given.value, other) if side == EVENTS else Joined(other, given.value)
        waiting = self.waiting[side]
        if given.key in waiting or len(waiting) >= self.within:
            self._drop(side, given.key if given.key in waiting else next(iter(waiting)))
            self._count(side)
        waiting[given.key] = self.seen, given.value
        self.bytes += _size(given.key, given.value)
        while self.bytes > MOST_BYTES:
            side = EVENTS if self.waiting[EVENTS] else LABELS
            self._drop(side, next(iter(self.waiting[side])))
            self._count(side)
        return None

    def _drop(self, side: int, key: str) -> Any:
        """What waits under a key, which it does no longer."""
        value = self.waiting[side].pop(key)[1]
        self.bytes -= _size(key, value)
        return value

    def _forget(self) -> None:
        """Forget what has waited for too many events."""
        for side, waiting in enumerate(self.waiting):
            while waiting and self.seen - waiting[key := next(iter(waiting))][0] >= self.within:
                self._drop(side, key)
                self._count(side)

    def _count(self, side: int) -> None:
        if side == EVENTS:
            self.unlabelled += 1
        else:
            self.late += 1

    @property
    def matching(self) -> Matching:
        """How far the two have found one another."""
        return Matching(self.late, self.unlabelled, *map(len, self.waiting))

    def told(self) -> str:
        """What was left out, in a line; nothing if all found its other half."""
        said = [f"labels without an event among the last {self.within:,} ({self.late:,})"] if self.late else []
        if self.unlabelled:
            said.append(f"events without a label before {self.within:,} more came ({self.unlabelled:,})")
        return f"left out: {', '.join(said)}" if said else ""

    def to_json(self) -> dict[str, Any]:
        """The state as JSON values."""
        rows = [[[key, *kept] for key, kept in waiting.items()] for waiting in self.waiting]
        found = {name: getattr(self, name) for name in NOTED if hasattr(self, name)}
        return {**copy.deepcopy(found), **dict(zip(SIDES, rows, strict=True))}

    @classmethod
    def from_json(cls, stored: Any) -> Self:
        """The state that `to_json` gave; OuzelError if it makes no sense."""
        check(stored, NOTED, "what waits for labels")
        places = either(text, whole())
        if not all(map(places.holds, [place for side in stored["last"] for place in side.values()])) or not all(
            len(stored[name]) == 2 for name in ("last", "ends", "times")
        ):
            raise OuzelError("what waits for labels is not of two logs")
        found = cls(0)
        for name in NOTED.keys() - set(SIDES):
            setattr(found, name, stored[name])
        for waiting, name in zip(found.waiting, SIDES, strict=True):
            waiting.update((key, (number, value)) for key, number, value in stored[name])
        for waiting in found.waiting:
            found.bytes += sum(_size(key, value) for key, (_, value) in waiting.items())
        return found

    def __deepcopy__(self, memo: Any) -> Self:
        """A copy that shares the lines, which nobody changes."""
        found = copy.copy(self)
        found.last, found.ends = [dict(side) for side in self.last], [dict(side) for side in self.ends]
        found.times = list(self.times)
        found.waiting = (self.waiting[0].copy(), self.waiting[1].copy())
        return found
