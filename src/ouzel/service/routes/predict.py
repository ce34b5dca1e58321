"""Endpoints that predict: one example or many, and explanations."""

from __future__ import annotations

from functools import partial
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from ouzel.service.batching import SMALL, WouldBlockError
from ouzel.service.endpoint import JSON, LINES, Endpoint
from ouzel.service.formats import JSON_LINES
from ouzel.service.gate import body_of
from ouzel.service.lines import Refused
from ouzel.service.problems import ProblemError, json_response, refused, response_to
from ouzel.service.routes.bodies import check_json, is_array, kind_of, objects_of, plain, wrong_kind
from ouzel.service.schemas import Answer, Explained, Features
from ouzel.service.served import Served
from ouzel.service.submission import Result
from ouzel.streams.block import ROWS

FEW = 16  # examples that are predicted in the loop


async def predict(request: Request, served: Served) -> Response:
    """One object is answered by one, an array by an array, lines by lines."""
    kind = kind_of(request)
    lines = kind in JSON_LINES.media_types
    if kind != JSON and not lines:
        raise wrong_kind(kind, JSON, LINES)
    body = await body_of(request, served.limits)
    if lines:
        return await served.answer(len(body), partial(_predict_lines, served, body))
    if is_array(body):
        return await served.answer(len(body), partial(_predict_array, served, body))
    if len(body) > SMALL:
        (result,) = await served.answer(len(body), partial(predict_all, served, [body]))
    else:
        result = await served.batcher.submit(body)
    return response_to(result)


async def explain(request: Request, served: Served) -> Response:
    """One object: what each of its features adds to the margin of each class."""
    check_json(request)
    body = await body_of(request, served.limits)
    return await served.background.run(len(body), partial(_explain, served, body))


def predict_all(served: Served, texts: list[bytes], now: bool) -> list[Result]:
    """Predict lines, a block at a time; with `now`, raise WouldBlockError if they are many."""
    check_count(served, len(texts))
    if now and len(texts) > FEW:
        raise WouldBlockError
    results: list[Result] = []
    for start in range(0, len(texts), ROWS):
        results += served.predict(texts[start : start + ROWS], now)
    return results


def check_count(served: Served, count: int) -> None:
    """Refuse too many examples in one request: answers can take many times the bytes of short examples."""
    most = served.limits.examples
    if count > most:
        raise ProblemError(413, f"found {count:,} examples; expected at most {most:,} in a request: send several")


def _predict_lines(served: Served, body: bytes, now: bool) -> Response:
    check_count(served, body.count(b"\n"))  # before they are split
    results = predict_all(served, [line for line in body.split(b"\n") if line.strip()], now)
    return Response(b"".join(msgspec.json.encode(plain(result)) + b"\n" for result in results), media_type=LINES)


def _predict_array(served: Served, body: bytes, now: bool) -> Response:
    return json_response([plain(result) for result in predict_all(served, objects_of(body), now)])


def _explain(served: Served, body: bytes) -> Response:
    line = served.parse(body)
    if isinstance(line, Refused):
        raise refused(line)
    (answer,) = served.predict([line.text])
    if isinstance(answer, Refused):
        raise refused(answer)
    return json_response({**answer, "classes": served.owner.explain(line.example)})


ENDPOINTS = (
    Endpoint(
        "POST",
        "/v1/predict",
        predict,
        "Predict examples",
        {200: {JSON: (Answer, list[Any]), LINES: None}},
        "predict",
        bodies={JSON: (Features, list[Features]), LINES: str},
    ),
    Endpoint(
        "POST",
        "/v1/explain",
        explain,
        "Explain a prediction",
        {200: {JSON: Explained}},
        "predict",
        bodies={JSON: Features},
    ),
)
