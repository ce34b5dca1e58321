"""Endpoints that learn: one example, a stream of them, or the label of a predicted example."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from ouzel.service.formats import READ
from ouzel.service.gate import body_of
from ouzel.service.problems import ProblemError, json_response, refused
from ouzel.service.reading import MOST_KEY, Refused
from ouzel.service.routes.bodies import (
    JSON,
    LINES,
    check_json,
    is_array,
    json_of,
    kind_of,
    objects_of,
    plain,
    wrong_kind,
)
from ouzel.service.routes.streaming import AT_ONCE, LearnedLines, numbered
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
    if isinstance(result, Refused):
        raise refused(result)
    return json_response(result)


async def label(request: Request, served: Served) -> Response:
    """The label of an example that was predicted with an id: it is learnt now."""
    check_json(request)
    body = await body_of(request, served.limits)
    content = await served.answer(len(body), lambda now: json_of(body))
    if not isinstance(content, dict) or set(content) != {"id", "label"}:
        raise ProblemError(422, 'expected {"id": …, "label": …}: the id it was predicted with, and its label')
    id = content["id"]
    if isinstance(id, bool) or not isinstance(id, (str, int)) or not 0 < len(str(id)) <= MOST_KEY:
        raise ProblemError(422, f"expected an id of 1 to {MOST_KEY} characters", field="id")
    result = await served.label(str(id), content["label"])
    if isinstance(result, Refused):
        raise refused(result)
    return json_response(result)


def _key(request: Request) -> str | None:
    """Return the key of a request, by which it is learnt once, however often it is sent."""
    key = request.headers.get("idempotency-key")
    if key is not None and not 0 < len(key) <= MOST_KEY:
        raise ProblemError(422, f"Idempotency-Key: expected 1 to {MOST_KEY} characters")
    return key
