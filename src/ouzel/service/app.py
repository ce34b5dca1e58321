"""The ASGI application: a router of the endpoints and the files of the page, and the gate around it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from ouzel.service.endpoint import MODEL, Endpoint, document
from ouzel.service.gate import Gate, admit
from ouzel.service.problems import ProblemError, answer_problem, json_response
from ouzel.service.routes import ENDPOINTS
from ouzel.service.service import Service
from ouzel.service.tokens import Tokens

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger

Handler = Callable[[Request], Awaitable[Response]]
OF_NAME = ("", "v1", "models"), ("", "v2", "models")  # what stands before the name of a model in a path


def application(service: Service, tokens: Tokens | None = None, log: FilteringBoundLogger | None = None) -> ASGIApp:
    """Return the ASGI application of a service."""
    described = document(ENDPOINTS)

    async def openapi(request: Request) -> Response:
        return json_response(described)

    routes: dict[str, dict[str, Handler]] = {"/openapi.json": {"GET": openapi}, **page_routes()}
    for endpoint in ENDPOINTS:
        for path in endpoint.paths:
            routes.setdefault(path, {})[endpoint.method] = _handler(endpoint, service, tokens)
    return Gate(Router(routes, service, log), service.metrics, log)


class Router:
    """Calls the handler of a path and a method; answers errors as problems; starts and ends the service."""

    def __init__(
        self, routes: Mapping[str, Mapping[str, Handler]], service: Service, log: FilteringBoundLogger | None
    ) -> None:
        self.service = service
        self._routes, self._log = routes, log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        request = Request(scope, receive, send)
        try:
            response = await self._handler(scope)(request)
        except ClientDisconnect:
            raise
        except Exception as error:
            response = await answer_problem(request, error)
            if response.status_code == 500 and self._log is not None:
                self._log.error("mistake", route=scope.get("state", {}).get("route"), exc_info=error)
        await response(scope, receive, send)

    def _handler(self, scope: Scope) -> Handler:
        """Return the handler of a request; note the model that its path names."""
        path = scope["path"]
        known = self._routes.get(path)
        if known is None:
            parts = path.split("/")
            if tuple(parts[:3]) in OF_NAME and len(parts) > 3 and parts[3]:
                known = self._routes.get("/".join([*parts[:3], MODEL, *parts[4:]]))
                scope["path_params"] = {"model": parts[3]}
        if known is None:
            raise ProblemError(404, f"there is no path {path!r}; /openapi.json lists all")
        handler = known.get("GET" if scope["method"] == "HEAD" else scope["method"])
        if handler is None:
            methods = [*known, *(["HEAD"] if "GET" in known else [])]
            detail = f"{path} takes {', '.join(known)}; got {scope['method']}"
            raise ProblemError(405, detail, {"Allow": ", ".join(sorted(methods))})
        return handler

    async def _live(self, receive: Receive, send: Send) -> None:
        """Start the service when the server starts, and end it when the server ends."""
        for state, work in (("startup", self.service.start), ("shutdown", self.service.end)):
            await receive()
            try:
                await work()
            except BaseException as error:
                await send({"type": f"lifespan.{state}.failed", "message": str(error)})
                raise
            await send({"type": f"lifespan.{state}.complete"})


class FirstModel:
    """The first model at each use, so that a request that began before a promotion goes on with the promoted model."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def __getattr__(self, name: str) -> Any:
        return getattr(self._service.first, name)


def _handler(endpoint: Endpoint, service: Service, tokens: Tokens | None) -> Handler:
    """Return the handler of an endpoint, which admits a request and finds the model that the request names."""

    async def handler(request: Request) -> Response:
        request.scope.setdefault("state", {})["route"] = endpoint.path
        admit(request, tokens, endpoint.scope)
        if not endpoint.of_model:
            return await endpoint.handle(request, service)
        name = request.path_params.get("model")
        served: Any = service.models.get(name) if name is not None else service.first
        if name is None and endpoint.scope == "learn":
            served = FirstModel(service)
        if served is None:
            raise ProblemError(404, f"there is no model {name!r}; there are {', '.join(service.models)}")
        return await endpoint.handle(request, served)

    return handler


PAGE_TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
PAGE_FILES = {"/": "index.html", **{f"/page/{name}": name for name in ("page.css", "page.js", "draw.js")}}


def page_routes() -> dict[str, dict[str, Handler]]:
    """Return the routes of the files of the page. These hold no data, so they need no token."""
    return {path: {"GET": _page_handler(name)} for path, name in PAGE_FILES.items()}


def _page_handler(name: str) -> Handler:
    content = (files("ouzel.service") / "page" / name).read_bytes()
    media_type = PAGE_TYPES[name.rpartition(".")[2]]

    async def send(request: Request) -> Response:
        return Response(content, media_type=media_type, headers={"Cache-Control": "no-cache"})

    return send
