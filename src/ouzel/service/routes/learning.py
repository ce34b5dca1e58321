"""Learning: one example, a stream of them, and the label of one that was predicted before."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from typing import Any, NamedTuple

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from ouzel.errors import OuzelError
from ouzel.service.gate import body_of
from ouzel.service.problems import ProblemError, json_response, refused
from ouzel.service.reading import MOST_KEY, Refused
from ouzel.service.routes.bodies import JSON, LINES, LINES_TOO, json_of, kind_of, lines_of, objects_of, wrong_kind
from ouzel.service.served import Served
from ouzel.service.writer import Given, Result

AT_ONCE = 512  # lines of a stream that are submitted together
AHEAD = 4  # submissions of one stream under way
SHOWN = 20  # refused lines that a summary shows


async def learn(request: Request, served: Served) -> Response:
    """One object, an array of them, or lines: each is answered with what was predicted before it was learnt."""
    kind, key = kind_of(request), _key(request)
    if kind in LINES_TOO:
        return LearnedLines(request, served, key, request.query_params.get("answers", "all") != "summary")
    if kind != JSON:
        raise wrong_kind(kind, JSON, LINES)
    body = await body_of(request, served.limits)
    objects = objects_of(body)
    if objects is not None:
        if len(objects) > AT_ONCE:
            raise ProblemError(413, f"expected at most {AT_ONCE} examples in an array; send more as lines, {LINES}")
        given = [Given(text, _numbered(key, number)) for number, text in enumerate(objects, 1)]
        return json_response([_plain(result) for result in await served.learn(given)] if given else [])
    (result,) = await served.learn([Given(body, key)])
    if isinstance(result, Refused):
        raise refused(result)
    return json_response(result)


async def label(request: Request, served: Served) -> Response:
    """The label of an example that was predicted with an id: it is learnt now."""
    asked = json_of(await body_of(request, served.limits))
    if not isinstance(asked, dict) or set(asked) != {"id", "label"}:
        raise ProblemError(422, 'expected {"id": …, "label": …}: the id it was predicted with, and its label')
    id = asked["id"]
    if isinstance(id, bool) or not isinstance(id, (str, int)) or not 0 < len(str(id)) <= MOST_KEY:
        raise ProblemError(422, f"expected an id of 1 to {MOST_KEY} characters", field="id")
    result = await served.label(str(id), asked["label"])
    if isinstance(result, Refused):
        raise refused(result)
    return json_response(result)


class Batch(NamedTuple):
    """Lines of a stream under way: their numbers, and what will be said of them."""

    numbers: list[int]
    results: asyncio.Task[list[Result]]


class LearnedLines(Response):
    """The answer to a stream: a line for each of its lines while they come, or a summary alone, which ends both."""

    def __init__(self, request: Request, served: Served, key: str | None, telling: bool) -> None:
        super().__init__(None, 200, media_type=LINES if telling else JSON)
        del self.headers["content-length"]
        self.request, self.served, self.key, self.telling = request, served, key, telling
        self.counts: Counter[str] = Counter()
        self.refusals: list[dict[str, Any]] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False
        async for text in self._answers():
            if not begun:
                await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
                begun = True
            await send({"type": "http.response.body", "body": text, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _answers(self) -> Any:
        """The lines of the answer, as they are known; the summary last."""
        under_way: deque[Batch] = deque()
        number = 0
        stopped: str | None = None
        try:
            async for lines in lines_of(self.request, self.served.limits, AT_ONCE):
                numbers = [number + k for k, line in enumerate(lines, 1) if line.strip()]
                given = [Given(lines[k - number - 1], _numbered(self.key, k)) for k in numbers]
                number += len(lines)
                if given:
                    under_way.append(Batch(numbers, asyncio.create_task(self.served.learn(given, patient=True))))
                while under_way and (len(under_way) > AHEAD or under_way[0].results.done()):
                    yield self._told(under_way[0].numbers, await under_way[0].results)
                    under_way.popleft()
            while under_way:
                yield self._told(under_way[0].numbers, await under_way[0].results)
                under_way.popleft()
        except (OuzelError, ProblemError) as error:
            stopped = error.detail if isinstance(error, ProblemError) else str(error)
        finally:
            for batch in under_way:
                batch.results.add_done_callback(lambda task: task.cancelled() or task.exception())
        counts = {name: self.counts[name] for name in ("learnt", "repeated", "refused")}
        summary = {**counts, "lines": number, "refusals": self.refusals, "stopped": stopped}
        yield msgspec.json.encode({"summary": summary} if self.telling else summary) + b"\n"

    def _told(self, numbers: list[int], results: list[Result]) -> bytes:
        """What is said of some lines."""
        said = []
        for number, result in zip(numbers, results, strict=True):
            if isinstance(result, Refused):
                kind = "refused"
                if len(self.refusals) < SHOWN:
                    self.refusals.append({"line": number, **_plain(result)})
            else:
                kind = "repeated" if "repeated" in result else "learnt"
            self.counts[kind] += 1
            if self.telling:
                said.append(msgspec.json.encode({"line": number, **_plain(result)}))
        return b"\n".join([*said, b""])


def _plain(result: Result) -> dict[str, Any]:
    """A result among others."""
    if isinstance(result, Refused):
        return {name: value for name, value in result._asdict().items() if value is not None}
    return result


def _key(request: Request) -> str | None:
    """The key of a request, by which it is learnt once however often it comes."""
    key = request.headers.get("idempotency-key")
    if key is not None and not 0 < len(key) <= MOST_KEY:
        raise ProblemError(422, f"Idempotency-Key: expected 1 to {MOST_KEY} characters")
    return key


def _numbered(key: str | None, number: int) -> str | None:
    """The key of one line of a request."""
    return None if key is None else f"{key}:{number}"
