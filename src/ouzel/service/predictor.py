"""A model that predicts: the base of models that learn and of copies that follow one."""

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
from ouzel.service.batching import MOMENT, SMALL, BackgroundThread, Batcher, WouldBlockError
from ouzel.service.feed import Feed
from ouzel.service.limits import ServiceLimits
from ouzel.service.lines import Line, Refused
from ouzel.service.metrics import Metrics
from ouzel.service.owner import Owner
from ouzel.service.reading import line_of, longest_line
from ouzel.service.submission import Result

Answered = TypeVar("Answered")


class Predictor:
    """One model of a service, as its routes use it."""

    def __init__(self, name: str, owner: Owner, limits: ServiceLimits, metrics: Metrics | None = None) -> None:
        self.name = name
        self.owner = owner
        self.limits = limits
        self.metrics = metrics or Metrics()
        self._predicted = self.metrics.predicted.labels(name)
        self.quarantine: deque[dict[str, object]] = deque(maxlen=limits.quarantine)
        self.begun = time.time()
        self.ending = False
        self.feeds: list[Feed] = []
        self.background = BackgroundThread(name, limits)
        self.batcher = Batcher(self.predict_now, self._predict_in_background)  # of single lines
        self._figures: dict[str, float] = {}  # the last known ones

    def warm_up(self) -> None:
        """Compile the kernels that learning and predicting need, before the first request."""
        self.owner.warm_up()

    @property
    def failure(self) -> str | None:
        """Why the model does not learn at present, or None."""
        return None

    def last_snapshot(self) -> Path | None:
        """Return the file of the last snapshot, if there is one."""
        raise NotImplementedError

    async def answer(self, size: int, work: Callable[[bool], Answered]) -> Answered:
        """Return the result of work on `size` bytes: `work(True)` if they are few, else `work(False)` in the thread."""
        if size <= SMALL:
            with suppress(WouldBlockError):
                return work(True)
        return await self.background.run(size, partial(work, False))

    def predict(self, texts: Sequence[bytes], now: bool = False) -> list[Result]:
        """Predict lines; in a model that learns, lines with an id then wait for their labels.

        The event loop passes `now`, and gets a WouldBlockError if it would have to wait.
        """
        owner, lines = self.owner, [line_of(text) for text in texts]
        text = b"\n".join([*lines, b""])
        reading = owner.reading if now else owner.background_reading
        block = reading.whole(text, len(lines), to_predict=True) if all(lines) else None
        if block is None or self.limits.exceeds(longest_line(text, self.limits.line), block):
            return self._predict_each(texts, now)
        try:
            answers: list[Result] = [*owner.predict_block(block, now)]
        except OuzelError:
            return self._predict_each(texts, now)
        self._predicted.inc(len(answers))
        return answers

    def predict_now(self, texts: Sequence[bytes]) -> list[Result]:
        """Predict lines within the event loop; raise WouldBlockError if that would block it."""
        return self.predict(texts, now=True)

    async def _predict_in_background(self, texts: Sequence[bytes]) -> list[Result]:
        """Predict lines in the background thread."""
        return await self.background.run(sum(map(len, texts)), partial(self.predict, texts))

    def _predict_each(self, texts: Sequence[bytes], now: bool) -> list[Result]:
        """Predict lines that are not all plain."""
        owner = self.owner
        reading = owner.reading if now else owner.background_reading
        read = reading.lines(texts, [None] * len(texts), to_predict=True)
        lines = [(isinstance(line, Line) and self.limits.exceeded(line)) or line for line in read]
        sound = [line for line in lines if isinstance(line, Line)]
        try:
            answers = iter(owner.predict([line.example for line in sound], now) if sound else [])
        except OuzelError as error:
            return [line if isinstance(line, Refused) else Refused(str(error)) for line in lines]
        self._predicted.inc(len(sound))
        return [line if isinstance(line, Refused) else self.answer_to(line, next(answers)) for line in lines]

    def parse(self, text: bytes) -> Line | Refused:
        """Parse a line to predict; for the background thread."""
        line = self.owner.background_reading.line(text, to_predict=True)
        return (isinstance(line, Line) and self.limits.exceeded(line)) or line

    def answer_to(self, line: Line, answer: Answer) -> Answer:
        """Return the answer to a line, with the id of the line if it has one."""
        return answer if line.key is None else {"id": line.key, **answer}

    def described(self) -> dict[str, Any]:
        """Return settings, counts and figures as JSON values."""
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
        """Return the figures that change from second to second, as JSON values."""
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
        """Return the figures of the model for metrics; the last known ones while it learns for longer than a moment."""
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
                **{name: value for name, value in scores.of_two_classes().items() if not name.endswith("_error")},
            }
        finally:
            self.owner.lock.release()
        self._figures = {name: float(value) for name, value in found.items() if value is not None}
        return self._figures
