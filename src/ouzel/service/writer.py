"""The one thread that learns: it takes what waits as a group, has it on disk by one commit, and learns it as one block.

What is acknowledged is therefore in the log, in the order in which it was learnt. While a commit waits for the disk the
next group gathers: the busier the service, the fewer commits an example.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ouzel.errors import OuzelError
from ouzel.service.example_log import MOST_ROW, Entry, Feed, Log
from ouzel.service.limits import BusyError, ServiceLimits
from ouzel.service.owner import Owner
from ouzel.service.reading import Line, Refused
from ouzel.service.submission import Given, Result, Rows, Source, Submission, Text, text_of
from ouzel.service.unlabelled import Changes, Unlabelled
from ouzel.streams.block import ROWS

Learnt = Callable[[Sequence[Given], Sequence[Result], int], None]
"""Called in the loop with the lines of a group, what was said of them, and how many more were learnt as they are."""


class StoppedError(OuzelError):
    """Nothing is learnt: the service is ending, or has failed."""


class Writer:
    """Learns what is submitted, in the order in which it came."""

    def __init__(
        self,
        owner: Owner,
        log: Log,
        limits: ServiceLimits,
        unlabelled: Unlabelled,
        learnt: Learnt = lambda given, results, more: None,
    ) -> None:
        self.owner = owner
        self.log = log
        self.limits = limits
        self.unlabelled = unlabelled
        self.learnt = learnt
        self.failure: str | None = None  # why nothing is learnt any more, or for now
        self.waiting = self.waiting_bytes = 0  # examples
        self._queue: deque[Submission] = deque()
        self._wake = threading.Event()
        self._waking = False
        self._ending = False
        self._broken = False
        self._thread = threading.Thread(target=self._work, name=f"ouzel-learn-{owner.name}", daemon=True)

    def start(self) -> None:
        """Begin; from within the loop that submits."""
        self._loop = asyncio.get_running_loop()
        self._thread.start()

    async def end(self) -> None:
        """Learn what waits, take nothing more, and end."""
        self._ending = True
        self._wake.set()
        await asyncio.to_thread(self._thread.join)

    def submit(
        self, lines: Sequence[Given], patient: bool = False, source: Source | None = None
    ) -> asyncio.Future[list[Result]]:
        """What will be said of lines; refused with BusyError if too many wait already, unless one is patient."""
        return self._submit(Submission(lines, self._loop.create_future(), source), patient)

    def submit_whole(self, whole: Text | Rows) -> asyncio.Future[list[Result] | int]:
        """The same of many lines or rows, patiently; or only how many were learnt, if all were."""
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
            self._loop.call_soon(self._awake)  # when all who ask in this turn of the loop have done so
        return submission.answered

    def _is_full(self, more: int) -> bool:
        """Whether more bytes are too many beside those that wait; what is alone may take any number."""
        return self.waiting > 0 and self.waiting_bytes + more > self.limits.queue_bytes

    @property
    def has_room(self) -> bool:
        """Whether those who are patient may submit more."""
        return self.waiting <= self.limits.queue and self.waiting_bytes <= self.limits.queue_bytes

    def _awake(self) -> None:
        self._waking = False
        self._wake.set()

    def hurry(self) -> None:
        """Have examples that wait for their labels on disk without waiting for what is learnt next."""
        self._wake.set()

    def _work(self) -> None:
        while True:
            self._wake.wait(1.0)
            self._wake.clear()
            while self._queue or self.unlabelled.changed:
                if not (self._group() or self._queue):
                    break  # the disk is full, say; it is tried again in a moment
            if self._ending and not self._queue:
                return

    def _group(self) -> bool:
        """Learn what waits, as much as is one block; whether that went well."""
        group: list[Submission] = []
        size = nbytes = 0
        while self._queue and (not group or self._fits(size, nbytes)):
            group.append(self._queue.popleft())
            size += group[-1].size
            nbytes += group[-1].nbytes
            if group[-1].whole is not None:
                break
        noted = self.unlabelled.changes()
        found: list[Result] | int | OuzelError
        try:
            found = self._found(group, noted)
            if not self._broken:
                self.failure = None
        except OuzelError as error:
            self.failure, found = str(error), StoppedError(str(error))
        except Exception as error:  # a mistake of our own: what is on disk stands, and nothing is built upon it
            self._broken = True
            self.failure = f"learning failed ({error!r}); the log has every acknowledged example: start it again"
            found = StoppedError(self.failure)
        self._loop.call_soon_threadsafe(self._answer, group, size, nbytes, found)
        return not isinstance(found, OuzelError)

    def _fits(self, size: int, nbytes: int) -> bool:
        """Whether what is next is learnt with so many examples, which hold up predictions together."""
        following = self._queue[0]
        return following.whole is None and size + following.size <= ROWS and nbytes + following.nbytes <= MOST_ROW

    def _answer(self, group: list[Submission], size: int, nbytes: int, found: list[Result] | int | OuzelError) -> None:
        """In the loop: tell everybody of a group."""
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

    def _found(self, group: list[Submission], noted: Changes) -> list[Result] | int:
        """What is said of a group: of its lines as a whole if that can be, else of each."""
        whole = group[0].whole if group else None
        together = whole or text_of(group)
        found = None if together is None else self._learn_whole(together, noted)
        if found is not None:
            return found
        if whole is not None:
            group[0] = group[0]._replace(lines=whole.given())
        return self._learn(group, noted)

    def _learn_whole(self, whole: Text | Rows, noted: Changes) -> list[Result] | int | None:
        """Read, write and learn lines together; None if they are not all plain, and nothing is done."""
        owner = self.owner
        block = whole.block(owner.reading)
        if block is None or owner.refusal_of(block, self.limits) is not None:
            return None
        if self.limits.exceeds(whole.longest(owner.reading, self.limits.line), block):
            return None
        first = owner.learnt + 1
        self._append([Entry(owner.learnt + block.rows, None, whole.kept())], noted)
        answers = owner.learn_block(block, whole.told)
        return [{"number": k, **answer} for k, answer in enumerate(answers, first)] if whole.told else block.rows

    def _learn(self, group: Sequence[Submission], noted: Changes) -> list[Result]:
        """Results of lines: those that are new and sound are in the log and learnt."""
        owner = self.owner
        given = [one for submission in group for one in submission.lines]
        results: list[Result | None] = [None] * len(given)
        lines: dict[int, Line] = {}
        sound = [one for one in given if one.refused is None]
        read = iter(owner.reading.lines([one.text for one in sound], [one.key for one in sound]))
        for place, one in enumerate(given):
            line = one.refused or next(read)
            if isinstance(line, Line):
                line = one.keyed(line)
            refused = (
                line if isinstance(line, Refused) else self.limits.exceeded(line) or owner.reading.unlabelled(line)
            )
            if refused is not None:
                results[place] = refused
            elif isinstance(line, Line):
                lines[place] = line
        again = self._repeated(lines, results)
        self._admit(lines, results)
        entries = [Entry(owner.learnt + k, line.key, line.text) for k, line in enumerate(lines.values(), 1)]
        labelled = [one.key for one in given if one.waited and one.key is not None]
        read_up_to = _counted(group, results)
        if entries or noted or labelled or read_up_to:
            self._append(entries, noted, labelled, read_up_to)
        if entries:
            answers = owner.learn([line.example for line in lines.values()])
            for place, entry, answer in zip(lines, entries, answers, strict=True):
                results[place] = {"number": entry.number, **answer}
        for place, first in again.items():
            found = results[first]
            if found is not None:
                results[place] = {**found, "repeated": True} if isinstance(found, dict) else found
        return [result for result in results if result is not None]

    def _append(
        self, entries: Sequence[Entry], noted: Changes, labelled: Sequence[str] = (), read_up_to: Sequence[Feed] = ()
    ) -> None:
        """Have on disk, all or none, what is to be learnt and what has changed beside it."""
        self.log.append(entries, noted.waiting, [*labelled, *noted.gone], read_up_to)
        self.unlabelled.written(noted, labelled)

    def _repeated(self, lines: dict[int, Line], results: list[Result | None]) -> dict[int, int]:
        """Take out the lines whose key was met before; of those met in this very group, the place where."""
        keys = {line.key: place for place, line in reversed(lines.items()) if line.key is not None}
        if not keys:
            return {}
        again: dict[int, int] = {}
        known = self.log.find(list(keys))
        for place, line in list(lines.items()):
            if line.key is None:
                continue
            entry, first = known.get(line.key), keys[line.key]
            if entry is None and first == place:
                continue
            del lines[place]
            if (entry.line if entry is not None else lines[first].text) != line.text:
                results[place] = Refused(f"found the key {line.key!r} of another example; expected one of its own")
            elif entry is not None:
                results[place] = {"number": entry.number, "repeated": True}
            else:
                again[place] = first
        return again

    def _admit(self, lines: dict[int, Line], results: list[Result | None]) -> None:
        """Take out the lines that the model would refuse: those it refuses alone, then from the last on."""
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


def _counted(group: Sequence[Submission], results: Sequence[Result | None]) -> list[Feed]:
    """How far the logs are read that lines of a group come from."""
    found, start = [], 0
    for submission in group:
        stop = start + len(submission.lines)
        if submission.source is not None:
            found.append(submission.source.noted(results[start:stop]))
        start = stop
    return found
