"""All that a service can be asked."""

from __future__ import annotations

from ouzel.service import schemas
from ouzel.service.doors import Door, Schema
from ouzel.service.formats import READ
from ouzel.service.routes import answering, events, inferring, learning, looking, running
from ouzel.service.routes.bodies import JSON, LINES

TEXT = {"type": "string"}
BINARY = {"type": "string", "format": "binary"}
BODIES = {format.media_types[0]: BINARY if format.is_columnar else TEXT for format in READ}


def one_or_many(one: Schema, most: int | None = None) -> Schema:
    """An object, or an array of them."""
    many = schemas.a_list(one)
    return {"anyOf": [one, many if most is None else {**many, "maxItems": most}]}


def query(name: str, schema: Schema, description: str) -> Schema:
    """A parameter behind the question mark."""
    return {"name": name, "in": "query", "schema": schema, "description": description}


KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "schema": {"type": "string", "pattern": "^[!-~]{1,200}$"},
    "description": "With a key a request is learnt once, however often it is sent. A single example has no other _id.",
}
ANSWERS = query("answers", {"enum": ["all", "summary"]}, "Of a stream: an answer a line, or counts at the end.")
AFTER = query("after", {"type": "integer", "minimum": 0, "maximum": 10**17}, "Only the examples behind this one.")
N = query("n", {"type": "integer", "minimum": 1, "maximum": looking.MOST_TOP}, "Features of each class.")

LEARN = Door(
    "POST",
    "/v1/learn",
    learning.learn,
    "Learn examples",
    {200: {JSON: {"anyOf": [schemas.LEARNT, schemas.a_list({}), schemas.SUMMARY]}, LINES: None}},
    "learn",
    bodies={JSON: one_or_many(schemas.EXAMPLE), **BODIES},
    parameters=(KEY, ANSWERS),
)
LABEL = Door(
    "POST",
    "/v1/label",
    learning.label,
    "Label an example that was predicted",
    {200: {JSON: schemas.LEARNT}},
    "learn",
    bodies={JSON: schemas.LABELLED},
    problems=(404,),
)
PREDICT = Door(
    "POST",
    "/v1/predict",
    answering.predict,
    "Predict examples",
    {200: {JSON: {"anyOf": [schemas.ANSWER, schemas.a_list({})]}, LINES: None}},
    "predict",
    bodies={JSON: one_or_many(schemas.FEATURES), LINES: TEXT},
)
EXPLAIN = Door(
    "POST",
    "/v1/explain",
    answering.explain,
    "Explain a prediction",
    {200: {JSON: schemas.EXPLAINED}},
    "predict",
    bodies={JSON: schemas.FEATURES},
)
INFER = Door(
    "POST",
    "/v2/models/{model}/infer",
    inferring.infer,
    "Predict tensors, by the Open Inference Protocol",
    {200: {JSON: schemas.INFERRED}},
    "predict",
    named=True,
    bodies={JSON: schemas.INFER},
)
MANY = (422,)
LOOKING = (
    Door("GET", "/v1/model", looking.model, "Settings and figures", {200: {JSON: schemas.MODEL}}, "predict"),
    Door(
        "GET",
        "/v1/top",
        looking.top,
        "Heaviest features",
        {200: {JSON: schemas.TOP}},
        "predict",
        parameters=(N,),
        problems=MANY,
    ),
    Door(
        "GET",
        "/v1/snapshot",
        looking.snapshot,
        "The last snapshot",
        {200: {looking.MODEL_FILE: None}, 304: {}},
        "predict",
    ),
    Door("POST", "/v1/snapshot", looking.take_snapshot, "Take a snapshot", {200: {JSON: {"type": "object"}}}, "admin"),
    Door(
        "GET", "/v1/log", looking.export, "The log", {200: {LINES: None}}, "admin", parameters=(AFTER,), problems=MANY
    ),
    Door("GET", "/v1/quarantine", looking.quarantine, "What was refused", {200: {JSON: schemas.QUARANTINE}}, "admin"),
    Door("GET", "/v1/events", events.events, "Events as they happen", {200: {"text/event-stream": None}}, "predict"),
    Door(
        "GET",
        "/v2/models/{model}",
        inferring.metadata,
        "A model, by the protocol",
        {200: {JSON: {"type": "object"}}},
        "predict",
        named=True,
    ),
)
RUNNING = (
    Door(
        "GET", "/v1/models", running.models, "The models", {200: {JSON: {"type": "array"}}}, "predict", of_model=False
    ),
    Door(
        "POST",
        "/v1/models/{model}/promote",
        running.promote,
        "Promote a shadow",
        {200: {JSON: {"type": "object"}}},
        "admin",
        of_model=False,
        named=True,
        problems=MANY,
    ),
    Door("GET", "/health", running.health, "Whether it answers", {200: {JSON: schemas.STATUS}}, of_model=False),
    Door("GET", "/v2/health/live", running.health, "The same", {200: {JSON: schemas.STATUS}}, of_model=False),
    Door(
        "GET",
        "/ready",
        running.ready,
        "Whether it learns",
        {200: {JSON: schemas.STATUS}, 503: {JSON: schemas.STATUS}},
        of_model=False,
    ),
    Door(
        "GET",
        "/v2/health/ready",
        running.ready,
        "The same",
        {200: {JSON: schemas.STATUS}, 503: {JSON: schemas.STATUS}},
        of_model=False,
    ),
    Door("GET", "/metrics", running.metrics, "Counters", {200: {"text/plain": None}}, "predict", of_model=False),
)
DOORS = (LEARN, LABEL, PREDICT, EXPLAIN, INFER, *LOOKING, *RUNNING)
