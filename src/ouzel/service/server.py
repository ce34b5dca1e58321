"""A service on the network: uvicorn around the application, from the first line of its log to the last snapshot."""

from __future__ import annotations

import gc
import multiprocessing
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from socket import socket
from tempfile import TemporaryDirectory
from types import FrameType
from typing import TYPE_CHECKING

import uvicorn
from starlette.types import ASGIApp

from ouzel.errors import OuzelError
from ouzel.files import locked
from ouzel.service.app import application
from ouzel.service.connections import Connection, raise_open_files
from ouzel.service.feed import Plan
from ouzel.service.folder import READERS, Folder
from ouzel.service.followed import Followed, Snapshots, Source
from ouzel.service.gate import is_loopback
from ouzel.service.limits import ServiceLimits
from ouzel.service.metrics import Metrics
from ouzel.service.served import Served
from ouzel.service.service import Service
from ouzel.service.shadowing import Shadowing
from ouzel.service.shared_snapshots import SharedSnapshots
from ouzel.service.stderr_log import logger
from ouzel.service.tokens import Tokens
from ouzel.service.workers import Local, Refreshing, Workers, listening

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger

GRACE = 10  # seconds that requests under way have to end
COLLECT_OFTEN = (700, 10, 10)  # Python's own: a look for garbage is short, and holds up no answer


@dataclass(frozen=True)
class Place:
    """Where a service listens, who may come in, and how it writes its log."""

    host: str = "127.0.0.1"
    port: int = 8000
    tokens: str | None = None  # a file
    certificate: str | None = None
    key: str | None = None
    log: str = "text"
    limits: ServiceLimits = field(default_factory=ServiceLimits)
    snapshot_every: float = 60.0
    keep_log: int | None = None
    feeds: Sequence[Plan] = ()  # logs that the first model learns
    workers: int = 0  # processes that answer from snapshots
    readers_port: int | None = None  # where they do, beside one that learns; the next port unless it is given
    follow_every: float = 5.0  # seconds between two looks for a snapshot

    def check(self) -> Tokens | None:
        """The tokens; OuzelError if this place is not one to serve from."""
        if (self.certificate is None) != (self.key is None):
            raise OuzelError("TLS needs both --certificate and --key")
        for path in (self.certificate, self.key):
            if path is not None and not Path(path).is_file():
                raise OuzelError(f"{path}: there is no such file")
        if self.tokens is None and not is_loopback(self.host):
            raise OuzelError(
                f"--host {self.host} lets other machines in: give --tokens FILE; `ouzel serve --new-token NAME` makes "
                "a line of it"
            )
        return None if self.tokens is None else Tokens.read(self.tokens)


def serve(folders: Sequence[Folder], place: Place, shadow: str | None = None) -> None:
    """Serve models until a signal asks for the end; what is acknowledged by then is learnt and in a snapshot.

    The model `shadow` learns what the first one learns, unless it is the first itself by now.
    """
    tokens = place.check()
    log = logger(place.log)
    metrics = Metrics()
    with ExitStack() as held:
        if place.workers:  # they are forked before this process has files, locks or threads
            held.enter_context(readers_of(folders, place))
        for folder in folders:
            held.enter_context(locked(folder.base))
        served = [
            Served(folder, place.limits, place.snapshot_every, log.warning, metrics, place.keep_log)
            for folder in folders
        ]
        served[0].fed_by(place.feeds)
        behind = next((each for each in served[1:] if each.name == shadow), None)
        shadowing = None if behind is None else Shadowing(served[0], behind)
        _listen(served, place, tokens, log, metrics, shadowing)


