"""A copy of a model that another service learns: it fetches snapshots and answers, in any number of processes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NoReturn, Protocol

import httpx

from ouzel.errors import OuzelError
from ouzel.service.limits import ServiceLimits
from ouzel.service.metrics import Metrics
from ouzel.service.owner import Owner
from ouzel.service.predictor import Predictor
from ouzel.service.submission import Submitted, Whole

PATIENCE = 30.0  # seconds to wait for the other service


class FollowingError(OuzelError):
    """A reader got a request that only the service it follows can answer."""


class Snapshots:
    """The snapshots of a model of another service, each fetched once into one file."""

    def __init__(self, address: str, name: str, place: Path, token: str | None = None) -> None:
        self.writer = address.rstrip("/")
        self.address = f"{address.rstrip('/')}/v1/models/{name}/snapshot"
        self.place = self.mapped = place
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._tag = ""

    def fetch(self) -> bool:
        """Fetch the newest snapshot; return whether it is a new one."""
        try:
            headers = {**self._headers, "If-None-Match": self._tag}
            with httpx.stream("GET", self.address, headers=headers, timeout=PATIENCE) as response:
                if response.status_code == 304:
                    return False
                if response.status_code != 200:
                    raise OuzelError(
                        f"{self.address}: answers {response.status_code}; is the address right, and the token?"
                    )
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
