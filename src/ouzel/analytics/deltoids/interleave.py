"""Interleaving of two streams of items, evenly, for streams of any length, files or live pipes."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Generator, Iterator

import numpy as np

from ouzel.analytics.items import Items

LONGEST = 1 << 16  # items taken from one stream at a time, so that neither waits for long
NOTHING = np.empty(0, np.uint32)
WAITING = 4  # batches of a pipe that may wait to be learnt


def interleave(
    first: Generator[Items], second: Generator[Items], lengths: tuple[int | None, int | None]
) -> Iterator[tuple[Items, np.ndarray]]:
    """Interleave two streams: yield items of both, with the stream (n,) of each, 0 or 1.

    With both lengths (in rows) known the streams go at such paces that they end together. Otherwise they are taken as
    they arrive, what has arrived of both being mixed evenly, so that an idle pipe does not hold up the other.
    """
    if lengths[0] is None or lengths[1] is None:
        return _as_they_arrive(first, second)
    return _in_step(first, second, (lengths[0], lengths[1]))


class _Buffer:
    """Buffer of one stream: the items that were read and not yet emitted."""

    def __init__(self, stream: Iterator[Items], length: int) -> None:
        self.stream = stream
        self.length = length
        self.read = 0
        self.items: Items | None = None
        self.at = 0
        self.keys = np.empty(0)
        self.ended = False

    def fill(self) -> None:
        """Read the next items, unless the stream has ended."""
        while not self.ended and self.at == len(self.keys):
            self.items = next(self.stream, None)
            self.at = 0
            self.ended = self.items is None
            if self.items is None:
                self.keys = np.empty(0)
                continue
            self.keys = (self.read + self.items.rows * _evenly(len(self.items.slots))) / self.length
            self.read += self.items.rows

    @property
    def reach(self) -> float:
        """Largest key of the items read so far."""
        return float("inf") if self.ended else float(self.keys[-1])

    def take(self, limit: float) -> tuple[np.ndarray, np.ndarray, int]:
        """Remove and return the keys and slots up to a limit, and the position of the first in its batch."""
        stop = int(np.searchsorted(self.keys, limit, side="right"))
        start, self.at = self.at, max(stop, self.at)
        return self.keys[start : self.at], NOTHING if self.items is None else self.items.slots[start : self.at], start


def _evenly(count: int) -> np.ndarray:
    """Return (count,) numbers between 0 and 1, evenly spaced."""
    return (np.arange(count) + 0.5) / max(count, 1)


def _in_step(
    first: Generator[Items], second: Generator[Items], lengths: tuple[int, int]
) -> Iterator[tuple[Items, np.ndarray]]:
    sides = [_Buffer(stream, length) for stream, length in zip((first, second), lengths, strict=True)]
    try:
        while True:
            for side in sides:
                side.fill()
            if all(side.ended for side in sides):
                return
            limit = min(side.reach for side in sides)
            parts = [side.take(limit) for side in sides]
            names = [_names(side, start) for side, (_, _, start) in zip(sides, parts, strict=True)]
            yield _merged([(keys, slots) for keys, slots, _ in parts], names)
    finally:
        for stream in (first, second):
            stream.close()


def _names(side: _Buffer, start: int) -> Callable[[int], str | None]:
    items = side.items
    return lambda k: None if items is None else items.name_of(start + k)


def _merged(
    parts: list[tuple[np.ndarray, np.ndarray]], names: list[Callable[[int], str | None]]
) -> tuple[Items, np.ndarray]:
    """Merge the items of both streams in the order of their keys."""
    (keys, slots), (other_keys, other_slots) = parts
    order = np.argsort(np.concatenate([keys, other_keys]), kind="stable")
    here = len(slots)

    def name_of(k: int) -> str | None:
        at = int(order[k])
        return names[0](at) if at < here else names[1](at - here)

    return Items(np.concatenate([slots, other_slots])[order], name_of, 0), (order >= here).astype(np.uint8)


def _as_they_arrive(first: Iterator[Items], second: Iterator[Items]) -> Iterator[tuple[Items, np.ndarray]]:
    arrived = threading.Condition()
    waiting: list[queue.Queue[Items]] = [queue.Queue(WAITING), queue.Queue(WAITING)]
    ended: list[bool] = [False, False]
    errors: list[BaseException] = []

    def fetch(number: int, stream: Iterator[Items]) -> None:
        try:
            for items in stream:
                for start in range(0, len(items.slots), LONGEST):
                    waiting[number].put(_part(items, start))
                    with arrived:
                        arrived.notify()
        except BaseException as error:
            errors.append(error)
        with arrived:
            ended[number] = True
            arrived.notify()

    for number, stream in enumerate((first, second)):
        threading.Thread(target=fetch, args=(number, stream), name="ouzel-read", daemon=True).start()
    while True:
        with arrived:
            arrived.wait_for(lambda: errors or any(not q.empty() for q in waiting) or all(ended))
        if all(q.empty() for q in waiting):
            if errors:
                raise errors[0]
            if all(ended):
                return
            continue
        taken = [None if q.empty() else q.get() for q in waiting]
        slots = [NOTHING if items is None else items.slots for items in taken]
        names = [_no_name if items is None else items.name_of for items in taken]
        yield _merged([(_evenly(len(some)), some) for some in slots], names)


def _no_name(k: int) -> None:
    """Return no name: there is no item."""


def _part(items: Items, start: int) -> Items:
    return Items(items.slots[start : start + LONGEST], lambda k: items.name_of(start + k), 0)
