"""A service on the network: uvicorn around the application, from the first line of its log to the last snapshot."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from socket import socket
from tempfile import TemporaryDirectory
from typing import Any

import uvicorn

from ouzel.errors import OuzelError
from ouzel.files import locked
from ouzel.service.app import application
from ouzel.service.folder import Folder
from ouzel.service.followed import Followed, Snapshots
from ouzel.service.limits import ServiceLimits
from ouzel.service.metrics import Metrics
from ouzel.service.served import Served
from ouzel.service.service import Service
from ouzel.service.shadowing import Shadowing
from ouzel.service.stderr_log import logger
from ouzel.service.tokens import Tokens

GRACE = 10  # seconds that requests under way have to end


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

    def check(self) -> Tokens | None:
        """The tokens; OuzelError if this place is not one to serve from."""
        if (self.certificate is None) != (self.key is None):
            raise OuzelError("TLS needs both --certificate and --key")
        for path in (self.certificate, self.key):
            if path is not None and not Path(path).is_file():
                raise OuzelError(f"{path}: there is no such file")
        if self.tokens is None and not _is_loopback(self.host):
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
        for folder in folders:
            held.enter_context(locked(folder.base))
        served = [
            Served(folder, place.limits, place.snapshot_every, log.warning, metrics, place.keep_log)
            for folder in folders
        ]
        behind = next((each for each in served[1:] if each.name == shadow), None)
        shadowing = None if behind is None else Shadowing(served[0], behind)
        _listen(served, place, tokens, log, metrics, shadowing)


def follow(address: str, names: Sequence[str], place: Place, every: float, token: str | None) -> None:
    """Answer for models of another service, as they are at its snapshots, until a signal asks for the end."""
    tokens = place.check()
    log = logger(place.log)
    metrics = Metrics()
    with TemporaryDirectory(prefix="ouzel-") as folder:
        followed = []
        for name in names:
            snapshots = Snapshots(address, name, Path(folder, f"{name}.ouzel"), token)
            followed.append(Followed(name, snapshots, place.limits, every, log.warning, metrics))
        _listen(followed, place, tokens, log, metrics)


def _listen(
    served: Sequence[Served | Followed],
    place: Place,
    tokens: Tokens | None,
    log: Any,
    metrics: Metrics,
    shadowing: Shadowing | None = None,
) -> None:
    for each in served:
        each.warm()
        log.info("model", name=each.name, examples=each.owner.model.examples, log=each.owner.learnt)
    service = Service({each.name: each for each in served}, place.limits, metrics, shadowing)
    server = Server(service, log, _configuration(application(service, tokens, log), place))
    try:
        server.run()
    except SystemExit:  # uvicorn's way to say so
        raise OuzelError(f"{place.host}:{place.port}: cannot listen there; try another --port or --host") from None
    log.info("ended")


class Server(uvicorn.Server):
    """uvicorn's server, whose service knows at once that it is to end, so that streams of events end too."""

    def __init__(self, service: Service, log: Any, configuration: uvicorn.Config) -> None:
        super().__init__(configuration)
        self.service = service
        self.log = log

    async def startup(self, sockets: list[socket] | None = None) -> None:
        """Listen, and say so."""
        await super().startup(sockets)
        if self.started:
            self.log.info("listening", host=self.config.host, port=self.config.port)

    def handle_exit(self, sig: int, frame: Any) -> None:
        """A signal that asks for the end, which is then the end of the command; a second one does not wait."""
        self.service.ending = True
        for served in self.service.models.values():
            served.ending = True
        self.force_exit = self.should_exit
        self.should_exit = True


def _configuration(app: Any, place: Place) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        place.host,
        place.port,
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        limit_concurrency=place.limits.connections,
        timeout_keep_alive=int(place.limits.seconds),
        timeout_graceful_shutdown=GRACE,
        ssl_certfile=place.certificate,
        ssl_keyfile=place.key,
        lifespan="on",
    )


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
