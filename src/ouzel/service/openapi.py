"""Endpoints of a service, the JSON schemas of their bodies and answers, and the OpenAPI 3.1 document made of them.

Routes, the scopes of the gate and the document all come from the same list of endpoints, so they cannot disagree.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import Response

import ouzel
from ouzel.service.problems import TYPE

Schema = dict[str, Any]
Handler = Callable[[Request, Any], Awaitable[Response]]


class Endpoint(NamedTuple):
    """One method of one path: its handler, its scope and its documentation.

    `of_model`: each model has such a path, and the first model also has one without its name.
    """

    method: str
    path: str
    handle: Handler
    summary: str
    answers: Mapping[int, Mapping[str, Schema | None]]  # schemas of JSON, by status and media type
    scope: str | None = None  # that a token needs
    of_model: bool = True
    named: bool = False  # whether the path itself names the model
    bodies: Mapping[str, Schema] = {}  # by media type
    parameters: tuple[Schema, ...] = ()
    problems: tuple[int, ...] = ()  # statuses of problems, in addition to those of any request


TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "number"}
COUNT: Schema = {"type": "integer", "minimum": 0}
LABEL: Schema = {"type": ["string", "number", "boolean"]}
MAYBE_LABEL: Schema = {"type": ["string", "number", "boolean", "null"]}
SHARES: Schema = {"type": "object", "additionalProperties": {"type": ["number", "null"]}}


def an_object(required: str = "", **properties: Schema) -> Schema:
    """Return the schema of an object with these properties; `required` names those that must be present."""
    found: Schema = {"type": "object", "properties": properties, "additionalProperties": True}
    return {**found, "required": required.split()} if required else found


def a_list(items: Schema) -> Schema:
    """Return the schema of an array."""
    return {"type": "array", "items": items}


FEATURES: Schema = {
    "description": "An example: members are features. Numbers are values, words categories; objects may hold others.",
    "type": "object",
    "properties": {"_id": {"type": ["string", "integer"], "maxLength": 255}},
    "additionalProperties": True,
    "example": {"distance": 3.1, "courier": "Bob"},
}
EXAMPLE: Schema = {
    **FEATURES,
    "description": f"{FEATURES['description']} The label is the member `label`, or as --label says.",
    "example": {"label": "late", "distance": 7.5, "courier": "Ann"},
}
ANSWER = an_object(
    "prediction",
    prediction=MAYBE_LABEL,
    margin={"type": ["number", "null"]},
    margins=SHARES,
    probabilities=SHARES,
    id=TEXT,
)
LEARNT = an_object(
    "number",
    number={"type": "integer", "minimum": 1},
    repeated={"type": "boolean"},
    **{name: schema for name, schema in ANSWER["properties"].items() if name != "id"},
)
REFUSED = an_object("error", error=TEXT, field=TEXT, column=COUNT)
SUMMARY = an_object(
    "learnt repeated refused lines refusals stopped",
    **dict.fromkeys(("learnt", "repeated", "refused", "lines"), COUNT),
    refusals=a_list(REFUSED),
    stopped={"type": ["string", "null"]},
)
PROBLEM = an_object("title status detail", title=TEXT, status={"type": "integer"}, detail=TEXT, field=TEXT)
LABELLED = {
    **an_object("id label", id={"type": ["string", "integer"], "minLength": 1, "maxLength": 255}, label=LABEL),
    "additionalProperties": False,
}
CONTRIBUTION = an_object("name value weight contribution", name=TEXT, value=NUMBER, weight=NUMBER, contribution=NUMBER)
EXPLAINED = an_object(
    "prediction classes",
    **ANSWER["properties"],
    classes=a_list(
        an_object(
            "class margin remainder features",
            **{"class": MAYBE_LABEL},
            margin=NUMBER,
            remainder=NUMBER,
            features=a_list(CONTRIBUTION),
        )
    ),
)
TOP = a_list(
    an_object(
        "class features importances",
        **{"class": MAYBE_LABEL},
        features=a_list(a_list({"type": ["string", "number"]})),
        importances=a_list({"type": ["number", "null"]}),
    )
)
TENSOR = an_object(
    "name shape datatype data",
    name=TEXT,
    shape=a_list({"type": "integer", "minimum": 1}),
    datatype={"type": "string"},
    data={"type": "array"},
)
INFER = an_object("inputs", id=TEXT, inputs={**a_list(TENSOR), "minItems": 1})
INFERRED = an_object("model_name outputs", id=TEXT, model_name=TEXT, outputs=a_list(TENSOR))
FED = an_object(
    "log position behind examples",
    log=TEXT,
    position={"type": "object", "additionalProperties": {"type": ["string", "integer"]}},
    behind={"type": ["integer", "null"]},
    **dict.fromkeys(("examples", "refused", "lost"), COUNT),
    failure={"type": ["string", "null"]},
)
MODEL = an_object(
    "name learner settings task examples classes",
    name=TEXT,
    learner=TEXT,
    task=TEXT,
    examples=COUNT,
    feeds=a_list(FED),
)
QUARANTINE = a_list(an_object("at line error", at=NUMBER, line=TEXT, error=TEXT))
STATUS = an_object("status", status=TEXT)


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


def document(endpoints: Iterable[Endpoint], of_model: str) -> dict[str, Any]:
    """Return the document; paths with the name of a model start with `of_model`."""
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in endpoints:
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = _operation(endpoint, "")
        if endpoint.of_model and not endpoint.named:
            path = of_model + endpoint.path.removeprefix("/v1")
            paths.setdefault(path, {})[endpoint.method.lower()] = _operation(endpoint, "_of_model")
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


def _operation(endpoint: Endpoint, suffix: str) -> dict[str, Any]:
    problems = {*ALWAYS, *endpoint.problems}
    problems |= {*(GUARDED if endpoint.scope else ()), *(WITH_BODY if endpoint.bodies else ())}
    place = endpoint.path.strip("/").replace("/", "_").replace("{model}", "model") or "page"
    named = [NAMED] if suffix or endpoint.named else []
    if named:
        problems.add(404)
    found: dict[str, Any] = {
        "operationId": f"{endpoint.method.lower()}_{place}{suffix}",
        "summary": endpoint.summary,
        "description": " ".join((endpoint.handle.__doc__ or "").split()),
        "responses": {
            **{str(status): _response(answer) for status, answer in endpoint.answers.items()},
            **{str(status): _problem() for status in sorted(problems - set(endpoint.answers))},
        },
    }
    if endpoint.bodies:
        content = {kind: {"schema": schema} for kind, schema in endpoint.bodies.items()}
        found["requestBody"] = {"required": True, "content": content}
    if named or endpoint.parameters:
        found["parameters"] = [*named, *endpoint.parameters]
    if endpoint.scope:
        found["security"] = [{}, {"token": []}]
    return found


def _response(kinds: Mapping[str, dict[str, Any] | None]) -> dict[str, Any]:
    if not kinds:
        return {"description": "nothing"}
    content = {kind: {"schema": schema} if schema is not None else {} for kind, schema in kinds.items()}
    return {"description": "the answer", "content": content}


def _problem() -> dict[str, Any]:
    return {"description": "a problem", "content": {TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}}
