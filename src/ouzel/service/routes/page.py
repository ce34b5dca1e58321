"""The page to look at: a few files of the package, without data, so that they need no token."""

from __future__ import annotations

from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

KINDS = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
FILES = {"/": "index.html", **{f"/page/{name}": name for name in ("page.css", "page.js", "draw.js")}}


def page_routes() -> list[Route]:
    """A route for each file."""
    return [_route(path, name) for path, name in FILES.items()]


def _route(path: str, name: str) -> Route:
    content = (files("ouzel.service") / "page" / name).read_bytes()
    kind = KINDS[name.rpartition(".")[2]]

    async def send(request: Request) -> Response:
        return Response(content, media_type=kind, headers={"Cache-Control": "no-cache"})

    return Route(path, send)
