"""The shapes of what goes in and out, as JSON Schema."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "number"}
COUNT: Schema = {"type": "integer", "minimum": 0}
LABEL: Schema = {"type": ["string", "number", "boolean"]}
MAYBE_LABEL: Schema = {"type": ["string", "number", "boolean", "null"]}
SHARES: Schema = {"type": "object", "additionalProperties": {"type": ["number", "null"]}}


def an_object(required: str = "", **properties: Schema) -> Schema:
    """An object with these properties, of which some must be there."""
    found: Schema = {"type": "object", "properties": properties, "additionalProperties": True}
    return {**found, "required": required.split()} if required else found


def a_list(items: Schema) -> Schema:
    """An array."""
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
