"""Answering: predictions of one example or many."""

from __future__ import annotations

import asyncio

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from ouzel.service.gate import body_of
from ouzel.service.problems import json_response, refused
from ouzel.service.reading import Refused
from ouzel.service.routes.bodies import JSON, LINES, LINES_TOO, check_json, kind_of, objects_of, plain, wrong_kind
from ouzel.service.served import Served
from ouzel.service.submission import Result
from ouzel.streams.block import ROWS

FEW = 16  # examples that are predicted where they came in; more go to a thread


async def predict(request: Request, served: Served) -> Response:
    """One object is answered by one, an array by an array, lines by lines."""
    kind = kind_of(request)
    if kind not in (JSON, *LINES_TOO):
        raise wrong_kind(kind, JSON, LINES)
    body = await body_of(request, served.limits)
    if kind in LINES_TOO:
        results = await predicted(served, [line for line in body.split(b"\n") if line.strip()])
        return Response(b"".join(msgspec.json.encode(plain(result)) + b"\n" for result in results), media_type=LINES)
    objects = objects_of(body)
    if objects is not None:
        return json_response([plain(result) for result in await predicted(served, objects)])
    result = await served.asked_of.ask(body)
    if isinstance(result, Refused):
        raise refused(result)
    return json_response(result)


async def explain(request: Request, served: Served) -> Response:
    """One object: what each of its features adds to the margin of each class."""
    check_json(request)
    line = served.asked(await body_of(request, served.limits))
    if isinstance(line, Refused):
        raise refused(line)
    (answer,) = served.predict([line.text])
    if isinstance(answer, Refused):
        raise refused(answer)
    return json_response({**answer, "classes": await asyncio.to_thread(served.owner.explain, line.example)})


async def predicted(served: Served, texts: list[bytes]) -> list[Result]:
    """Predictions of lines, as many at a time as are one block."""
    if len(texts) <= FEW:
        return served.predict(texts)
    results = []
    for start in range(0, len(texts), ROWS):
        results += await asyncio.to_thread(served.predict, texts[start : start + ROWS])
    return results
