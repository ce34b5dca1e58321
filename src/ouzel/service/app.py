"""The application: a route for each door, problems as JSON, the gate around it all."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from ouzel.errors import OuzelError
from ouzel.service.all_doors import DOORS
from ouzel.service.doors import Door
from ouzel.service.gate import Gate, admit
from ouzel.service.openapi import document
from ouzel.service.problems import ProblemError, answer_problem, json_response, problem_response
from ouzel.service.routes.page import page_routes
from ouzel.service.service import Service
from ouzel.service.tokens import Tokens

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger

OF_MODEL = "/v1/models/{model}"
Endpoint = Callable[[Request], Awaitable[Response]]
Failed = Callable[[Request, Exception], Awaitable[Response]]


def application(service: Service, tokens: Tokens | None = None, log: FilteringBoundLogger | None = None) -> ASGIApp:
    """The ASGI application of a service."""
    routes = [route for door in DOORS for route in _routes(door, service, tokens)]
    described = document(DOORS, OF_MODEL)

    async def openapi(request: Request) -> Response:
        return json_response(described)

    routes += [Route("/openapi.json", openapi), *page_routes()]

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        await service.start()
        yield
        await service.end()

    async def failed(request: Request, error: Exception) -> Response:
        if log is not None:
            log.error("mistake", route=request.scope.get("state", {}).get("route"), exc_info=error)
        return await answer_problem(request, error)

    async def not_found(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return problem_response(ProblemError(error.status_code, error.detail, dict(error.headers or {})))

    handlers: dict[Any, Any] = {
        ProblemError: answer_problem,
        OuzelError: answer_problem,
        HTTPException: not_found,
        Exception: failed,
    }
    app = Starlette(routes=routes, lifespan=lifespan, exception_handlers=handlers)
    app.state.service = service
    asked = {door.path: _endpoint(door, service, tokens) for door in DOORS if door.method == "POST" and not door.named}
    return Gate(Shortcut(app, asked, failed), service.metrics, log)


class Shortcut:
    """Answers what is asked most, by its path alone, and has the application answer the rest, and more slowly."""

    def __init__(self, app: Starlette, asked: Mapping[str, Endpoint], failed: Failed) -> None:
        self.state = app.state
        self._app, self._asked, self._failed = app, asked, failed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        endpoint = self._asked.get(scope["path"]) if scope["type"] == "http" and scope["method"] == "POST" else None
        if endpoint is None:
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive, send)
        try:
            response = await endpoint(request)
        except ClientDisconnect:
            raise
        except (ProblemError, OuzelError) as error:
            response = await answer_problem(request, error)
        except Exception as error:
            response = await self._failed(request, error)
        await response(scope, receive, send)


def _endpoint(door: Door, service: Service, tokens: Tokens | None) -> Endpoint:
    """What a request for a door is answered by, once it is known that it may come in."""

    async def endpoint(request: Request) -> Response:
        request.scope.setdefault("state", {})["route"] = door.path
        admit(request, tokens, door.scope)
        if not door.of_model:
            return await door.handle(request, service)
        name = request.path_params.get("model")
        served = service.first if name is None else service.models.get(name)
        if served is None:
            raise ProblemError(404, f"there is no model {name!r}; there are {', '.join(service.models)}")
        return await door.handle(request, served)

    return endpoint


def _routes(door: Door, service: Service, tokens: Tokens | None) -> list[Route]:
    """The routes of a door: one, or one for the first model and one for any by name."""
    endpoint = _endpoint(door, service, tokens)
    paths = [door.path]
    if door.of_model and not door.named:
        paths.append(OF_MODEL + door.path.removeprefix("/v1"))
    return [Route(path, endpoint, methods=[door.method]) for path in paths]
