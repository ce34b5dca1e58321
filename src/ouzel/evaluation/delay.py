"""Labels that come late: each example is predicted when it comes, and learnt when its label does.

A delay is a number of examples, or a time. Times are those that rows are named by: a column of dates, or of seconds.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from math import inf
from typing import Any

import numpy as np

from ouzel.errors import OuzelError
from ouzel.model.model import Model
from ouzel.model.tasks.task import Outcome
from ouzel.ranges import COUNT, check
from ouzel.streams.block import Block
from ouzel.streams.dates import date_parts

PART = 16  # of the delay: the length of stretches that are learnt at once
SECONDS = {"s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0, "w": 604_800.0}
SPAN = re.compile(r"(\d+(?:\.\d+)?)([smhdw])", re.ASCII)


def delay_of(given: int | str) -> tuple[int, float]:
    """A delay as a number of examples and a number of seconds; one of them is 0.

    >>> delay_of(48), delay_of("48"), delay_of("2h"), delay_of("1.5d")
    ((48, 0.0), (48, 0.0), (0, 7200.0), (0, 129600.0))
    >>> delay_of("2y")
    Traceback (most recent call last):
    ouzel.errors.OuzelError: delay is a number of examples, or a time such as 30s, 15m, 2h, 1d or 1w; got '2y'
    """
    if not isinstance(given, str):
        return int(check("delay", COUNT, given)), 0.0
    if given.isascii() and given.isdigit():
        return int(check("delay", COUNT, int(given))), 0.0
    found = SPAN.fullmatch(given)
    if found is None or not float(found[1]) > 0.0:
        raise OuzelError(
            f"is a number of examples, or a time such as 30s, 15m, 2h, 1d or 1w; got {given!r}", subject="delay"
        )
    return 0, float(found[1]) * SECONDS[found[2]]


def late_labels(model: Model, delay: int | str) -> DelayedLabels | None:
    """Progressive validation of a model whose labels come so late; None without a delay."""
    examples, seconds = delay_of(delay)
    if seconds:
        return TimedLabels(model, seconds)
    return DelayedLabels(model, examples) if examples else None


class DelayedLabels:
    """Progressive validation of a model whose labels come `delay` examples late.

    Example i is predicted by a model that has learnt the examples up to i - delay - 1, or up to an eighth of the delay
    fewer: labels come in stretches whose ends do not depend on blocks, and neither do the figures. Examples of classes
    that no label has named yet are not predicted.

    >>> import ouzel
    >>> found = DelayedLabels(ouzel.Model("ogd"), 20)
    >>> blocks = ouzel.blocks_from([({"sun": 1.0}, "dry"), ({"cloud": 1.0}, "wet")] * 50)
    >>> sum(len(outcome.targets) for block in blocks for outcome in found.learn(block))  # the first 22 have no model
    78
    >>> found.evaluate_pending()
    >>> found.model.examples
    100
    """

    def __init__(self, model: Model, delay: float) -> None:
        if model.task.groups:
            raise OuzelError("a ranking learns groups as they are; leave out", delay=delay)
        self.model, self.delay = model, delay
        self.stretch = 1 << max(int(delay) // PART, 1).bit_length() - 1
        self.row = 0  # examples predicted
        self._waiting: deque[tuple[float, Block]] = deque()  # the end of the stretch that a block is in, and the block

    @property
    def waiting(self) -> bool:
        """Whether examples are predicted and not learnt yet."""
        return bool(self._waiting)

    def learn(self, block: Block) -> Iterator[Outcome]:
        """Predict a block; learn what has its label by then. Yield predictions, a part of the block at a time."""
        start = 0
        while start < block.rows:
            stop = min(block.rows, start + self.stretch - self.row % self.stretch)
            part = block.slice(start, stop)
            yield self.model.evaluate(part)
            start, self.row = stop, self.row + part.rows
            self._waiting.append((-(-self.row // self.stretch) * self.stretch, part))
            if self.row % self.stretch == 0:
                self._learn_until(self.row - self.delay)

    def evaluate_pending(self) -> None:
        """Learn what waits, at the end of a stream or of a run."""
        self._learn_until(inf)

    def _learn_until(self, row: float) -> None:
        while self._waiting and self._waiting[0][0] <= row:
            self.model.learn(self._waiting[0][1])
            self._waiting.popleft()


class TimedLabels(DelayedLabels):
    """Progressive validation of a model whose labels come `delay` seconds late, by the times that rows are named by.

    Examples of one sixteenth of the delay are predicted by one model, which has learnt what came a delay, or up to an
    eighth of it more, before. A row earlier than the one before it counts as that one.

    >>> import ouzel
    >>> import pyarrow as pa
    >>> days = [f"2024-01-{k % 30 + 1:02}" for k in range(30)]
    >>> table = pa.table({"day": days, "x": [1.0] * 30, "y": ["wet", "dry"] * 15})
    >>> found = TimedLabels(ouzel.Model("ogd"), delay_of("7d")[1])
    >>> blocks = ouzel.blocks_from(table, label="y", id="day")
    >>> sum(len(outcome.targets) for block in blocks for outcome in found.learn(block))  # the first eight have no model
    22
    """

    def __init__(self, model: Model, delay: float) -> None:
        super().__init__(model, delay)
        self.window = -inf  # of the last example: which sixteenth of a delay since 1970 its time is in

    def learn(self, block: Block) -> Iterator[Outcome]:
        """Predict a block; learn what has its label by then. Yield predictions, a part of the block at a time."""
        windows = np.floor(times_of(block) * (PART / self.delay))
        windows = np.maximum.accumulate(np.maximum(windows, self.window))
        ends = [*(np.flatnonzero(np.diff(windows)) + 1).tolist(), block.rows]
        for start, stop in zip([0, *ends], ends, strict=False):
            if stop > start:
                self.window = float(windows[start])
                self._learn_until(self.window)
                part = block.slice(start, stop)
                predicted = self.model.evaluate(part)
                self.row += part.rows
                self._waiting.append((self.window + 1 + PART, part))
                yield predicted


def times_of(block: Block) -> np.ndarray:
    """Seconds since 1970 (n,) of the rows of a block, by their names: dates and times, or seconds."""
    if block.tags is None:
        raise OuzelError("a delay of time needs the time of each row; name its column with", id="COLUMN")
    tags: list[Any] = block.tags.tolist()
    known: dict[Any, float] = {}
    for tag in tags:
        if tag not in known:
            try:
                known[tag] = date_parts(tag)[0]
            except ValueError:
                raise OuzelError(
                    f"rows are named by their times where labels are late by a time; found {str(tag)!r:.80}; "
                    "expected a date such as 2024-01-31 or 2024-01-31T12:30, or seconds since 1970; name it with",
                    id="COLUMN",
                ) from None
    return np.array([known[tag] for tag in tags], np.float64)
