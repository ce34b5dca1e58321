"""Endpoints that learn: one example, a stream of them, or the label of a predicted example."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from ouzel.service.endpoint import JSON, LINES, Endpoint, Parameter
from ouzel.service.formats import READ
from ouzel.service.gate import body_of
from ouzel.service.problems import ProblemError, json_response, response_to
from ouzel.service.reading import MOST_KEY
from ouzel.service.routes.bodies import check_json, decoded, is_array, kind_of, objects_of, plain, wrong_kind
from ouzel.service.routes.streaming import AT_ONCE, LearnedLines, numbered
from ouzel.service.schemas import Bytes, Example, Labelled, Learnt, Summary
from ouzel.service.served import Served
from ouzel.service.submission import KeyOf, Submitted
from ouzel.streams.formats.catalogue import by_media_type


async def learn(request: Request, served: Served) -> Response:
    """One object, an array of them, or lines: each is answered with what was predicted before it was learnt."""
    kind, key = kind_of(request), _key(request)
    format = by_media_type(kind)
    if format is not None:
        return LearnedLines(request, served, key, format)
    if kind != JSON:
        raise wrong_kind(kind, JSON, *(format.media_types[0] for format in READ))
    body = await body_of(request, served.limits)
    if is_array(body):
        objects = await served.answer(len(body), lambda now: objects_of(body))
        if len(objects) > AT_ONCE:
            raise ProblemError(413, f"expected at most {AT_ONCE} examples in an array; send more as lines, {LINES}")
        given = [Submitted(text, numbered(key, number)) for number, text in enumerate(objects, 1)]
        return json_response([plain(result) for result in await served.learn(given)] if given else [])
    (result,) = await served.learn([Submitted(body, key, key_of=KeyOf.EXAMPLE)])
    return response_to(result)


async def label(request: Request, served: Served) -> Response:
    """The label of an example that was predicted with an id: it is learnt now."""
    check_json(request)
    body = await body_of(request, served.limits)
    expected = '{"id": …, "label": …}: the id it was predicted with, of at most 255 characters, and its label'
    content = await served.answer(len(body), lambda now: decoded(body, Labelled, expected))
    if len(str(content.id)) > MOST_KEY:
        raise ProblemError(422, f"expected {expected}", field="id")
    return response_to(await served.label(str(content.id), content.label))


def _key(request: Request) -> str | None:
    """Return the key of a request, by which it is learnt once, however often it is sent."""
    key = request.headers.get("idempotency-key")
    if key is not None and not 0 < len(key) <= MOST_KEY:
        raise ProblemError(422, f"Idempotency-Key: expected 1 to {MOST_KEY} characters")
    return key


TEXT_OR_BYTES = {format.media_types[0]: Bytes if format.is_columnar else str for format in READ}
KEY = Parameter(
    "Idempotency-Key",
    Annotated[str, Meta(pattern="^[!-~]{1,200}$")],
    "With a key a request is learnt once, however often it is sent. A single example has no other _id.",
    "header",
)
ANSWERS = Parameter("answers", Literal["all", "summary"], "Of a stream: an answer a line, or counts at the end.")
ENDPOINTS = (
    Endpoint(
        "POST",
        "/v1/learn",
        learn,
        "Learn examples",
        {200: {JSON: (Learnt, list[Any], Summary), LINES: None}},
        "learn",
        bodies={JSON: (Example, list[Example]), **TEXT_OR_BYTES},
        parameters=(KEY, ANSWERS),
    ),
    Endpoint(
        "POST",
        "/v1/label",
        label,
        "Label an example that was predicted",
        {200: {JSON: Learnt}},
        "learn",
        bodies={JSON: Labelled},
        problems=(404,),
    ),
)
