"""Bodies of requests: one object, an array of them, or a stream of lines."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator
from typing import Any, TypeVar

import msgspec
from starlette.requests import Request

from ouzel.service.endpoint import JSON
from ouzel.service.gate import chunks_of_body
from ouzel.service.limits import Refused, ServiceLimits
from ouzel.service.problems import ProblemError
from ouzel.service.submission import Result
from ouzel.streams.formats.json_python import items_of, value_of

Decoded = TypeVar("Decoded")
PLAIN = ("", "identity")  # encodings of bodies
AT_ONCE = 1 << 16  # bytes of a body that are read together


def kind_of(request: Request) -> str:
    """Return the media type of the body, without parameters; refuse a body that is packed."""
    encoding = request.headers.get("content-encoding", "").strip().lower()
    if encoding not in PLAIN:
        raise ProblemError(
            415, f"the body's Content-Encoding is {encoding[:100]!r}; send it unpacked, without that header"
        )
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def wrong_kind(kind: str, *known: str) -> ProblemError:
    """Return the problem of a media type that the endpoint does not read."""
    return ProblemError(415, f"the body's Content-Type is {kind[:100]!r}; expected {' or '.join(known)}")


def check_json(request: Request) -> None:
    """Refuse a body whose media type is not JSON."""
    kind = kind_of(request)
    if kind != JSON:
        raise wrong_kind(kind, JSON)


def is_array(body: bytes) -> bool:
    """Return whether a body starts like a JSON array."""
    return body[:1] == b"[" or body.lstrip(b" \t\r\n")[:1] == b"["


def objects_of(body: bytes) -> list[bytes]:
    """Return the items of a JSON array as they are written."""
    try:
        return items_of(body)
    except (ValueError, RecursionError) as error:
        raise ProblemError(422, f"the body is not a JSON array ({error})") from None


def decoded(body: bytes, kind: type[Decoded], expected: str) -> Decoded:
    """Return a body as a value of a type; raise the problem of one that is not `expected`."""
    try:
        try:
            return msgspec.json.decode(body, type=kind)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return msgspec.convert(value_of(body), kind)  # it may have NaN
    except msgspec.ValidationError as error:
        raise ProblemError(422, f"expected {expected} ({error})") from None
    except (ValueError, RecursionError) as error:
        raise ProblemError(422, f"the body is not JSON ({error})") from None


def plain(result: Result) -> dict[str, Any]:
    """Return a result as a JSON object."""
    if isinstance(result, Refused):
        return {name: value for name, value in result._asdict().items() if value is not None}
    return result


async def texts_of(request: Request, limits: ServiceLimits) -> AsyncIterator[bytes]:
    """Yield the whole lines of a body as they arrive, each with its newline, blank ones too, so that they count.

    Of a line beyond the limit, yield the start, which is longer than allowed, and skip the rest.
    """
    rest = b""
    skipping = False
    async for chunk in chunks_of_body(request, limits):
        text = rest + chunk
        if skipping:
            _, ended, text = text.partition(b"\n")
            skipping = not ended
        end = text.rfind(b"\n") + 1
        text, rest = text[:end], text[end:]
        if len(rest) > limits.line:
            text += rest[: limits.line + 1] + b"\n"
            rest, skipping = b"", True
        if text:
            yield text
    if rest and not skipping:
        yield rest + b"\n"


async def lines_of(request: Request, limits: ServiceLimits, most: int) -> AsyncIterator[list[bytes]]:
    """Yield the lines of a body without newlines, at most `most` at a time."""
    async for text in texts_of(request, limits):
        lines = text.split(b"\n")[:-1]
        for start in range(0, len(lines), most):
            yield lines[start : start + most]


class BodyFile(io.RawIOBase):
    """A body as it arrives, as a file for another thread than that of the event loop."""

    def __init__(self, chunks: AsyncIterator[bytes], loop: asyncio.AbstractEventLoop) -> None:
        self._chunks, self._loop = chunks, loop
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Read the bytes that have arrived into a buffer; wait for the first, return 0 at the end."""
        if not self._rest:
            self._rest = asyncio.run_coroutine_threadsafe(self._next(), self._loop).result()
        count = min(len(buffer), len(self._rest))
        buffer[:count], self._rest = self._rest[:count], self._rest[count:]
        return count

    async def _next(self) -> bytes:
        return await anext(self._chunks, b"")


def file_of(request: Request, limits: ServiceLimits) -> io.BufferedReader:
    """Return the body of a request as a file for another thread; call this within the event loop."""
    return io.BufferedReader(BodyFile(chunks_of_body(request, limits), asyncio.get_running_loop()), AT_ONCE)
