"""Server of the application: it configures uvicorn and its own log on standard error, and starts models and readers."""

from __future__ import annotations

import gc
import multiprocessing
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from socket import socket
from tempfile import TemporaryDirectory
from types import FrameType
from typing import TYPE_CHECKING

import structlog
import uvicorn
from starlette.types import ASGIApp
from structlog.typing import EventDict, FilteringBoundLogger, Processor

from ouzel.errors import OuzelError
from ouzel.files import locked
from ouzel.kernels.announce import shown_by
from ouzel.service.app import application
from ouzel.service.client import with_scheme
from ouzel.service.connections import Connection, raise_open_files
from ouzel.service.feed import Plan
from ouzel.service.folder import READERS, Folder
from ouzel.service.gate import is_loopback
from ouzel.service.limits import ServiceLimits
from ouzel.service.metrics import Metrics
from ouzel.service.predictor import Followed, Snapshots, Source
from ouzel.service.served import Served
from ouzel.service.service import Service
from ouzel.service.shadowing import Shadowing, adapt_shadow
from ouzel.service.tokens import Tokens
from ouzel.service.workers import Local, Refreshing, SharedSnapshots, Workers, listening_socket
from ouzel.streams.logs.opening import open_log

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger

GRACE = 10  # seconds for running requests to end
COLLECT_OFTEN = (700, 10, 10)  # the usual thresholds of Python: each collection is short, and delays no answer


@dataclass(frozen=True)
class Place:
    """Configuration of a server: address, tokens, limits, log, snapshots, feeds and readers."""

    host: str = "127.0.0.1"
    port: int = 8000
    tokens: str | None = None  # a file
    certificate: str | None = None
    key: str | None = None
    log: str = "text"
    limits: ServiceLimits = field(default_factory=ServiceLimits)
    snapshot_every: float = 60.0
    keep_log: int | None = None
    feeds: Sequence[Plan] = ()  # of the first model
    workers: int = 0  # reader processes that answer from snapshots
    readers_port: int | None = None  # of the readers of a service that learns; by default the next port
    follow_every: float = 5.0  # seconds between two polls for a snapshot

    def check(self) -> Tokens | None:
        """Return the tokens; raise OuzelError if the configuration is not valid."""
        if self.workers and not hasattr(os, "fork"):
            raise OuzelError("--workers needs processes that can be forked, which this system does not have")
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

    def check_address(self) -> None:
        """Raise OuzelError if nothing can listen at the address."""
        with listening_socket(self.host, self.port):
            pass

    def sound_parts(self) -> Iterator[str]:
        """Check address, tokens and feeds without serving: yield a line on each, or raise OuzelError."""
        tokens = self.check()
        yield f"{self.host}:{self.port}, {'without tokens, this machine alone' if tokens is None else 'with tokens'}"
        for plan in self.feeds:
            log = open_log(plan.url, plan.reading)
            log.identity()
            log.close()
            yield f"{log.name}: answers"


def serve(folders: Sequence[Folder], place: Place, shadow: str | None = None, on_alarm: bool = False) -> None:
    """Serve models until a signal ends the service; all acknowledged examples are then learnt and in a snapshot.

    The model `shadow` learns what the first one learns, unless it is the first by now: all of it, or what comes from
    the next alarm on.
    """
    tokens = place.check()
    log = logger(place.log)
    metrics = Metrics()
    with ExitStack() as stack:
        stack.enter_context(shown_by(log.info))
        if place.workers:  # fork them before this process has files, locks or threads
            stack.enter_context(readers_of(folders, place))
        for folder in folders:
            stack.enter_context(locked(folder.base))
        for folder in folders[1:]:
            said = adapt_shadow(folder, folders[0]) if folder.name == shadow else None
            if said is not None:
                log.info(said)
        served = [
            Served(folder, place.limits, place.snapshot_every, log.warning, metrics, place.keep_log)
            for folder in folders
        ]
        served[0].set_feeds(place.feeds)
        follower = next((each for each in served[1:] if each.name == shadow), None)
        shadowing = None if follower is None else Shadowing(served[0], follower, on_alarm)
        _listen(served, place, tokens, log, metrics, shadowing)


