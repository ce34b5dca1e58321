"""Bodies and answers of a service as types, from which the OpenAPI document derives; bodies are decoded by them."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct, field

from ouzel.schemas import ColumnContribution, Contribution, Count, Label, PairContribution

Number = Annotated[int, Meta(ge=1)]
Shares = dict[str, float | None]
Id = Annotated[str | int, Meta(description="A name of 1 to 255 characters.")]
Bytes = Annotated[str, Meta(extra_json_schema={"format": "binary"})]

ABOUT = "An example: members are features. Numbers are values, words categories; objects may hold others."
ID = {"properties": {"_id": {"type": ["string", "integer"], "maxLength": 255}}}
Features = Annotated[
    dict[str, Any],
    Meta(description=ABOUT, extra_json_schema={**ID, "example": {"distance": 3.1, "courier": "Bob"}}),
]
Example = Annotated[
    dict[str, Any],
    Meta(
        description=f"{ABOUT} The label is the member `label`, or as --label says.",
        extra_json_schema={**ID, "example": {"label": "late", "distance": 7.5, "courier": "Ann"}},
    ),
]


class Answer(Struct):
    """A prediction; members that do not apply are left out."""

    prediction: Label | None
    margin: float | None = None
    margins: Shares = {}
    probabilities: Shares = {}
    intervals: dict[str, list[float | None]] = {}
    sets: dict[str, list[Label]] = {}
    unknown: Annotated[
        list[str], Meta(description="columns of the example, where the model has learnt none of them")
    ] = []
    id: str = ""


class Learnt(Struct):
    """An example that was learnt: its number in the log, and the prediction made before."""

    number: Number
    repeated: bool = False
    prediction: Label | None = None
    margin: float | None = None
    margins: Shares = {}
    probabilities: Shares = {}


class Refusal(Struct):
    """A line that was refused."""

    error: str
    line: int = 0
    field: str = ""
    column: int = 0


class Summary(Struct):
    """The end of the answer to a stream: counts, and the first refused lines."""

    learnt: Count
    repeated: Count
    refused: Count
    lines: Count
    refusals: list[Refusal]
    stopped: str | None


class Problem(Struct):
    """A problem of RFC 9457 with one sentence for people."""

    title: str
    status: int
    detail: str
    field: str = ""


class Labelled(Struct, forbid_unknown_fields=True):
    """The label of an example that was predicted with an id."""

    id: Annotated[str, Meta(min_length=1, max_length=255)] | int
    label: Label


class OfClass(Struct):
    """The contributions to the margin of a class: by column, by value, and by pair of columns."""

    label: Label | None = field(name="class")
    margin: float
    remainder: float
    columns: list[ColumnContribution]
    features: list[Contribution]
    pairs: list[PairContribution]


class Explained(Answer, kw_only=True):
    """A prediction, and what columns add to its margins."""

    classes: list[OfClass]


class Tensor(Struct):
    """A tensor of the Open Inference Protocol."""

    name: str
    shape: list[Number]
    datatype: str
    data: list[Any]


class Infer(Struct):
    """A request of the Open Inference Protocol."""

    inputs: Annotated[list[Tensor], Meta(min_length=1)]
    id: Any = None


class Inferred(Struct):
    """An answer of the Open Inference Protocol."""

    model_name: str
    outputs: list[Tensor]
    id: str = ""


class Metadata(Struct):
    """A model, by the Open Inference Protocol."""

    name: str
    versions: list[str]
    platform: str
    inputs: list[Any]
    outputs: list[dict[str, Any]]


class Quarantined(Struct):
    """A line that was refused, and when."""

    at: float
    line: str
    error: str


class Status(Struct):
    """Whether the service answers, or learns."""

    status: str


class Snapshot(Struct):
    """A snapshot that was taken."""

    snapshot: str
    examples: Count


class Listed(Struct):
    """A model of the service, with its figures; those of classes or of numbers where they apply."""

    name: str
    first: bool
    shadow: bool
    examples: Annotated[Count, Meta(description="that it has learnt in all")] = 0
    refused: Annotated[
        Count, Meta(description="examples since the start of the service; of a shadow: of its leader, in all")
    ] = 0
    behind: Annotated[Count, Meta(description="examples of its leader that a shadow has still to learn")] = 0
    failure: Annotated[str | None, Meta(description="why it does not learn at present")] = None


class Promoted(Struct):
    """The model that paths without a name mean from now on."""

    first: str
