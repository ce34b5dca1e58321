"""Endpoints, one method of one path each, and the OpenAPI 3.1 document made of them and their types."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import msgspec
from starlette.requests import Request
from starlette.responses import Response

import ouzel
from ouzel.schemas import Kind, Schema
from ouzel.service.formats import JSON_LINES
from ouzel.service.problems import TYPE
from ouzel.service.schemas import Problem

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


ALWAYS = (400, 409, 421, 500, 503)  # problems that any request may have
GUARDED = (401, 403)
WITH_BODY = (408, 413, 415, 422, 429)
NAMED = {
    "name": "model",
    "in": "path",
    "required": True,
    "schema": {"type": "string"},
    "description": "The name of a model.",
}


def document(endpoints: Iterable[Endpoint]) -> dict[str, Any]:
    """Return the document of some endpoints."""
    endpoints = list(endpoints)
    schemas, components = _schemas(endpoints)
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in endpoints:
        for path, suffix in zip(endpoint.paths, ("", "_of_model"), strict=False):
            paths.setdefault(path, {})[endpoint.method.lower()] = _operation(endpoint, suffix, schemas)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Ouzel",
            "version": ouzel.__version__,
            "description": "A model that learns while it answers.",
        },
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _schemas(endpoints: Iterable[Endpoint]) -> tuple[dict[int, Schema], dict[str, Schema]]:
    """Return the schema of each type that endpoints use, by its identity, and the schemas that those refer to."""
    kinds = {id(kind): kind for endpoint in endpoints for kind in _kinds(endpoint)} | {id(Problem): Problem}
    found, components = msgspec.json.schema_components(list(kinds.values()), ref_template="#/components/schemas/{name}")
    return dict(zip(kinds, found, strict=True)), components


def _kinds(endpoint: Endpoint) -> Iterator[Kind]:
    """Yield the types of bodies, answers and parameters."""
    contents = [endpoint.bodies, *endpoint.answers.values()]
    for kind in [kind for content in contents for kind in content.values()]:
        yield from kind if isinstance(kind, tuple) else [] if kind is None else [kind]
    yield from (parameter.kind for parameter in endpoint.parameters)


def _operation(endpoint: Endpoint, suffix: str, schemas: Mapping[int, Schema]) -> dict[str, Any]:
    problems = {*ALWAYS, *endpoint.problems}
    problems |= {*(GUARDED if endpoint.scope else ()), *(WITH_BODY if endpoint.bodies else ())}
    place = endpoint.path.strip("/").replace("/", "_").replace("{model}", "model") or "page"
    named = [NAMED] if suffix or endpoint.named else []
    if named:
        problems.add(404)
    problem = {"description": "a problem", "content": {TYPE: {"schema": schemas[id(Problem)]}}}
    found: dict[str, Any] = {
        "operationId": f"{endpoint.method.lower()}_{place}{suffix}",
        "summary": endpoint.summary,
        "description": " ".join((endpoint.handle.__doc__ or "").split()),
        "responses": {
            **{str(status): _response(content, schemas) for status, content in endpoint.answers.items()},
            **{str(status): problem for status in sorted(problems - set(endpoint.answers))},
        },
    }
    if endpoint.bodies:
        found["requestBody"] = {"required": True, "content": _content(endpoint.bodies, schemas)}
    parameters = [
        {"name": name, "in": place, "schema": schemas[id(kind)], "description": about}
        for name, kind, about, place in endpoint.parameters
    ]
    if named or parameters:
        found["parameters"] = [*named, *parameters]
    if endpoint.scope:
        found["security"] = [{}, {"token": []}]
    return found


def _response(content: Mapping[str, Kind], schemas: Mapping[int, Schema]) -> dict[str, Any]:
    if not content:
        return {"description": "nothing"}
    return {"description": "the answer", "content": _content(content, schemas)}


def _content(kinds: Mapping[str, Kind], schemas: Mapping[int, Schema]) -> dict[str, Any]:
    """Return the schemas of media types."""
    return {
        media_type: {} if kind is None else {"schema": _schema(kind, schemas)} for media_type, kind in kinds.items()
    }


def _schema(kind: Kind, schemas: Mapping[int, Schema]) -> Schema:
    return {"anyOf": [schemas[id(one)] for one in kind]} if isinstance(kind, tuple) else schemas[id(kind)]
