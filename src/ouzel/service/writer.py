"""Writer: the one thread that learns. It writes waiting examples to disk as a group, by one commit, and learns them.

So the log has every acknowledged example, in the order of learning. The next group gathers while a commit waits for the
disk: a busier service makes fewer commits for each example.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ouzel.errors import OuzelError
from ouzel.service.example_log import MOST_ROW, Entry, Feed, Log
from ouzel.service.limits import BusyError, Line, Refused, ServiceLimits
from ouzel.service.owner import Owner
from ouzel.service.pending_labels import Changes, PendingLabels
from ouzel.service.submission import (
    Result,
    Source,
    Submission,
    Submitted,
    Whole,
    feeds_of,
    remove_repeated,
    text_of,
)
from ouzel.streams.block import ROWS

Learnt = Callable[[Sequence[Submitted], Sequence[Result], int], None]
"""Called in the event loop with the lines of a group, their results, and the number of other examples learnt."""


class StoppedError(OuzelError):
    """The model does not learn: the service is ending, or has failed."""


class Writer:
    """Learns submissions in the order of their arrival."""

    def __init__(
        self,
        owner: Owner,
        log: Log,
        limits: ServiceLimits,
        pending_labels: PendingLabels,
        learnt: Learnt = lambda given, results, more: None,
    ) -> None:
        self.owner = owner
        self.log = log
        self.limits = limits
        self.pending_labels = pending_labels
        self.learnt = learnt
        self.failure: str | None = None  # why the model does not learn, for now or for good
        self.waiting = self.waiting_bytes = 0  # examples
        self._queue: deque[Submission] = deque()
        self._wake = threading.Event()
        self._waking = False
        self._ending = False
        self._broken = False
        self._turn = threading.Lock()  # held while a group is learnt, or while the writer is paused
        self._thread = threading.Thread(target=self._work, name=f"ouzel-learn-{owner.name}", daemon=True)

    def start(self) -> None:
        """Start the thread; call this within the event loop that submits."""
        self._loop = asyncio.get_running_loop()
        self._thread.start()

    async def pause(self, seconds: float) -> bool:
        """Learn nothing from now on until `resume`; submissions wait. Return whether that began within some seconds.

        The group that is being learnt is learnt to its end.
        """
        return await asyncio.to_thread(self._turn.acquire, timeout=max(0.0, seconds))

    def resume(self) -> None:
        """Learn on after a pause."""
        self._turn.release()
        self._wake.set()

    def hand_over(self, other: Writer) -> None:
        """Let another writer learn what waits here; call this within the event loop during a pause."""
        while self._queue:
            submission = self._queue.popleft()
            self.waiting -= submission.size
            self.waiting_bytes -= submission.nbytes
            try:
                other._submit(submission, patient=True)
            except StoppedError as error:
                submission.answered.set_exception(error)

    async def end(self) -> None:
        """Refuse further submissions, learn the waiting ones, and end."""
        self._ending = True
        self._wake.set()
        await asyncio.to_thread(self._thread.join)

    def submit(
        self, lines: Sequence[Submitted], patient: bool = False, source: Source | None = None
    ) -> asyncio.Future[list[Result]]:
        """Return the future results of lines; raise BusyError if too many wait and the caller is not patient."""
        return self._submit(Submission(lines, self._loop.create_future(), source), patient)

    def submit_whole(self, whole: Whole) -> asyncio.Future[list[Result] | int]:
        """Return the future results of a batch, or only the number of its examples, if all are learnt."""
        return self._submit(Submission((), self._loop.create_future(), None, whole), patient=True)

    def _submit(self, submission: Submission, patient: bool) -> asyncio.Future[Any]:
        if self._ending or self._broken:
            raise StoppedError(self.failure or "the service is ending; send it again in a moment")
        size = submission.nbytes
        if not patient and (self.waiting + submission.size > self.limits.queue or self._is_full(size)):
            raise BusyError(f"{self.waiting:,} examples wait to be learnt; send it again in a moment")
        self.waiting += submission.size
        self.waiting_bytes += size
        self._queue.append(submission)
        if not self._waking:
            self._waking = True
            self._loop.call_soon(self._awake)  # after all submissions of this turn of the loop
        return submission.answered

    def _is_full(self, more: int) -> bool:
        """Return whether the queue cannot take more bytes; a single submission may have any number."""
        return self.waiting > 0 and self.waiting_bytes + more > self.limits.queue_bytes

    @property
    def has_room(self) -> bool:
        """Whether patient callers may submit more."""
        return self.waiting <= self.limits.queue and self.waiting_bytes <= self.limits.queue_bytes

    def _awake(self) -> None:
        self._waking = False
        self._wake.set()

    def hurry(self) -> None:
        """Write pending labels to disk now, and not with the next group."""
        self._wake.set()

    def _work(self) -> None:
        while True:
            self._wake.wait(1.0)
            self._wake.clear()
            while self._queue or self.pending_labels.changed:
                with self._turn:
                    learnt = self._group()
                if not (learnt or self._queue):
                    break  # the disk is full, say; try again in a moment
            if self._ending and not self._queue:
                return

    def _group(self) -> bool:
        """Learn waiting submissions, at most one block; return whether that succeeded."""
        group: list[Submission] = []
        size = nbytes = 0
        while self._queue and (not group or self._fits(size, nbytes)):
            group.append(self._queue.popleft())
            size += group[-1].size
            nbytes += group[-1].nbytes
            if group[-1].whole is not None:
                break
        changes = self.pending_labels.changes()
        found: list[Result] | int | OuzelError
        try:
            found = self._results(group, changes)
            if not self._broken:
                self.failure = None
        except OuzelError as error:
            self.failure, found = str(error), StoppedError(str(error))
        except Exception as error:  # a bug: the log stays unchanged, and nothing more is written to it
            self._broken = True
            self.failure = f"learning failed ({error!r}); the log has every acknowledged example: start it again"
            found = StoppedError(self.failure)
        self._loop.call_soon_threadsafe(self._answer, group, size, nbytes, found)
        return not isinstance(found, OuzelError)

    def _fits(self, size: int, nbytes: int) -> bool:
        """Return whether the next submission fits into a group of this size, which delays predictions as a whole."""
        following = self._queue[0]
        return following.whole is None and size + following.size <= ROWS and nbytes + following.nbytes <= MOST_ROW

    def _answer(self, group: list[Submission], size: int, nbytes: int, found: list[Result] | int | OuzelError) -> None:
        """Set the results of a group; runs in the event loop."""
        self.waiting -= size
        self.waiting_bytes -= nbytes
        start = 0
        for submission in group:
            stop = start + len(submission.lines)
            if submission.answered.done():
                pass
            elif isinstance(found, OuzelError):
                submission.answered.set_exception(found)
            else:
                alone = isinstance(found, int) or submission.whole is not None
                submission.answered.set_result(found if alone else found[start:stop])  # type: ignore[index]
            start = stop
        if isinstance(found, OuzelError) or not group:
            return
        given = [given for submission in group for given in submission.lines]
        if given and not isinstance(found, int):
            self.learnt(given, found, 0)
        else:
            self.learnt((), (), found if isinstance(found, int) else len(found))

    def _results(self, group: list[Submission], changes: Changes) -> list[Result] | int:
        """Learn a group, as one text if possible and else line by line; return its results."""
        whole = group[0].whole if group else None
        together = whole or text_of(group)
        found = None if together is None else self._learn_whole(together, changes)
        if found is not None:
            return found
        if whole is not None:
            group[0] = group[0]._replace(lines=whole.submitted())
        return self._learn(group, changes)

    def _learn_whole(self, whole: Whole, changes: Changes) -> list[Result] | int | None:
        """Read, write and learn lines together; return None, and do nothing, unless all are plain."""
        owner = self.owner
        block = whole.block(owner.reading)
        if block is None or owner.refusal_of(block, self.limits) is not None:
            return None
        if self.limits.exceeds(whole.longest(owner.reading, self.limits.line), block):
            return None
        first = owner.learnt + 1
        self._append([Entry(owner.learnt + block.rows, None, whole.to_log(owner.reading))], changes)
        answers = owner.learn_block(block, whole.return_predictions)
        if not whole.return_predictions:
            return block.rows
        return [{"number": k, **answer} for k, answer in enumerate(answers, first)]

    def _learn(self, group: Sequence[Submission], changes: Changes) -> list[Result]:
        """Learn the new and valid lines of a group, and write them to the log; return the results of all lines."""
        owner = self.owner
        given = [one for submission in group for one in submission.lines]
        results: list[Result | None] = [None] * len(given)
        lines: dict[int, Line] = {}
        sound = [one for one in given if one.refused is None and one.row is None]
        read = iter(owner.reading.lines([one.text for one in sound], [one.key for one in sound]))
        for place, one in enumerate(given):
            line = one.refused or one.line or next(read)
            if isinstance(line, Line):
                line = one.keyed(line)
            refused = (
                line if isinstance(line, Refused) else self.limits.exceeded(line) or owner.reading.missing_label(line)
            )
            if refused is not None:
                results[place] = refused
            elif isinstance(line, Line):
                lines[place] = line
        again = remove_repeated(lines, results, self.log)
        self._admit(lines, results)
        entries, first = self._entries(lines.values()), owner.learnt + 1
        labelled = [one.key for one in given if one.waited and one.key is not None]
        read_up_to = feeds_of(group, results)
        if entries or changes or labelled or read_up_to:
            self._append(entries, changes, labelled, read_up_to)
        if entries:
            answers = owner.learn([line.example for line in lines.values()])
            for number, (place, answer) in enumerate(zip(lines, answers, strict=True), first):
                results[place] = {"number": number, **answer}
        for place, before in again.items():
            found = results[before]
            if found is not None:
                results[place] = {**found, "repeated": True} if isinstance(found, dict) else found
        return [result for result in results if result is not None]

    def _entries(self, lines: Iterable[Line]) -> list[Entry]:
        """Return lines that follow those of the log as its entries."""
        entries, number = [], self.owner.learnt
        for record, key, count in self.owner.reading.records(lines):
            number += count
            entries.append(Entry(number, key, record))
        return entries

    def _append(
        self, entries: Sequence[Entry], changes: Changes, labelled: Sequence[str] = (), read_up_to: Sequence[Feed] = ()
    ) -> None:
        """Write entries and changes to disk, all or none of them."""
        self.log.append(entries, changes.waiting, [*labelled, *changes.gone], read_up_to)
        self.pending_labels.written(changes, labelled)

    def _admit(self, lines: dict[int, Line], results: list[Result | None]) -> None:
        """Remove lines that the model would refuse: those refused alone, then the last ones until the rest is valid."""
        if self._refusal(lines.values()) is None:
            return
        alone = {place: refusal for place, line in lines.items() if (refusal := self._refusal([line]))}
        for place, refusal in alone.items():
            del lines[place]
            results[place] = Refused(str(refusal))
        while (refusal := self._refusal(lines.values())) is not None:
            results[max(lines)] = Refused(str(refusal))
            del lines[max(lines)]

    def _refusal(self, lines: Iterable[Line]) -> OuzelError | None:
        examples = [line.example for line in lines]
        return self.owner.refusal(examples, self.limits) if examples else None
