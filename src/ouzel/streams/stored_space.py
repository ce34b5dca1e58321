"""The feature space as JSON values, in the files of models and of blocks."""

from __future__ import annotations

import reprlib
from itertools import pairwise
from typing import Annotated, Any

from ouzel.errors import OuzelError
from ouzel.ranges import Choice, Range, check_stored
from ouzel.sketches.hashing import MOST_ID
from ouzel.streams.feature_space import CATEGORY, KINDS, NUMBER, OTHER, UNDECIDED, FeatureSpace
from ouzel.streams.feature_specs import MOST_BINS, DerivedFeatures

FEATURES: dict[str, Any] = {
    "named": bool,
    "lowest": Annotated[int, Range(0, MOST_ID, whole=True)] | None,
    "highest": Annotated[int, Range(0, MOST_ID, whole=True)] | None,
    "width": Annotated[int, Range(0, MOST_ID + 1, whole=True)] | None,
    "kinds": list[tuple[str, Annotated[str, Choice((*KINDS, UNDECIDED))]]],
    "also": list[tuple[str, Annotated[str, Choice((NUMBER, CATEGORY))]]],
    "loose": bool,
    "indicator": bool | None,
    "crosses": list[str],
    "ngrams": list[str],
    "bins": list[str],
    "hinges": list[str],
    "edges": list[tuple[str, Annotated[list[float], Range(high=MOST_BINS)]]],
}
"""What each stored value must be."""
STORED_NAMES = {"open_vocabulary": "loose", "mixed": "also"}
"""Fields of `FeatureSpace` that have another name in files."""
TABLES = ("kinds", "mixed", "edges")
"""Fields that are stored as pairs of a column and a value."""


def described(space: FeatureSpace) -> dict[str, Any]:
    """A feature space as JSON values."""
    tables = {name: list(map(list, getattr(space, name).items())) for name in TABLES}
    fields = {**space._asdict(), **tables}
    derived = fields.pop("derived")
    return {**{STORED_NAMES.get(name, name): value for name, value in fields.items()}, **derived._asdict()}


def space_of(stored: Any) -> FeatureSpace:
    """The feature space of what `described` returned; OuzelError if that contradicts itself."""
    whole = {"also": [], **stored} if isinstance(stored, dict) else stored
    check_stored(whole, FEATURES, "what the features are known by")
    kinds = dict(stored["kinds"])
    older = [[name, NUMBER] for name, kind in kinds.items() if kind == CATEGORY]  # of files that do not say it
    pairs = stored.get("also", older)
    mixed = dict(pairs)
    lists = {name: tuple(stored[name]) for name in DerivedFeatures._fields}
    derived = DerivedFeatures(**lists)
    if derived != derived.in_order():
        raise OuzelError(f"what is made of features is not in order; got {reprlib.repr(lists)}")
    edges = {name: tuple(map(float, some)) for name, some in stored["edges"]}
    if any(low >= high for some in edges.values() for low, high in pairwise(some)) or len(edges) < len(stored["edges"]):
        raise OuzelError("the edges of bins do not rise")
    single = [name for name in FeatureSpace._fields if name not in (*TABLES, "derived")]
    fields = {name: stored[STORED_NAMES.get(name, name)] for name in single}
    space = FeatureSpace(**{**fields, "kinds": kinds, "mixed": mixed, "derived": derived, "edges": edges})
    within = space.lowest is None or space.highest is None or space.lowest <= space.highest
    if (space.lowest is None) != (space.highest is None) or not within or len(kinds) != len(stored["kinds"]):
        raise OuzelError("what the features are known by contradicts itself")
    if len(mixed) < len(pairs) or any(OTHER.get(kinds.get(name, "")) != kind for name, kind in mixed.items()):
        raise OuzelError("the kinds of columns contradict themselves")
    if space.width is not None and (space.named or (kinds and len(kinds) != space.width)):
        raise OuzelError(f"{len(kinds)} names do not fit {space.width} columns")
    return space
