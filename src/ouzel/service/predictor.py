"""Models that predict: the base of those that learn, and copies that follow a model which another service learns."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NoReturn, Protocol, TypeVar

import httpx

from ouzel.errors import OuzelError
from ouzel.evaluation.warnings import no_better_than_constant
from ouzel.service.batching import MOMENT, SMALL, BackgroundThread, Batcher, WouldBlockError
from ouzel.service.events import Events, Moment, event_of
from ouzel.service.feed import Feed
from ouzel.service.limits import Answer, Line, Refused, ServiceLimits
from ouzel.service.metrics import Metrics
from ouzel.service.owner import Owner
from ouzel.service.reading import line_of, longest_line
from ouzel.service.submission import Result, Submitted, Whole

Answered = TypeVar("Answered")
PATIENCE = 30.0  # seconds to wait for the other service


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
        self.events = Events(self._moment, lambda: self.ending)
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
        reading = self.owner.reading if now else self.owner.background_reading
        read = reading.lines(texts, [None] * len(texts), to_predict=True)
        lines = [(isinstance(line, Line) and self.limits.exceeded(line)) or line for line in read]
        sound = [line for line in lines if isinstance(line, Line)]
        try:
            answers = iter(self.owner.predict([line.example for line in sound], now) if sound else [])
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
        return {"name": self.name, **self.owner.described(), "up_since": self.begun, **self.now()}

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

    def _moment(self) -> Moment:
        """Return what streams of events say now."""
        snapshot = self.last_snapshot()
        return Moment([*self.owner.drift], "" if snapshot is None else snapshot.name, event_of("figures", self.now()))

    def figures(self) -> dict[str, float]:
        """Return the figures of the model for metrics; the last known ones while it learns for longer than a moment."""
        if not self.owner.lock.acquire(timeout=MOMENT):
            return self._figures
        try:
            scores, model = self.owner.run.scores, self.owner.model
            found = {
                "examples": model.examples,
                "bytes": model.bytes_used,
                "alarms": self.owner.alarm.raised,
                "error_rate": scores.error_rate,
                "mean_loss": scores.mean_loss,
                "baseline": scores.baseline,
                "no_better_than_constant": int(bool(no_better_than_constant(model, scores))),
                **{name: value for name, value in scores.of_two_classes().items() if not name.endswith("_error")},
            }
        finally:
            self.owner.lock.release()
        self._figures = {name: value for name, value in found.items() if value is not None}
        return self._figures


class FollowingError(OuzelError):
    """A reader got a request that only the service it follows can answer."""


class Snapshots:
    """The snapshots of a model of another service, each fetched once into one file."""

    def __init__(self, address: str, name: str, place: Path, token: str | None = None) -> None:
        self.writer = address.rstrip("/")
        self.address = f"{self.writer}/v1/models/{name}/snapshot"
        self.place = self.mapped = place
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._tag = ""

    def fetch(self) -> bool:
        """Fetch the newest snapshot; return whether it is a new one."""
        try:
            headers = {**self._headers, "If-None-Match": self._tag}
            with httpx.stream("GET", self.address, headers=headers, timeout=PATIENCE) as response:
                code = response.status_code
                if code == 304:
                    return False
                if code != 200:
                    raise OuzelError(f"{self.address}: answers {code}; is the address right, and the token?")
                partial = self.place.with_suffix(".part")
                with partial.open("wb") as file:
                    for part in response.iter_bytes():
                        file.write(part)
                partial.replace(self.place)  # processes that map the one before keep it
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise OuzelError(f"{self.address}: cannot be reached ({error}); is the service there?") from None
        self._tag = response.headers.get("etag", "")
        return True

    def forget(self) -> None:
        """Treat the present snapshot as new."""
        self._tag = ""


class Source(Protocol):
    """Source of the snapshots of a model."""

    writer: str  # the service that learns
    place: Path  # the newest snapshot
    mapped: Path  # the file of the same model whose arrays are mapped

    def fetch(self) -> bool:
        """Fetch the newest snapshot; return whether it is a new one."""

    def forget(self) -> None:
        """Treat the present snapshot as new, after it could not be read."""


class Followed(Predictor):
    """A model of another service, as of its last snapshot."""

    def __init__(
        self,
        name: str,
        snapshots: Source,
        limits: ServiceLimits,
        every: float,
        say: Callable[[str], None] = lambda line: None,
        metrics: Metrics | None = None,
    ) -> None:
        snapshots.fetch()
        super().__init__(name, _owner_of(name, snapshots.mapped), limits, metrics)
        self.snapshots = snapshots
        self.every = every
        self.say = say
        self.lost: str | None = None
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start to follow; call this within the event loop."""
        self._task = asyncio.create_task(self._follow())

    async def end(self) -> None:
        """Stop following."""
        self.ending = True
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        self.background.end()

    @property
    def failure(self) -> str | None:
        """Why the model is not followed at present; it answers from its last snapshot."""
        return self.lost

    def last_snapshot(self) -> Path | None:
        """Return the file that was fetched last."""
        return self.snapshots.place

    async def refresh(self) -> None:
        """Replace the model by the newest snapshot. The old model answers while the new one is loaded."""
        if await asyncio.to_thread(self.snapshots.fetch):
            try:
                self.owner = await asyncio.to_thread(_owner_of, self.name, self.snapshots.mapped)
            except OuzelError:
                self.snapshots.forget()
                raise

    async def learn(self, lines: Sequence[Submitted], patient: bool = False) -> NoReturn:
        """Raise FollowingError: a reader does not learn."""
        raise FollowingError(f"this is a reader; send it to {self.snapshots.writer}")

    async def learn_whole(self, whole: Whole) -> NoReturn:
        """Raise FollowingError."""
        await self.learn(())

    async def room(self) -> None:
        """Return at once: nothing waits to be learnt."""

    async def label(self, id: str, label: object) -> NoReturn:
        """Raise FollowingError."""
        await self.learn(())

    async def snapshot(self) -> NoReturn:
        """Raise FollowingError."""
        await self.learn(())

    async def _follow(self) -> None:
        while True:
            await asyncio.sleep(self.every)
            try:
                await self.refresh()
                self.lost = None
            except OuzelError as error:
                if self.lost is None:
                    self.say(str(error))
                self.lost = str(error)


def _owner_of(name: str, snapshot: Path) -> Owner:
    """Return the owner of the model of a snapshot, with its figures."""
    owner = Owner(name, snapshot, mapped=True)
    with suppress(OuzelError):  # a model that has learnt nothing has none
        owner.restore(snapshot)
    return owner
