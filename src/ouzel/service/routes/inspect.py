"""Endpoints to inspect a model: figures, snapshots, log, refused lines and events; and those for operators."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta
from starlette.requests import Request
from starlette.responses import FileResponse, Response, StreamingResponse

from ouzel.errors import OuzelError
from ouzel.schemas import Model, Top
from ouzel.service.endpoint import JSON, LINES, OF_MODEL, Endpoint, Parameter
from ouzel.service.formats import json_lines_in
from ouzel.service.predictor import FollowingError
from ouzel.service.problems import ProblemError, json_response
from ouzel.service.schemas import Listed, Promoted, Quarantined, Snapshot, Status
from ouzel.service.served import Served
from ouzel.service.service import Service
from ouzel.streams.formats.records import framed

MOST_TOP = 10_000
MODEL_FILE = "application/vnd.ouzel.model"
RECORDS = "application/vnd.ouzel.records"
LOG_FORMATS = "records", "jsonl"


async def model(request: Request, served: Served) -> Response:
    """Settings, counts and figures."""
    return json_response(await asyncio.to_thread(served.described))


async def top(request: Request, served: Served) -> Response:
    """The most important features of each class, by name."""
    n = request.query_params.get("n", "20")
    if not (n.isascii() and n.isdigit() and len(n) < 6 and 0 < int(n) <= MOST_TOP):
        raise ProblemError(422, f"n: expected a number from 1 to {MOST_TOP}", field="n")
    return json_response(await asyncio.to_thread(served.owner.top, int(n)))


async def snapshot(request: Request, served: Served) -> Response:
    """The last snapshot, unless the reader has it already."""
    path = served.last_snapshot() or await served.snapshot()
    return await asyncio.to_thread(_file, request, path)


async def take_snapshot(request: Request, served: Served) -> Response:
    """A snapshot of the model as it is now."""
    try:
        path = await served.snapshot()
    except FollowingError:
        raise
    except OuzelError as error:  # the disk
        raise ProblemError(503, str(error), {"Retry-After": "5"}) from None
    return json_response({"snapshot": path.name, "examples": served.owner.learnt})


async def export(request: Request, served: Served) -> Response:
    """The log behind the example `after`: a file that `ouzel train` reads, or lines of JSON to look at."""
    if not isinstance(served, Served):
        raise ProblemError(409, "this is a reader; the log is with the service that learns")
    after, format = request.query_params.get("after", "0"), request.query_params.get("format", "records")
    if not (after.isascii() and after.isdigit() and len(after) < 19):
        raise ProblemError(422, "after: expected the number of an example, 0 or more", field="after")
    if format not in LOG_FORMATS:
        raise ProblemError(422, f"format: expected {' or '.join(LOG_FORMATS)}", field="format")
    behind = max(int(after), await asyncio.to_thread(served.log.first) - 1)
    records = (row.record for row in served.log.rows(behind))
    if format == "jsonl":
        return StreamingResponse(_lines(served, records), media_type=LINES)
    disposition = f'attachment; filename="{served.owner.file}"'
    return StreamingResponse(framed(records), media_type=RECORDS, headers={"Content-Disposition": disposition})


async def quarantine(request: Request, served: Served) -> Response:
    """The lines refused last, the newest first."""
    return json_response(list(reversed(served.quarantine)))


def _lines(served: Served, records: Iterator[bytes]) -> Iterator[bytes]:
    reading = served.owner.reading
    for record in records:
        yield b"".join(line + b"\n" for line in json_lines_in(record, reading.label, reading.options.weight))


def _file(request: Request, path: Path) -> Response:
    """Return a snapshot file as a response. Its tag covers its name, its size and its start, which holds a digest."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            head = file.read(1 << 16)
    except OSError:
        raise ProblemError(503, "the snapshot has just been replaced; ask again", {"Retry-After": "1"}) from None
    tag = f'"{hashlib.sha256(f"{path.name}:{size}:".encode() + head).hexdigest()[:32]}"'
    if tag in (part.strip() for part in request.headers.get("if-none-match", "").split(",")):
        return Response(None, 304, {"ETag": tag})
    return FileResponse(path, headers={"ETag": tag}, media_type=MODEL_FILE, filename=f"{path.parent.name}.ouzel")


