"""A model in service: what its routes ask of it, over the owner, the log, the writer and what waits for labels."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from ouzel.errors import OuzelError
from ouzel.service.answers import Answer
from ouzel.service.folder import Folder
from ouzel.service.limits import ServiceLimits
from ouzel.service.metrics import Metrics
from ouzel.service.reading import Line, Refused
from ouzel.service.unlabelled import Unlabelled, oldest, with_label
from ouzel.service.writer import Given, Result, Writer


class UnknownExampleError(OuzelError):
    """No example of this id waits for its label."""


class Served:
    """One model in service, from `start` to `end`."""

    def __init__(
        self,
        folder: Folder,
        limits: ServiceLimits,
        snapshot_every: float = 60.0,
        say: Callable[[str], None] = lambda line: None,
        metrics: Metrics | None = None,
    ) -> None:
        self.folder = folder
        self.name = folder.name
        self.limits = limits
        self.snapshot_every = snapshot_every
        self.say = say
        self.owner, self.log = folder.open(say)
        self.metrics = metrics or Metrics()
        self.unlabelled = Unlabelled(limits, self.log.waiting(oldest(limits)))
        self.quarantine: deque[dict[str, Any]] = deque(maxlen=limits.quarantine)
        self.writer = Writer(self.owner, self.log, limits, self._learnt)
        self.begun = time.time()
        self.ending = False
        self.snapshot_failure: str | None = None
        self._snapshots = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None

    def warm(self) -> None:
        """Have everything compiled that learning and predicting needs, before anybody waits for it."""
        self.owner.rehearse(self.folder.base)

    def start(self) -> None:
        """Begin to learn; from within the loop."""
        self.writer.start()
        self._task = asyncio.create_task(self._snapshot_now_and_then())

    async def end(self) -> None:
        """Learn what waits, write a snapshot, and close."""
        self.ending = True
        await self.writer.end()
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        try:
            await self.snapshot()
        except OuzelError as error:
            self.say(str(error))
        self.log.close()

    @property
    def failure(self) -> str | None:
        """Why nothing is learnt at present."""
        return self.writer.failure

    async def learn(self, lines: Sequence[Given], patient: bool = False) -> list[Result]:
        """Learn lines; what was predicted before of each, or why it was refused."""
        return await self.writer.submit(lines, patient)

    async def label(self, id: str, label: Any) -> Result:
        """Learn an example that was predicted, now that its label is known."""
        entry = self.unlabelled.find(id)
        if entry is not None:
            line = with_label(entry.line, self.owner.reading.label, label)
            return (await self.writer.submit([Given(line, id, waited=True)]))[0]
        found = (await asyncio.to_thread(self.log.find, [id])).get(id)
        if found is None:
            raise UnknownExampleError(f"no example {id!r} waits for its label; predict it with that id first")
        return {"number": found.number, "repeated": True}

    def predict(self, texts: Sequence[bytes]) -> list[Result]:
        """Predict lines; those with an id wait for their labels from then on."""
        lines = [self.asked(text) for text in texts]
        sound = [line for line in lines if isinstance(line, Line)]
        try:
            answers = iter(self.owner.predict([line.example for line in sound]) if sound else [])
        except OuzelError as error:
            return [line if isinstance(line, Refused) else Refused(str(error)) for line in lines]
        return [line if isinstance(line, Refused) else self._wait(line, next(answers)) for line in lines]

    def asked(self, text: bytes) -> Line | Refused:
        """A line that is asked about."""
        line = self.owner.reading.line(text, asked=True)
        return (isinstance(line, Line) and self.limits.exceeded(line)) or line

    async def snapshot(self) -> Path:
        """Write a snapshot of the model as it is now; its file."""
        async with self._snapshots:
            try:
                path = await asyncio.to_thread(self.folder.snapshot, self.owner)
            except OuzelError as error:
                self.snapshot_failure = str(error)
                raise
            self.snapshot_failure = None
            return path

    def described(self) -> dict[str, Any]:
        """Settings, counts and figures, as JSON values."""
        model = self.owner.model
        return {
            "name": self.name,
            **self.owner.report().to_json(),
            "examples_in_all": model.examples,
            "log": self.owner.learnt,
            "waiting_for_labels": len(self.unlabelled),
            "waiting_to_be_learnt": self.writer.waiting,
            "rates": self.metrics.rates(),
            "latency": self.metrics.percentiles(),
            "up_since": self.begun,
            "drift": [event._asdict() for event in self.owner.drift.events],
            "failure": self.failure or self.snapshot_failure,
        }

    def now(self) -> dict[str, Any]:
        """The figures that change from second to second, as JSON values."""
        return {
            **self.figures(),
            "rates": self.metrics.rates(),
            "latency": self.metrics.percentiles(),
            "quarantine": len(self.quarantine),
            "failure": self.failure or self.snapshot_failure,
        }

    def figures(self) -> dict[str, float]:
        """What the model is at, for counters."""
        with self.owner.lock:
            scores = self.owner.run.scores
            found = {
                "examples": self.owner.model.examples,
                "bytes": self.owner.model.bytes_used,
                "error_rate": scores.error_rate,
                "mean_loss": scores.mean_loss,
                "baseline": scores.baseline,
            }
        found |= {"queue": self.writer.waiting, "waiting_for_labels": len(self.unlabelled)}
        found |= {"log_bytes": self.log.bytes_used()}
        return {name: float(value) for name, value in found.items() if value is not None}

    def _wait(self, line: Line, answer: Answer) -> Answer:
        if line.key is None:
            return answer
        self.writer.note(self.unlabelled.add(line.key, line.text))
        return {"id": line.key, **answer}

    def _learnt(self, given: Sequence[Given], results: Sequence[Result], requests: int) -> None:
        self.metrics.group(self.name, results, requests)
        for one, result in zip(given, results, strict=True):
            if isinstance(result, Refused):
                self.quarantine.append(
                    {"at": time.time(), "line": one.text[:2000].decode("utf-8", "replace"), **result._asdict()}
                )
            elif one.waited and one.key is not None:
                entry = self.unlabelled.find(one.key)
                if entry is not None:
                    self.metrics.label_lag.labels(self.name).observe(time.time() - entry.at)
                self.unlabelled.remove(one.key)

    async def _snapshot_now_and_then(self) -> None:
        while True:
            await asyncio.sleep(self.snapshot_every)
            try:
                await self.snapshot()
            except OuzelError as error:
                self.say(str(error))
