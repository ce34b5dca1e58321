"""A model that another service learns: it is fetched as it changes, and answers here, in any number of processes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NoReturn, Protocol

import httpx

from ouzel.errors import OuzelError
from ouzel.service.answering import Answering
from ouzel.service.limits import ServiceLimits
from ouzel.service.metrics import Metrics
from ouzel.service.owner import Owner
from ouzel.service.submission import Given, Rows, Text

PATIENCE = 30.0  # seconds that the other service has to answer


class FollowingError(OuzelError):
    """What is asked of a reader is for the service that it follows."""


class Snapshots:
    """The snapshots of another service's model, each fetched once, into one file."""

    def __init__(self, address: str, name: str, place: Path, token: str | None = None) -> None:
        self.writer = address.rstrip("/")
        self.address = f"{address.rstrip('/')}/v1/models/{name}/snapshot"
        self.place = self.mapped = place
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._tag = ""

    def fetch(self) -> bool:
        """Have the newest snapshot; whether it is another than before."""
        try:
            headers = {**self._headers, "If-None-Match": self._tag}
            with httpx.stream("GET", self.address, headers=headers, timeout=PATIENCE) as response:
                if response.status_code == 304:
                    return False
                if response.status_code != 200:
                    raise OuzelError(
                        f"{self.address}: answers {response.status_code}; is the address right, and the token?"
                    )
                beside = self.place.with_suffix(".part")
                with beside.open("wb") as file:
                    for part in response.iter_bytes():
                        file.write(part)
                beside.replace(self.place)  # who has mapped the one before keeps that
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise OuzelError(f"{self.address}: cannot be reached ({error}); is the service there?") from None
        self._tag = response.headers.get("etag", "")
        return True

    def forget(self) -> None:
        """Take what is there for new."""
        self._tag = ""


class Source(Protocol):
    """Where the snapshots of a model are had from."""

    writer: str  # the service that learns
    place: Path  # of the newest snapshot
    mapped: Path  # the file of the same model whose arrays are mapped

    def fetch(self) -> bool:
        """Whether there is another one than before."""

    def forget(self) -> None:
        """Take what is there for new: it could not be read."""


class Followed(Answering):
    """The model of another service, as it was at that service's last snapshot."""

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
        """Begin to follow; from within the loop."""
        self._task = asyncio.create_task(self._follow())

    async def end(self) -> None:
        """Follow no longer."""
        self.ending = True
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        self.aside.end()

    @property
    def failure(self) -> str | None:
        """Why the model is not followed at present: it answers as it was last."""
        return self.lost

    def last_snapshot(self) -> Path | None:
        """The file that was fetched last."""
        return self.snapshots.place

    async def refresh(self) -> None:
        """Answer as the newest snapshot does. It is loaded beside the model that answers meanwhile."""
        if await asyncio.to_thread(self.snapshots.fetch):
            try:
                self.owner = await asyncio.to_thread(_owner_of, self.name, self.snapshots.mapped)
            except OuzelError:
                self.snapshots.forget()
                raise

    async def learn(self, lines: Sequence[Given], patient: bool = False) -> NoReturn:
        """Refused: a reader does not learn."""
        raise FollowingError(f"this is a reader; send it to {self.snapshots.writer}")

    async def learn_whole(self, whole: Text | Rows) -> NoReturn:
        """The same."""
        await self.learn(())

    async def room(self) -> None:
        """There is nothing to wait for."""

    async def label(self, id: str, label: object) -> NoReturn:
        """The same."""
        await self.learn(())

    async def snapshot(self) -> NoReturn:
        """The same."""
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
    """The model of a snapshot, with its figures."""
    owner = Owner(name, snapshot, mapped=True)
    with suppress(OuzelError):  # before anything was learnt there are none
        owner.restore(snapshot)
    return owner