async def events(request: Request, served: Served) -> Response:
    """Events until the client goes, or the service ends."""
    metrics, most = served.metrics, served.limits.most_streams
    if metrics.streams >= most:
        detail = f"{most:,} streams of events are open; close one, or start the service with a larger --limit streams"
        raise ProblemError(503, detail, {"Retry-After": "5", "Connection": "close"})
    headers = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
    return StreamingResponse(_counted(served), media_type="text/event-stream", headers=headers)


async def _counted(served: Served) -> AsyncIterator[bytes]:
    """Yield the events of a model as one of the streams that are open."""
    served.metrics.streams += 1
    try:
        async with aclosing(served.events.stream()) as stream:
            async for event in stream:
                yield event
    finally:
        served.metrics.streams -= 1


AFTER = Parameter("after", Annotated[int, Meta(ge=0, le=10**17)], "Only the examples behind this one.")
FORMAT = Parameter("format", Literal["records", "jsonl"], "A file for `ouzel train`, or lines of JSON to look at.")
N = Parameter("n", Annotated[int, Meta(ge=1, le=MOST_TOP)], "Features of each class.")
MANY = (422,)
INSPECT = (
    Endpoint("GET", "/v1/model", model, "Settings and figures", {200: {JSON: Model}}, "predict"),
    Endpoint(
        "GET",
        "/v1/top",
        top,
        "Most important features",
        {200: {JSON: list[Top]}},
        "predict",
        parameters=(N,),
        problems=MANY,
    ),
    Endpoint("GET", "/v1/snapshot", snapshot, "The last snapshot", {200: {MODEL_FILE: None}, 304: {}}, "predict"),
    Endpoint("POST", "/v1/snapshot", take_snapshot, "Take a snapshot", {200: {JSON: Snapshot}}, "admin"),
    Endpoint(
        "GET",
        "/v1/log",
        export,
        "The log",
        {200: {RECORDS: None, LINES: None}},
        "admin",
        parameters=(AFTER, FORMAT),
        problems=MANY,
    ),
    Endpoint("GET", "/v1/quarantine", quarantine, "What was refused", {200: {JSON: list[Quarantined]}}, "admin"),
    Endpoint("GET", "/v1/events", events, "Events as they happen", {200: {"text/event-stream": None}}, "predict"),
)


async def health(request: Request, service: Service) -> Response:
    """Whether the process answers."""
    return json_response({"status": "ok"})


async def ready(request: Request, service: Service) -> Response:
    """Whether it learns as well: 503 while it does not, with the reason."""
    failures = {name: served.failure for name, served in service.models.items() if served.failure is not None}
    if service.ending:
        return json_response({"status": "ending"}, 503)
    return json_response(
        {"status": "failing", "failures": failures} if failures else {"status": "ok"}, 503 if failures else 200
    )


async def metrics(request: Request, service: Service) -> Response:
    """Counters in Prometheus' text format."""
    service.measure()
    return Response(service.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


async def models(request: Request, service: Service) -> Response:
    """The models there are, and their figures; one of them is meant by paths without a name."""
    return json_response(service.listed())


async def promote(request: Request, service: Service) -> Response:
    """Have a shadow, once it has caught up, take the place of the model that it follows; or 503 within a minute."""
    await service.promote(request.path_params["model"])
    return json_response({"first": service.first_name})


ALIVE, READY = {200: {JSON: Status}}, {200: {JSON: Status}, 503: {JSON: Status}}
HEALTH = (
    Endpoint("GET", "/v1/models", models, "The models", {200: {JSON: list[Listed]}}, "predict", of_model=False),
    Endpoint(
        "POST",
        f"{OF_MODEL}/promote",
        promote,
        "Promote a shadow",
        {200: {JSON: Promoted}},
        "admin",
        of_model=False,
        problems=(422,),
    ),
    Endpoint("GET", "/health", health, "Whether it answers", ALIVE, of_model=False),
    Endpoint("GET", "/v2/health/live", health, "The same", ALIVE, of_model=False),
    Endpoint("GET", "/ready", ready, "Whether it learns", READY, of_model=False),
    Endpoint("GET", "/v2/health/ready", ready, "The same", READY, of_model=False),
    Endpoint("GET", "/metrics", metrics, "Counters", {200: {"text/plain": None}}, "predict", of_model=False),
)