@contextmanager
def readers_of(folders: Sequence[Folder], place: Place) -> Iterator[None]:
    """Run reader processes that answer from the snapshots in the folders, on a port of their own."""
    writer = f"{'http' if place.certificate is None else 'https'}://{place.host}:{place.port}"
    place = replace(place, port=place.readers_port or place.port + 1)
    shared = listening_socket(place.host, place.port)

    def newest(folder: Folder) -> list[Path]:
        return [*reversed(folder.snapshots()), folder.base]

    def work() -> None:
        local = [Local(partial(newest, each), writer, SharedSnapshots(each.readers)) for each in folders]
        _follow([(each.name, source) for each, source in zip(folders, local, strict=True)], place, shared)

    for each in folders:
        shutil.rmtree(each.readers, ignore_errors=True)  # left by a service that was killed
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
    """Serve copies of the models of another service, from its snapshots, until a signal ends it."""
    place.check()
    address = with_scheme(address)
    with TemporaryDirectory(prefix="ouzel-") as folder:
        files = {name: Path(folder, f"{name}.ouzel") for name in names}
        snapshots = [Snapshots(address, name, file, token) for name, file in files.items()]
        if not place.workers:
            _follow(list(zip(names, snapshots, strict=True)), place)
            return
        for each in snapshots:
            each.fetch()
        shared, unpacked = listening_socket(place.host, place.port), SharedSnapshots(Path(folder, READERS))

        def work() -> None:
            local = [Local(partial(list, [file]), address, unpacked) for file in files.values()]
            _follow(list(zip(names, local, strict=True)), place, shared)

        Workers(place.workers, work, Refreshing(snapshots, place.follow_every)).run()


def _follow(sources: Sequence[tuple[str, Source]], place: Place, shared: socket | None = None) -> None:
    """Serve models from their snapshots."""
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
        each.warm_up()
        log.info("model", name=each.name, examples=each.owner.model.examples, log=each.owner.learnt)
    raise_open_files(place.limits.connections)
    gc.collect()
    gc.freeze()  # loaded objects stay: collections need not look through them again and delay answers
    gc.set_threshold(*COLLECT_OFTEN)
    service = Service({each.name: each for each in served}, place.limits, metrics, shadowing)
    server = Server(service, log, _configuration(application(service, tokens, log), place))
    try:
        server.run(None if shared is None else [shared])
    except SystemExit:  # which uvicorn raises if it cannot listen
        where = f"{place.host}:{place.port}"
        raise OuzelError(f"{where}: cannot listen there (is it in use?); try another --port or --host") from None
    log.info("ended")


class Server(uvicorn.Server):
    """The server of uvicorn; a signal also ends the service at once, so that streams of events end too."""

    def __init__(self, service: Service, log: FilteringBoundLogger, configuration: uvicorn.Config) -> None:
        super().__init__(configuration)
        self.service = service
        self.log = log

    async def startup(self, sockets: list[socket] | None = None) -> None:
        """Listen, and log the address."""
        await super().startup(sockets)
        if self.started:
            self.log.info("listening", host=self.config.host, port=self.config.port)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End at a signal, after the running requests; a second signal ends at once."""
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


LOG_FORMATS = ("text", "json", "none")


def logger(kind: str) -> FilteringBoundLogger:
    """Return the logger of a service: a line for each event, on standard error, without any feature in it."""
    if kind not in LOG_FORMATS:
        raise OuzelError(f"--log takes {', '.join(LOG_FORMATS)}; got {kind!r}")
    as_line: Processor = structlog.processors.JSONRenderer()
    if kind == "text":
        as_line = structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), pad_event_to=12)
    log: FilteringBoundLogger = structlog.wrap_logger(
        structlog.PrintLogger(sys.stderr),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info if kind == "json" else _unchanged,
            as_line,
        ],
        wrapper_class=structlog.make_filtering_bound_logger("critical" if kind == "none" else "debug"),
    ).bind()  # now, and not for every request
    return log


def _unchanged(_: object, __: str, event: EventDict) -> EventDict:
    return event
