"""Gate that every request passes: it checks tokens, sites, sizes and times, and counts and logs the request.

Without tokens a service listens on this machine alone. With tokens a request needs a token with the scope of the route;
a wrong token and a missing one get the same answer. In either case a browser that shows a page of another site changes
nothing here: browsers send the site of the page with every request.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator
from functools import lru_cache
from ipaddress import ip_address
from typing import TYPE_CHECKING

from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ouzel.service.limits import ServiceLimits
from ouzel.service.metrics import Metrics
from ouzel.service.problems import ProblemError
from ouzel.service.tokens import Tokens

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger

WHOLE = "ouzel.whole"  # in the scope of a request whose body arrived whole before it was read
WAITING, PATIENCE = "ouzel.waiting", "ouzel.patience"  # in its scope: timeout of the next part, seconds for later ones
HOST = re.compile(r"(?P<name>[^@,]*):(?P<port>[0-9]*)")
SAFE = ("GET", "HEAD", "OPTIONS")  # methods that change nothing
PORTS = {"http": "80", "https": "443"}  # defaults
SECURITY = [
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
        b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
]


def admit(request: Request, tokens: Tokens | None, scope: str | None) -> None:
    """Refuse a request from a wrong host or site, or without the scope it needs; nothing of its body is read yet."""
    headers = dict(reversed(request.scope["headers"]))  # bytes; the first header of a name counts
    host, site, origin = headers.get(b"host", b""), headers.get(b"sec-fetch-site"), headers.get(b"origin")
    several = sum(name == b"host" for name, _ in request.scope["headers"]) > 1
    if tokens is None and (several or not _is_here(host)):  # so that another site cannot point its own name here
        raise ProblemError(421, "a service without tokens answers for localhost alone")
    if (site is not None or origin is not None) and request.scope["method"] not in SAFE:
        _check_site(host, site, origin)
    if tokens is not None and scope is not None:
        _check_token(request, tokens, scope)


def is_loopback(host: str) -> bool:
    """Return whether a host is a loopback name or address.

    >>> [is_loopback(host) for host in ("LOCALHOST", "127.0.0.1", "::1", "[::1]", "0.0.0.0", "shop.example")]
    [True, True, True, True, False, False]
    """
    try:
        return host.lower() == "localhost" or ip_address(host.removeprefix("[").removesuffix("]")).is_loopback
    except ValueError:
        return False


def split_host(text: str, port: str = "") -> tuple[str, str]:
    """Return the name of a host in lower case, and its port, or the given one if it has none.

    >>> split_host("Localhost:8000"), split_host("[::1]", "80"), split_host("[::1]:8000")
    (('localhost', '8000'), ('[::1]', '80'), ('[::1]', '8000'))
    >>> split_host("localhost:8000@evil.example")  # no port, and so no name of this machine
    ('localhost:8000@evil.example', '')
    """
    found = HOST.fullmatch(text)
    return (found["name"].lower(), found["port"]) if found else (text.lower(), port)


@lru_cache(64)
def _is_here(host: bytes) -> bool:
    """Return whether the header `Host` names this machine."""
    return is_loopback(split_host(host.decode("latin-1"))[0])


def _check_site(host: bytes, site: bytes | None, origin: bytes | None) -> None:
    """Refuse a change from a page of another site.

    Browsers say where a request comes from, and pages cannot forge it. `Sec-Fetch-Site` names the relation of the
    sites, whatever names a proxy uses. Older browsers, and those without TLS, only send the `Origin` of the page,
    which must be the host of this service. Clients that are not browsers send neither.
    """
    if site is not None:
        other = site not in (b"same-origin", b"none")
    else:
        scheme, _, page = (origin or b"").decode("latin-1").partition("://")
        port = PORTS.get(scheme.lower(), "")
        other = split_host(page, port) != split_host(host.decode("latin-1"), port)
    if other:
        found = (origin or site or b"").decode("latin-1")
        raise ProblemError(
            403,
            f"a page of another site ({found!r:.200}) changes nothing here; if it is this service's own, have "
            "the proxy pass on the Host that the browser asks for",
        )


def _check_token(request: Request, tokens: Tokens, scope: str) -> None:
    """Refuse a request that may not do what needs a scope: 401 without a known token, 403 with one of other scopes."""
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    scopes = tokens.scopes_of(token.strip() if kind.lower() == "bearer" else "")
    if not scopes:
        raise ProblemError(401, "give a token: Authorization: Bearer …", {"WWW-Authenticate": "Bearer"})
    if scope not in scopes:
        raise ProblemError(403, f"the token does not have the scope {scope!r}")


async def chunks_of_body(request: Request, limits: ServiceLimits) -> AsyncIterator[bytes]:
    """Yield the body of a request as it arrives; raise a ProblemError if a part takes too long."""
    stream, scope = request.stream(), request.scope
    while True:
        patience = scope.get(PATIENCE, limits.seconds)
        try:
            async with asyncio.timeout(patience) as scope[WAITING]:
                chunk = await anext(stream, None)
        except TimeoutError:
            said = (
                "the service ends, and nothing more came" if PATIENCE in scope else f"nothing came for {patience:g} s"
            )
            raise ProblemError(408, said, {"Connection": "close"}) from None
        finally:
            del scope[WAITING]
        if chunk is None:
            return
        if chunk:
            yield chunk


def hurry(scope: Scope, seconds: float) -> None:
    """Limit the time to wait for each further part of a body to `seconds` from now on."""
    scope[PATIENCE] = seconds
    waiting: asyncio.Timeout | None = scope.get(WAITING)
    if waiting is not None and not waiting.expired():
        waiting.reschedule(asyncio.get_running_loop().time() + seconds)


async def body_of(request: Request, limits: ServiceLimits) -> bytes:
    """Return the whole body of a request; raise a ProblemError if it is too large."""
    if WHOLE in request.scope:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        _check_size(len(message["body"]), limits)
        return bytes(message["body"])
    length = request.headers.get("content-length", "0")
    if length.isdigit():
        _check_size(int(length), limits)
    body = bytearray()
    async for chunk in chunks_of_body(request, limits):
        body += chunk
        _check_size(len(body), limits)
    return bytes(body)


def _check_size(size: int, limits: ServiceLimits) -> None:
    if size > limits.body:
        raise ProblemError(413, f"expected a body of at most {limits.body:,} bytes", {"Connection": "close"})


class Gate:
    """Counts and logs every request, and sends security headers."""

    def __init__(self, app: ASGIApp, metrics: Metrics, log: FilteringBoundLogger | None) -> None:
        self.app = app
        self.metrics = metrics
        self.log = log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begun = time.perf_counter()
        status = 499  # the client has gone, unless a response starts

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), *SECURITY]
            await send(message)

        try:
            await self.app(scope, receive, sending)
        except ClientDisconnect:
            pass
        finally:
            route = scope.get("state", {}).get("route", "other")
            seconds = time.perf_counter() - begun
            self.metrics.request(scope["method"], route, status, seconds)
            if self.log is not None:
                self.log.info(
                    "request", method=scope["method"], route=route, status=status, ms=round(seconds * 1000.0, 2)
                )
