"""A model in service: what its routes ask of it, over the owner, the log, the writer and what waits for labels."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from ouzel.errors import OuzelError
from ouzel.service.answering import Answering
from ouzel.service.answers import Answer
from ouzel.service.feed import Feed, Plan
from ouzel.service.folder import Folder
from ouzel.service.limits import ServiceLimits
from ouzel.service.metrics import Metrics
from ouzel.service.reading import Line, Refused
from ouzel.service.submission import Given, Result, Rows, Source, Text
from ouzel.service.unlabelled import Unlabelled, oldest
from ouzel.service.writer import Writer
from ouzel.streams.formats.json_python import with_members

WAIT = 0.005  # seconds between two looks at a queue that is full


class UnknownExampleError(OuzelError):
    """No example of this id waits for its label."""


class Served(Answering):
    """One model that learns, from `start` to `end`."""

    def __init__(
        self,
        folder: Folder,
        limits: ServiceLimits,
        snapshot_every: float = 60.0,
        say: Callable[[str], None] = lambda line: None,
        metrics: Metrics | None = None,
        keep_log: int | None = None,
    ) -> None:
        owner, self.log = folder.open(say)
        super().__init__(folder.name, owner, limits, metrics)
        self.folder = folder
        self.snapshot_every = snapshot_every
        self.keep_log = keep_log  # examples behind the last; None for all
        self.say = say
        waiting = self.log.waiting(oldest(limits), limits.unlabelled, limits.unlabelled_bytes)
        self.unlabelled = Unlabelled(limits, waiting, lambda limit: self.metrics.dropped.labels(self.name, limit).inc())
        self.writer = Writer(self.owner, self.log, limits, self.unlabelled, self._learnt)
        self.snapshot_failure: str | None = None
        self._snapshots = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to learn; from within the loop."""
        self.writer.start()
        self.start_feeds()
        self._task = asyncio.create_task(self._snapshot_now_and_then())

    async def end(self) -> None:
        """Learn what waits, write a snapshot, and close."""
        self.ending = True
        await self.stop_feeds()
        await self.writer.end()
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        try:
            await self.snapshot()
        except OuzelError as error:
            self.say(str(error))
        self.aside.end()
        self.log.close()

    async def stop_feeds(self) -> None:
        """Read the logs no more that feed the model."""
        await asyncio.gather(*(feed.stop() for feed in self.feeds))

    def fed_by(self, plans: Sequence[Plan]) -> None:
        """Have logs feed the model, once they are started."""
        self.feeds = [Feed(self, plan, self.say) for plan in plans]

    def start_feeds(self) -> None:
        """Read the logs; from within the loop."""
        for feed in self.feeds:
            feed.start()

    @property
    def failure(self) -> str | None:
        """Why nothing is learnt at present, or no snapshot written, or a log not read."""
        failures = (feed.failure for feed in self.feeds)
        return self.writer.failure or self.snapshot_failure or next(filter(None, failures), None)

    def last_snapshot(self) -> Path | None:
        """The file of the last snapshot, if there is one."""
        found = self.folder.snapshots()
        return found[-1] if found else None

    async def learn(self, lines: Sequence[Given], patient: bool = False, source: Source | None = None) -> list[Result]:
        """Learn lines; what was predicted before of each, or why it was refused."""
        return await self.writer.submit(lines, patient, source)

    async def learn_whole(self, whole: Text | Rows) -> list[Result] | int:
        """Learn many lines or rows: the same of each that is not blank, or only how many, if all are learnt."""
        return await self.writer.submit_whole(whole)

    async def room(self) -> None:
        """Wait until not too much waits to be learnt."""
        while not self.writer.has_room:
            await asyncio.sleep(WAIT)

    async def label(self, id: str, label: Any) -> Result:
        """Learn an example that was predicted, now that its label is known."""
        entry = self.unlabelled.find(id)
        if entry is not None:
            line = with_members(entry.line, {self.owner.reading.label: label})
            return (await self.writer.submit([Given(line, id, waited=True)]))[0]
        return await self.aside.run(0, partial(self._labelled_before, id, label))

    def _labelled_before(self, id: str, label: Any) -> Result:
        """What is said of the label of an example that is learnt already: the same may come again, and no other."""
        found = self.log.entry(id)
        if found is None:
            raise UnknownExampleError(f"no example {id!r} waits for its label; predict it with that id first")
        reading = self.owner.reading_aside
        first, again = reading.line(found.line), reading.line(with_members(found.line, {reading.label: label}))
        if isinstance(again, Refused):
            return again
        learnt = first.example[1] if isinstance(first, Line) else None
        if again.example[1] != learnt:
            return Refused(
                f"found another label than {learnt!r:.100}, with which the example {id!r} was learnt; expected that "
                "one, or the id of another example",
                "label",
            )
        return {"number": found.number, "repeated": True}

    async def snapshot(self) -> Path:
        """Write a snapshot of the model as it is now; its file."""
        async with self._snapshots:
            try:
                path = await asyncio.to_thread(self.folder.snapshot, self.owner)
                if self.keep_log is not None:
                    await asyncio.to_thread(self.folder.compact, self.log, self.keep_log)
            except OuzelError as error:
                self.snapshot_failure = str(error)
                raise
            self.snapshot_failure = None
            return path

    def figures(self) -> dict[str, float]:
        """What the model is at, for counters."""
        waiting = {
            "queue": self.writer.waiting,
            "queue_bytes": self.writer.waiting_bytes,
            "waiting_for_labels": len(self.unlabelled),
            "waiting_for_labels_bytes": self.unlabelled.bytes,
        }
        return {**super().figures(), **waiting, "log_bytes": self.log.bytes_used()}

    def told(self, line: Line, answer: Answer) -> Answer:
        """The answer to a line, which waits for its label from now on if it has an id."""
        if line.key is not None:
            self.unlabelled.add(line.key, line.text)
            if self.unlabelled.much_to_write:
                self.writer.hurry()
        return super().told(line, answer)

    def _learnt(self, given: Sequence[Given], results: Sequence[Result], more: int) -> None:
        self.metrics.group(self.name, results, more)
        if self.owner.model.remark is not None:
            self.say(f"{self.name}: {self.owner.model.remark}")
            self.owner.model.remark = None
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
