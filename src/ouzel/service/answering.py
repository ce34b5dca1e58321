"""A model that answers: what every service has, whether it learns or follows one that does."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from ouzel.errors import OuzelError
from ouzel.service.answers import Answer
from ouzel.service.aside import MOMENT, SMALL, Aside, NotNowError
from ouzel.service.feed import Feed
from ouzel.service.limits import ServiceLimits
from ouzel.service.metrics import Metrics
from ouzel.service.owner import Owner
from ouzel.service.reading import Line, Refused, line_of, longest_line
from ouzel.service.submission import Result
from ouzel.service.together import Together

Answered = TypeVar("Answered")


class Answering:
    """One model, asked by its routes."""

    def __init__(self, name: str, owner: Owner, limits: ServiceLimits, metrics: Metrics | None = None) -> None:
        self.name = name
        self.owner = owner
        self.limits = limits
        self.metrics = metrics or Metrics()
        self._predicted = self.metrics.predicted.labels(name)
        self.quarantine: deque[dict[str, Any]] = deque(maxlen=limits.quarantine)
        self.begun = time.time()
        self.ending = False
        self.feeds: list[Feed] = []
        self.aside = Aside(name, limits)
        self.asked_of = Together(self.predict_now, self._predict_aside)  # one by one, by whoever asks at the moment
        self._figures: dict[str, float] = {}  # the last ones

    def warm(self) -> None:
        """Have everything compiled that learning and predicting needs, before anybody waits for it."""
        self.owner.rehearse()

    @property
    def failure(self) -> str | None:
        """Why the model does not learn at present; None if it does."""
        return None

    def last_snapshot(self) -> Path | None:
        """The file of the last snapshot, if there is one."""
        raise NotImplementedError

    async def answer(self, size: int, work: Callable[[bool], Answered]) -> Answered:
        """What work on so many bytes gives: `work(True)` now if they are few, else `work(False)` by the thread."""
        if size <= SMALL:
            with suppress(NotNowError):
                return work(True)
        return await self.aside.run(size, partial(work, False))

    def predict(self, texts: Sequence[bytes], now: bool = False) -> list[Result]:
        """Predict lines; where labels may come late, those with an id wait for them.

        In the loop it is to be `now`, or NotNowError.
        """
        owner, lines = self.owner, [line_of(text) for text in texts]
        text = b"\n".join([*lines, b""])
        reading = owner.reading if now else owner.reading_aside
        block = reading.whole(text, len(lines), asked=True) if all(lines) else None
        if block is None or self.limits.exceeds(longest_line(text, self.limits.line), block):
            return self._predict_each(texts, now)
        try:
            answers: list[Result] = [*owner.predict_block(block, now)]
        except OuzelError:
            return self._predict_each(texts, now)
        self._predicted.inc(len(answers))
        return answers

    def predict_now(self, texts: Sequence[bytes]) -> list[Result]:
        """The same in the loop; NotNowError if that would hold it up."""
        return self.predict(texts, now=True)

    async def _predict_aside(self, texts: Sequence[bytes]) -> list[Result]:
        """The same, as soon as the model can be asked."""
        return await self.aside.run(sum(map(len, texts)), partial(self.predict, texts))

    def _predict_each(self, texts: Sequence[bytes], now: bool) -> list[Result]:
        """The same of lines that are not all plain."""
        owner = self.owner
        reading = owner.reading if now else owner.reading_aside
        read = reading.lines(texts, [None] * len(texts), asked=True)
        lines = [(isinstance(line, Line) and self.limits.exceeded(line)) or line for line in read]
        sound = [line for line in lines if isinstance(line, Line)]
        try:
            answers = iter(owner.predict([line.example for line in sound], now) if sound else [])
        except OuzelError as error:
            return [line if isinstance(line, Refused) else Refused(str(error)) for line in lines]
        self._predicted.inc(len(sound))
        return [line if isinstance(line, Refused) else self.told(line, next(answers)) for line in lines]

    def asked(self, text: bytes) -> Line | Refused:
        """A line that is asked about, by the thread aside."""
        line = self.owner.reading_aside.line(text, asked=True)
        return (isinstance(line, Line) and self.limits.exceeded(line)) or line

    def told(self, line: Line, answer: Answer) -> Answer:
        """The answer to a line, with its id if it has one."""
        return answer if line.key is None else {"id": line.key, **answer}

    def described(self) -> dict[str, Any]:
        """Settings, counts and figures, as JSON values."""
        return {
            "name": self.name,
            **self.owner.report().to_json(),
            "examples_in_all": self.owner.model.examples,
            "log": self.owner.learnt,
            "up_since": self.begun,
            "drift": [event._asdict() for event in self.owner.drift.events],
            **self.now(),
        }

    def now(self) -> dict[str, Any]:
        """The figures that change from second to second, as JSON values."""
        return {
            **self.figures(),
            "examples": self.owner.run.examples,
            "rates": self.metrics.rates(),
            "latency": self.metrics.percentiles(),
            "quarantine": len(self.quarantine),
            "failure": self.failure,
            "feeds": [feed.now() for feed in self.feeds],
        }

    def figures(self) -> dict[str, float]:
        """What the model is at, for counters; or what it was last, while it learns for longer than a moment."""
        if not self.owner.lock.acquire(timeout=MOMENT):
            return self._figures
        try:
            scores = self.owner.run.scores
            found = {
                "examples": self.owner.model.examples,
                "bytes": self.owner.model.bytes_used,
                "error_rate": scores.error_rate,
                "mean_loss": scores.mean_loss,
                "baseline": scores.baseline,
            }
        finally:
            self.owner.lock.release()
        self._figures = {name: float(value) for name, value in found.items() if value is not None}
        return self._figures
