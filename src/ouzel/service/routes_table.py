"""Table of the endpoints of a service."""

from __future__ import annotations

from ouzel.service import openapi
from ouzel.service.formats import READ
from ouzel.service.openapi import Endpoint, Schema
from ouzel.service.routes import health, infer, inspect, learn, predict
from ouzel.service.routes.bodies import JSON, LINES

TEXT = {"type": "string"}
BINARY = {"type": "string", "format": "binary"}
BODIES = {format.media_types[0]: BINARY if format.is_columnar else TEXT for format in READ}


def one_or_many(one: Schema, most: int | None = None) -> Schema:
    """Return the schema of an object, or of an array of them."""
    many = openapi.a_list(one)
    return {"anyOf": [one, many if most is None else {**many, "maxItems": most}]}


def query(name: str, schema: Schema, description: str) -> Schema:
    """Return a query parameter."""
    return {"name": name, "in": "query", "schema": schema, "description": description}


KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "schema": {"type": "string", "pattern": "^[!-~]{1,200}$"},
    "description": "With a key a request is learnt once, however often it is sent. A single example has no other _id.",
}
ANSWERS = query("answers", {"enum": ["all", "summary"]}, "Of a stream: an answer a line, or counts at the end.")
AFTER = query("after", {"type": "integer", "minimum": 0, "maximum": 10**17}, "Only the examples behind this one.")
FORMAT = query("format", {"enum": list(inspect.LOG_FORMATS)}, "A file for `ouzel train`, or lines of JSON to look at.")
N = query("n", {"type": "integer", "minimum": 1, "maximum": inspect.MOST_TOP}, "Features of each class.")

LEARN = Endpoint(
    "POST",
    "/v1/learn",
    learn.learn,
    "Learn examples",
    {200: {JSON: {"anyOf": [openapi.LEARNT, openapi.a_list({}), openapi.SUMMARY]}, LINES: None}},
    "learn",
    bodies={JSON: one_or_many(openapi.EXAMPLE), **BODIES},
    parameters=(KEY, ANSWERS),
)
LABEL = Endpoint(
    "POST",
    "/v1/label",
    learn.label,
    "Label an example that was predicted",
    {200: {JSON: openapi.LEARNT}},
    "learn",
    bodies={JSON: openapi.LABELLED},
    problems=(404,),
)
PREDICT = Endpoint(
    "POST",
    "/v1/predict",
    predict.predict,
    "Predict examples",
    {200: {JSON: {"anyOf": [openapi.ANSWER, openapi.a_list({})]}, LINES: None}},
    "predict",
    bodies={JSON: one_or_many(openapi.FEATURES), LINES: TEXT},
)
EXPLAIN = Endpoint(
    "POST",
    "/v1/explain",
    predict.explain,
    "Explain a prediction",
    {200: {JSON: openapi.EXPLAINED}},
    "predict",
    bodies={JSON: openapi.FEATURES},
)
INFER = Endpoint(
    "POST",
    "/v2/models/{model}/infer",
    infer.infer,
    "Predict tensors, by the Open Inference Protocol",
    {200: {JSON: openapi.INFERRED}},
    "predict",
    named=True,
    bodies={JSON: openapi.INFER},
)
MANY = (422,)
INSPECT = (
    Endpoint("GET", "/v1/model", inspect.model, "Settings and figures", {200: {JSON: openapi.MODEL}}, "predict"),
    Endpoint(
        "GET",
        "/v1/top",
        inspect.top,
        "Heaviest features",
        {200: {JSON: openapi.TOP}},
        "predict",
        parameters=(N,),
        problems=MANY,
    ),
    Endpoint(
        "GET",
        "/v1/snapshot",
        inspect.snapshot,
        "The last snapshot",
        {200: {inspect.MODEL_FILE: None}, 304: {}},
        "predict",
    ),
    Endpoint(
        "POST", "/v1/snapshot", inspect.take_snapshot, "Take a snapshot", {200: {JSON: {"type": "object"}}}, "admin"
    ),
    Endpoint(
        "GET",
        "/v1/log",
        inspect.export,
        "The log",
        {200: {inspect.RECORDS: None, LINES: None}},
        "admin",
        parameters=(AFTER, FORMAT),
        problems=MANY,
    ),
    Endpoint(
        "GET", "/v1/quarantine", inspect.quarantine, "What was refused", {200: {JSON: openapi.QUARANTINE}}, "admin"
    ),
    Endpoint(
        "GET", "/v1/events", inspect.events, "Events as they happen", {200: {"text/event-stream": None}}, "predict"
    ),
    Endpoint(
        "GET",
        "/v2/models/{model}",
        infer.metadata,
        "A model, by the protocol",
        {200: {JSON: {"type": "object"}}},
        "predict",
        named=True,
    ),
)
HEALTH = (
    Endpoint(
        "GET", "/v1/models", health.models, "The models", {200: {JSON: {"type": "array"}}}, "predict", of_model=False
    ),
    Endpoint(
        "POST",
        "/v1/models/{model}/promote",
        health.promote,
        "Promote a shadow",
        {200: {JSON: {"type": "object"}}},
        "admin",
        of_model=False,
        named=True,
        problems=MANY,
    ),
    Endpoint("GET", "/health", health.health, "Whether it answers", {200: {JSON: openapi.STATUS}}, of_model=False),
    Endpoint("GET", "/v2/health/live", health.health, "The same", {200: {JSON: openapi.STATUS}}, of_model=False),
    Endpoint(
        "GET",
        "/ready",
        health.ready,
        "Whether it learns",
        {200: {JSON: openapi.STATUS}, 503: {JSON: openapi.STATUS}},
        of_model=False,
    ),
    Endpoint(
        "GET",
        "/v2/health/ready",
        health.ready,
        "The same",
        {200: {JSON: openapi.STATUS}, 503: {JSON: openapi.STATUS}},
        of_model=False,
    ),
    Endpoint("GET", "/metrics", health.metrics, "Counters", {200: {"text/plain": None}}, "predict", of_model=False),
)
ENDPOINTS = (LEARN, LABEL, PREDICT, EXPLAIN, INFER, *INSPECT, *HEALTH)
