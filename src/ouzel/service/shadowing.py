"""A second model that learns what the first one learns, to be compared with it, and to take its place.

It follows the first model's log, example by example and in order, from wherever its own log says that it stands: so it
has learnt each once whatever was restarted when, and one that begins late catches up with all that is kept.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from itertools import islice
from pathlib import Path

from ouzel.errors import OuzelError
from ouzel.files import write_atomically
from ouzel.service.example_log import Entry
from ouzel.service.served import Served
from ouzel.service.submission import Given, KeyOf

AT_ONCE = 512  # examples
IDLE = 0.25  # seconds between two looks at a log with nothing new
FIRST = "first"  # the file that names the model which was promoted


class Shadowing:
    """A shadow at work behind a leader, until it is stopped."""

    def __init__(self, leader: Served, shadow: Served) -> None:
        self.leader = leader
        self.shadow = shadow
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to follow; from within the loop, when both have begun."""
        self._task = asyncio.create_task(self._follow())

    async def stop(self) -> None:
        """Follow no longer."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def catch_up(self) -> None:
        """Have the shadow learn what the leader has learnt by now."""
        while part := await asyncio.to_thread(self._next, self._position()):
            await self._learn(part)

    async def _follow(self) -> None:
        position = self._position()
        while True:
            part = await asyncio.to_thread(self._next, position)
            if part:
                position = part[-1].number
                with suppress(OuzelError):  # said by the shadow itself
                    await self._learn(part)
            else:
                await asyncio.sleep(IDLE)

    async def _learn(self, entries: list[Entry]) -> None:
        await self.shadow.room()
        given = [Given(entry.line, self._key(entry.number), key_of=KeyOf.PLACE) for entry in entries]
        await self.shadow.learn(given, patient=True)

    def _next(self, position: int) -> list[Entry]:
        """What comes behind an example of the leader's log."""
        log = self.leader.log
        return list(islice(log.entries(after=max(position, log.first() - 1)), AT_ONCE))

    def _position(self) -> int:
        """The last example of the leader that the shadow has learnt."""
        key = self.shadow.log.last_key() or ""
        name, _, number = key.rpartition(":")
        return int(number) if name == self.leader.name and number.isdigit() else 0

    def _key(self, number: int) -> str:
        return f"{self.leader.name}:{number}"


def promoted(data: Path) -> str | None:
    """The model that was promoted in a folder of models, if one was."""
    path = data / FIRST
    return path.read_text().strip() if path.is_file() else None


def note_promoted(data: Path, name: str) -> None:
    """Have a model be the first from now on, after a restart too."""
    with write_atomically(data / FIRST) as file:
        file.write(name.encode())