@contextmanager
def readers_of(folders: Sequence[Folder], place: Place) -> Iterator[None]:
    """Have processes beside this one that answer from the snapshots in its folders, at a port of their own."""
    writer = f"{'http' if place.certificate is None else 'https'}://{place.host}:{place.port}"
    place = replace(place, port=place.readers_port or place.port + 1)
    shared = listening(place.host, place.port)

    def newest(folder: Folder) -> list[Path]:
        return [*reversed(folder.snapshots()), folder.base]

    def work() -> None:
        local = [Local(partial(newest, each), writer, SharedSnapshots(each.readers)) for each in folders]
        _follow([(each.name, source) for each, source in zip(folders, local, strict=True)], place, shared)

    for each in folders:
        shutil.rmtree(each.readers, ignore_errors=True)  # of a service that was killed
    supervisor = multiprocessing.get_context("fork").Process(target=Workers(place.workers, work).run)
    supervisor.start()
    shared.close()
    try:
        yield
    finally:
        supervisor.terminate()
        supervisor.join()
        for each in folders:
            shutil.rmtree(each.readers, ignore_errors=True)


def follow(address: str, names: Sequence[str], place: Place, token: str | None) -> None:
    """Answer for models of another service, as they are at its snapshots, until a signal asks for the end."""
    place.check()
    with TemporaryDirectory(prefix="ouzel-") as folder:
        files = {name: Path(folder, f"{name}.ouzel") for name in names}
        snapshots = [Snapshots(address, name, file, token) for name, file in files.items()]
        if not place.workers:
            _follow(list(zip(names, snapshots, strict=True)), place)
            return
        for each in snapshots:
            each.fetch()
        shared, unpacked = listening(place.host, place.port), SharedSnapshots(Path(folder, READERS))

        def work() -> None:
            local = [Local(partial(list, [file]), address, unpacked) for file in files.values()]
            _follow(list(zip(names, local, strict=True)), place, shared)

        Workers(place.workers, work, Refreshing(snapshots, place.follow_every)).run()


def _follow(sources: Sequence[tuple[str, Source]], place: Place, shared: socket | None = None) -> None:
    """Answer for models as they are at their snapshots."""
    log, metrics = logger(place.log), Metrics()
    followed = [
        Followed(name, source, place.limits, place.follow_every, log.warning, metrics) for name, source in sources
    ]
    _listen(followed, place, place.check(), log, metrics, shared=shared)


def _listen(
    served: Sequence[Served | Followed],
    place: Place,
    tokens: Tokens | None,
    log: FilteringBoundLogger,
    metrics: Metrics,
    shadowing: Shadowing | None = None,
    shared: socket | None = None,
) -> None:
    for each in served:
        each.warm()
        log.info("model", name=each.name, examples=each.owner.model.examples, log=each.owner.learnt)
    raise_open_files(place.limits.connections)
    gc.collect()
    gc.freeze()  # what is loaded by now stays: to look through it again and again would hold up answers
    gc.set_threshold(*COLLECT_OFTEN)
    service = Service({each.name: each for each in served}, place.limits, metrics, shadowing)
    server = Server(service, log, _configuration(application(service, tokens, log), place))
    try:
        server.run(None if shared is None else [shared])
    except SystemExit:  # uvicorn's way to say so
        raise OuzelError(f"{place.host}:{place.port}: cannot listen there; try another --port or --host") from None
    log.info("ended")


class Server(uvicorn.Server):
    """uvicorn's server, whose service knows at once that it is to end, so that streams of events end too."""

    def __init__(self, service: Service, log: FilteringBoundLogger, configuration: uvicorn.Config) -> None:
        super().__init__(configuration)
        self.service = service
        self.log = log

    async def startup(self, sockets: list[socket] | None = None) -> None:
        """Listen, and say so."""
        await super().startup(sockets)
        if self.started:
            self.log.info("listening", host=self.config.host, port=self.config.port)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """A signal that asks for the end, which is then the end of the command; a second one does not wait."""
        self.service.ending = True
        for served in self.service.models.values():
            served.ending = True
        self.force_exit = self.should_exit
        self.should_exit = True


def _configuration(app: ASGIApp, place: Place) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        place.host,
        place.port,
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        http=Connection,
        ws="none",
        limit_concurrency=place.limits.connections,
        timeout_keep_alive=int(place.limits.seconds),
        timeout_graceful_shutdown=GRACE,
        ssl_certfile=place.certificate,
        ssl_keyfile=place.key,
        lifespan="on",
    )
