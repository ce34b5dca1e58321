"""Description of how examples become the inputs of an exported model, for people and programs."""

from __future__ import annotations

from typing import Any

from ouzel.exporting.answers import Output
from ouzel.model.model import Model
from ouzel.streams.feature_space import CATEGORY, DATE, LIST, NUMBER, TEXT, UNDECIDED, FeatureSpace
from ouzel.streams.missing import NA_FEATURE
from ouzel.streams.stored_space import described

NAMED = 20  # names with their ids, to try a hash by
HASH = (
    "the id of a name is MurmurHash3 (32 bits, x86) of its UTF-8 bytes with `seed`, of which the lowest `bits` count; "
    "a name written in digits is its own id. `values` says which names a value has"
)
VALUES = {
    NUMBER: "the feature `column`, whose value is the number",
    CATEGORY: (
        "the feature `column=word` of value 1, without blanks around the word; a truth value is the word true or false"
    ),
    LIST: "an entry is the feature `column=entry`, whose value is how often it comes",
    TEXT: (
        "words are of letters, digits, apostrophes and all beyond ASCII, letters of ASCII in lower case; each is the "
        "feature `word`, or `column=word` where several columns are texts, whose value is how often it comes"
    ),
    DATE: (
        "the feature `column`, whose value is the seconds since 1970 in UTC, and of value 1 `column.month=1`, "
        "`column.weekday=Wed` and, of a date with a time, `column.hour=12`"
    ),
}
"""The features of a value, by the kind of its column."""
MISSING = f"the feature `column={NA_FEATURE}` of value 1"
DERIVED = {
    "ngrams": (
        "words of a text that follow each other have an id of the 32-bit hashes h of their whole names, by the same "
        "seed: (h1 * 27942141 + h2) * 27942141 + h3, of which the lowest `bits` count; its value is how often they come"
    ),
    "crosses": (
        "a feature of each factor together have an id of the 32-bit hashes h of their whole names, by the same seed, "
        "in the order of their columns' names: (h1 * 16777619 ^ h2) * 16777619 ^ h3, of which the lowest `bits` "
        "count; its value is the product of theirs"
    ),
    "bins": "a number is the feature `column=[low,high)` of value 1, low and high being neighbours of its `edges`",
    "hinges": "beside a number stands `column>edge` of value number - edge, for each of its `edges` that it is above",
}
"""How features are made of others, which the graph takes like any other."""
NUMBERS = "ids are the numbers of the stream's own, as they stand in svmlight text"
COLUMNS = "ids are the columns of an array, counted from 0"
MEANING = {
    "label": "the class predicted",
    "margin": "above 0 for the second of two classes; of more a score a class, in the order of `classes`",
    "probability": "of each class, in the order of `classes`",
    "prediction": "the number predicted",
    "score": "the higher, the further up an example is ranked",
}


def rule_of(model: Model, outputs: list[Output]) -> dict[str, Any]:
    """Return the description of an exported model as JSON values."""
    space = model.space
    named = space.named and space.width is None
    return {
        "learner": model.learner.name,
        "task": model.task.name,
        "examples": model.examples,
        "inputs": {
            "ids": "(examples, features) int64: ids of features, each once in an example; -1 where it has fewer",
            "values": "(examples, features) float32: their values",
        },
        "outputs": {output.name: MEANING[output.name] for output in outputs},
        "classes": model.classes.in_order(),
        "values": _values(space) if named else {},
        "ids": HASH if named else COLUMNS if space.width is not None else NUMBERS,
        "seed": model.seed if named else None,
        "bits": model.bits if named else None,
        "features": described(space),
        "derived": {name: DERIVED[name] for name, spec in space.derived._asdict().items() if spec},
        "names": _names(model) if named else {},
    }


def _values(space: FeatureSpace) -> dict[str, str]:
    """The features of each kind of column that the model knows, of all kinds if of none, and of a missing value."""
    kinds = set(space.kinds.values()) - {UNDECIDED} or VALUES
    found = {kind: made for kind, made in VALUES.items() if kind in kinds}
    return {**found, "missing": MISSING} if space.indicator else found


def _names(model: Model) -> dict[str, int]:
    """Names of the heaviest features, and their ids."""
    found: dict[str, int] = {}
    for column in model.top(NAMED):
        for feature, _ in column:
            name = model.names.name(feature) if feature >= 0 else None
            if name is not None and len(found) < NAMED:
                found[name] = feature
    return found
