"""What comes in the body of a request: one object, several, or lines without end."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator
from typing import Any

import msgspec
from starlette.requests import Request

from ouzel.service.formats import JSON_LINES
from ouzel.service.gate import chunks_of_body
from ouzel.service.limits import ServiceLimits
from ouzel.service.problems import ProblemError
from ouzel.service.reading import Refused
from ouzel.service.submission import Result

JSON = "application/json"
LINES = JSON_LINES.media_types[0]
AT_ONCE = 1 << 16  # bytes of a body that are asked for


def kind_of(request: Request) -> str:
    """The media type of the body, without parameters."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def wrong_kind(kind: str, *known: str) -> ProblemError:
    """The problem of a media type that is not read here."""
    return ProblemError(415, f"the body's Content-Type is {kind[:100]!r}; expected {' or '.join(known)}")


def check_json(request: Request) -> None:
    """Refuse a body that is not called JSON."""
    kind = kind_of(request)
    if kind != JSON:
        raise wrong_kind(kind, JSON)


def is_array(body: bytes) -> bool:
    """Whether a body begins as a JSON array does."""
    return body[:1] == b"[" or body.lstrip(b" \t\r\n")[:1] == b"["


def objects_of(body: bytes) -> list[bytes]:
    """The parts of a JSON array as they are written."""
    try:
        return [bytes(part) for part in msgspec.json.decode(body, type=list[msgspec.Raw])]
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise ProblemError(422, f"the body is not a JSON array ({error})") from None


def json_of(body: bytes) -> Any:
    """The JSON value that a body is."""
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise ProblemError(422, f"the body is not JSON ({error})") from None


def plain(result: Result) -> dict[str, Any]:
    """A result among others, as a JSON object."""
    if isinstance(result, Refused):
        return {name: value for name, value in result._asdict().items() if value is not None}
    return result


async def texts_of(request: Request, limits: ServiceLimits) -> AsyncIterator[bytes]:
    """The whole lines of a body as they come, each with its newline; blank ones are left in, so that they count.

    A line beyond the limit is given out as its beginning, which is longer than may be, and the rest of it is passed
    over.
    """
    rest = b""
    passing = False
    async for chunk in chunks_of_body(request, limits):
        text = rest + chunk
        if passing:
            _, passed, text = text.partition(b"\n")
            passing = not passed
        end = text.rfind(b"\n") + 1
        text, rest = text[:end], text[end:]
        if len(rest) > limits.line:
            text += rest[: limits.line + 1] + b"\n"
            rest, passing = b"", True
        if text:
            yield text
    if rest and not passing:
        yield rest + b"\n"


async def lines_of(request: Request, limits: ServiceLimits, most: int) -> AsyncIterator[list[bytes]]:
    """The same without the newlines, at most so many at a time."""
    async for text in texts_of(request, limits):
        lines = text.split(b"\n")[:-1]
        for start in range(0, len(lines), most):
            yield lines[start : start + most]


class BodyFile(io.RawIOBase):
    """A body as it comes, as a file for a thread that is not that of the loop."""

    def __init__(self, chunks: AsyncIterator[bytes], loop: asyncio.AbstractEventLoop) -> None:
        self._chunks, self._loop = chunks, loop
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer with what has come, once anything has; 0 at the end."""
        if not self._rest:
            self._rest = asyncio.run_coroutine_threadsafe(self._next(), self._loop).result()
        count = min(len(buffer), len(self._rest))
        buffer[:count], self._rest = self._rest[:count], self._rest[count:]
        return count

    async def _next(self) -> bytes:
        return await anext(self._chunks, b"")


def file_of(request: Request, limits: ServiceLimits) -> io.BufferedReader:
    """The body of a request as a file to be read by another thread; from within the loop."""
    return io.BufferedReader(BodyFile(chunks_of_body(request, limits), asyncio.get_running_loop()), AT_ONCE)
