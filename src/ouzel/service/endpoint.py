"""Endpoint: one method of one path of a service. Routing, scopes, metrics and the OpenAPI document come from it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from ouzel.schemas import Kind
from ouzel.service.formats import JSON_LINES

JSON = "application/json"
LINES = JSON_LINES.media_types[0]
Handler = Callable[[Request, Any], Awaitable[Response]]


class Parameter(NamedTuple):
    """A parameter in the query, or in a header, of a request."""

    name: str
    kind: Kind
    about: str
    place: str = "query"


class Endpoint(NamedTuple):
    """One method of one path: its handler, its scope and its documentation.

    `of_model`: each model has such a path, and the first model also has one without its name.
    """

    method: str
    path: str
    handle: Handler
    summary: str
    answers: Mapping[int, Mapping[str, Kind]]  # by status and media type; None for no schema
    scope: str | None = None  # that a token needs
    of_model: bool = True
    bodies: Mapping[str, Kind] = {}  # by media type
    parameters: tuple[Parameter, ...] = ()
    problems: tuple[int, ...] = ()  # statuses of problems, in addition to those of any request

    @property
    def named(self) -> bool:
        """Whether the path itself names the model."""
        return MODEL in self.path

    @property
    def paths(self) -> list[str]:
        """The paths: one, or one for the first model and one for any model by name."""
        if not self.of_model or self.named:
            return [self.path]
        return [self.path, OF_MODEL + self.path.removeprefix("/v1")]


MODEL = "{model}"
OF_MODEL = f"/v1/models/{MODEL}"
