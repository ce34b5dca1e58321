"""The OpenAPI 3.1 document of a service, made of its doors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import ouzel
from ouzel.service.doors import Door
from ouzel.service.problems import TYPE
from ouzel.service.schemas import PROBLEM

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


def document(doors: Iterable[Door], of_model: str) -> dict[str, Any]:
    """The document; models by name have their paths under `of_model`."""
    paths: dict[str, dict[str, Any]] = {}
    for door in doors:
        paths.setdefault(door.path, {})[door.method.lower()] = _operation(door, "")
        if door.of_model and not door.named:
            path = of_model + door.path.removeprefix("/v1")
            paths.setdefault(path, {})[door.method.lower()] = _operation(door, "_of_model")
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Ouzel",
            "version": ouzel.__version__,
            "description": "A model that learns while it answers.",
        },
        "paths": paths,
        "components": {
            "schemas": {"Problem": PROBLEM},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(door: Door, suffix: str) -> dict[str, Any]:
    problems = {*ALWAYS, *door.problems, *(GUARDED if door.scope else ()), *(WITH_BODY if door.bodies else ())}
    named = [NAMED] if suffix or door.named else []
    if named:
        problems.add(404)
    found: dict[str, Any] = {
        "operationId": f"{door.method.lower()}_{door.path.strip('/').replace('/', '_') or 'page'}{suffix}".replace(
            "{model}", "model"
        ),
        "summary": door.summary,
        "description": " ".join((door.handle.__doc__ or "").split()),
        "responses": {
            **{str(status): _response(answer) for status, answer in door.answers.items()},
            **{str(status): _problem() for status in sorted(problems - set(door.answers))},
        },
    }
    if door.bodies:
        content = {kind: {"schema": schema} for kind, schema in door.bodies.items()}
        found["requestBody"] = {"required": True, "content": content}
    if named or door.parameters:
        found["parameters"] = [*named, *door.parameters]
    if door.scope:
        found["security"] = [{}, {"token": []}]
    return found


def _response(kinds: Mapping[str, dict[str, Any] | None]) -> dict[str, Any]:
    if not kinds:
        return {"description": "nothing"}
    content = {kind: {"schema": schema} if schema is not None else {} for kind, schema in kinds.items()}
    return {"description": "the answer", "content": content}


def _problem() -> dict[str, Any]:
    return {"description": "a problem", "content": {TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}}
