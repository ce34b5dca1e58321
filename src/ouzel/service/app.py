"""The ASGI application: a route for each endpoint and file of the page, problems as JSON, and the gate around them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from ouzel.errors import OuzelError
from ouzel.service.gate import Gate, admit
from ouzel.service.openapi import Endpoint, document
from ouzel.service.problems import ProblemError, answer_problem, json_response, problem_response
from ouzel.service.routes_table import ENDPOINTS
from ouzel.service.service import Service
from ouzel.service.tokens import Tokens

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger

OF_MODEL = "/v1/models/{model}"
Handler = Callable[[Request], Awaitable[Response]]
Failed = Callable[[Request, Exception], Awaitable[Response]]


def application(service: Service, tokens: Tokens | None = None, log: FilteringBoundLogger | None = None) -> ASGIApp:
    """Return the ASGI application of a service."""
    routes = [route for endpoint in ENDPOINTS for route in _routes(endpoint, service, tokens)]
    described = document(ENDPOINTS, OF_MODEL)

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

    error_handlers: dict[type[Exception], Failed] = {
        ProblemError: answer_problem,
        OuzelError: answer_problem,
        HTTPException: not_found,
        Exception: failed,
    }
    app = Starlette(routes=routes, lifespan=lifespan, exception_handlers=error_handlers)
    app.state.service = service
    frequent = [endpoint for endpoint in ENDPOINTS if endpoint.method == "POST" and not endpoint.named]
    handlers_by_path = {endpoint.path: _handler(endpoint, service, tokens) for endpoint in frequent}
    return Gate(Shortcut(app, handlers_by_path, failed), service.metrics, log)


class Shortcut:
    """Calls the handlers of the most frequent requests by their path; the slower application answers the others."""

    def __init__(self, app: Starlette, handlers: Mapping[str, Handler], failed: Failed) -> None:
        self.state = app.state
        self._app, self._handlers, self._failed = app, handlers, failed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_post = scope["type"] == "http" and scope["method"] == "POST"
        handler = self._handlers.get(scope["path"]) if is_post else None
        if handler is None:
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive, send)
        try:
            response = await handler(request)
        except ClientDisconnect:
            raise
        except (ProblemError, OuzelError) as error:
            response = await answer_problem(request, error)
        except Exception as error:
            response = await self._failed(request, error)
        await response(scope, receive, send)


def _handler(endpoint: Endpoint, service: Service, tokens: Tokens | None) -> Handler:
    """Return the handler of an endpoint, which admits a request and finds the model that the request names."""

    async def handler(request: Request) -> Response:
        request.scope.setdefault("state", {})["route"] = endpoint.path
        admit(request, tokens, endpoint.scope)
        if not endpoint.of_model:
            return await endpoint.handle(request, service)
        name = request.path_params.get("model")
        served = service.first if name is None else service.models.get(name)
        if served is None:
            raise ProblemError(404, f"there is no model {name!r}; there are {', '.join(service.models)}")
        return await endpoint.handle(request, served)

    return handler


def _routes(endpoint: Endpoint, service: Service, tokens: Tokens | None) -> list[Route]:
    """Return the routes of an endpoint: one, or one for the first model and one for any model by name."""
    handler = _handler(endpoint, service, tokens)
    paths = [endpoint.path]
    if endpoint.of_model and not endpoint.named:
        paths.append(OF_MODEL + endpoint.path.removeprefix("/v1"))
    return [Route(path, handler, methods=[endpoint.method]) for path in paths]


PAGE_TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
PAGE_FILES = {"/": "index.html", **{f"/page/{name}": name for name in ("page.css", "page.js", "draw.js")}}


def page_routes() -> list[Route]:
    """Return a route for each file of the page. The files hold no data, so they need no token."""
    return [_page_route(path, name) for path, name in PAGE_FILES.items()]


def _page_route(path: str, name: str) -> Route:
    content = (files("ouzel.service") / "page" / name).read_bytes()
    media_type = PAGE_TYPES[name.rpartition(".")[2]]

    async def send(request: Request) -> Response:
        return Response(content, media_type=media_type, headers={"Cache-Control": "no-cache"})

    return Route(path, send)
