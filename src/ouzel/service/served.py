"""A model that learns: it connects the routes with the owner, the log, the writer and the pending labels."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from ouzel.errors import OuzelError
from ouzel.evaluation.warnings import warnings_of
from ouzel.service.feed import Feed, Plan
from ouzel.service.folder import Folder
from ouzel.service.limits import Answer, Line, Refused, ServiceLimits
from ouzel.service.metrics import Metrics
from ouzel.service.pending_labels import PendingLabels, oldest
from ouzel.service.predictor import Predictor
from ouzel.service.submission import Result, Source, Submitted, Whole
from ouzel.service.writer import Writer
from ouzel.streams.formats.json_python import with_members
from ouzel.streams.formats.records import is_rows

POLL_INTERVAL = 0.005  # seconds between two looks at a full queue


class UnknownExampleError(OuzelError):
    """No example of this id waits for its label."""


class Served(Predictor):
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
        self.keep_log = keep_log  # examples to keep; None for all
        self.say = say
        waiting = self.log.waiting(oldest(limits), limits.unlabelled, limits.unlabelled_bytes)
        self.pending_labels = PendingLabels(
            limits, waiting, lambda limit: self.metrics.dropped.labels(self.name, limit).inc()
        )
        self.writer = Writer(self.owner, self.log, limits, self.pending_labels, self._learnt)
        self.snapshot_failure: str | None = None
        self.refused = 0  # examples, since the start of the service
        self._alarms, self._warned = 0, False  # that the log of the service has a line of
        self._snapshots = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start to learn; call this within the event loop."""
        self.writer.start()
        self.start_feeds()
        self._task = asyncio.create_task(self._snapshot_periodically())

    async def end(self) -> None:
        """Learn the waiting examples, write a snapshot, and close."""
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
        self.background.end()
        self.log.close()

    async def stop_feeds(self) -> None:
        """Stop the feeds of the model."""
        await asyncio.gather(*(feed.stop() for feed in self.feeds))

    def set_feeds(self, plans: Sequence[Plan]) -> None:
        """Replace the feeds of the model; `start_feeds` starts them."""
        self.feeds = [Feed(self, plan, self.say) for plan in plans]

    def start_feeds(self) -> None:
        """Start the feeds; call this within the event loop."""
        for feed in self.feeds:
            feed.start()

    @property
    def failure(self) -> str | None:
        """Why the model does not learn, write snapshots or read a log at present, or None."""
        failures = (feed.failure for feed in self.feeds)
        return self.writer.failure or self.snapshot_failure or next(filter(None, failures), None)

    def last_snapshot(self) -> Path | None:
        """Return the file of the last snapshot, if there is one."""
        found = self.folder.snapshots()
        return found[-1] if found else None

    async def learn(
        self, lines: Sequence[Submitted], patient: bool = False, source: Source | None = None
    ) -> list[Result]:
        """Learn lines; return the prediction made before each, or why it was refused."""
        return await self.writer.submit(lines, patient, source)

    async def learn_whole(self, whole: Whole) -> list[Result] | int:
        """Learn a batch; return a result for each line that is not blank, or only their number if all are learnt."""
        return await self.writer.submit_whole(whole)

    async def room(self) -> None:
        """Wait until the queue has room."""
        while not self.writer.has_room:
            await asyncio.sleep(POLL_INTERVAL)

    async def label(self, id: str, label: object) -> Result:
        """Learn a predicted example, now that its label is known."""
        entry = self.pending_labels.find(id)
        if entry is not None:
            line = with_members(entry.line, {self.owner.reading.label: label})
            return (await self.writer.submit([Submitted(line, id, waited=True)]))[0]
        return await self.background.run(0, partial(self._labelled_before, id, label))

    def _labelled_before(self, id: str, label: object) -> Result:
        """Return the result of a label for an example that is learnt already: only the same label is accepted again."""
        found = self.log.entry(id)
        if found is None:
            raise UnknownExampleError(f"no example {id!r} waits for its label; predict it with that id first")
        reading = self.owner.background_reading
        line, members = found.record, {reading.label: label}
        if is_rows(line):
            line, members = b"{}", {**members, **({reading.options.weight: 1.0} if reading.options.weight else {})}
        first, again = reading.record(found.record), reading.line(with_members(line, members))
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
        """Write a snapshot of the model; return its file."""
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
        """Return the figures of the model, its queue and its log for metrics."""
        waiting = {
            "refused": self.refused,
            "queue": self.writer.waiting,
            "queue_bytes": self.writer.waiting_bytes,
            "waiting_for_labels": len(self.pending_labels),
            "waiting_for_labels_bytes": self.pending_labels.bytes,
        }
        return {**super().figures(), **waiting, "log_bytes": self.log.bytes_used()}

    def answer_to(self, line: Line, answer: Answer) -> Answer:
        """Return the answer to a line; if the line has an id, it waits for its label from now on."""
        if line.key is not None:
            self.pending_labels.add(line.key, line.text)
            if self.pending_labels.much_to_write:
                self.writer.hurry()
        return super().answer_to(line, answer)

    def _learnt(self, given: Sequence[Submitted], results: Sequence[Result], more: int) -> None:
        self.metrics.group(self.name, results, more)
        for line in self.owner.remarks.unsaid():
            self.say(f"{self.name}: {line}")
        for warning in () if self._warned else warnings_of(self.owner.model, self.owner.run.scores):
            self.say(f"{self.name}: {warning}")
            self._warned = True
        raised = self.owner.alarm.raised
        for event in list(self.owner.drift)[self._alarms - raised :] if raised > self._alarms else ():
            self.say(f"{self.name}: {event}")
        self._alarms = raised
        for one, result in zip(given, results, strict=True):
            if isinstance(result, Refused):
                self.refused += 1
                self.quarantine.append(
                    {"at": time.time(), "line": one.text[:2000].decode("utf-8", "replace"), **result._asdict()}
                )
            elif one.waited and one.key is not None:
                entry = self.pending_labels.find(one.key)
                if entry is not None:
                    self.metrics.label_lag.labels(self.name).observe(time.time() - entry.at)
                self.pending_labels.remove(one.key)

    async def _snapshot_periodically(self) -> None:
        while True:
            await asyncio.sleep(self.snapshot_every)
            try:
                await self.snapshot()
            except OuzelError as error:
                self.say(str(error))
