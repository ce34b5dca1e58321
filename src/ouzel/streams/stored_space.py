"""What features are known by as JSON values, in the files of models and of blocks."""

from __future__ import annotations

import reprlib
from typing import Any

from ouzel.errors import OuzelError
from ouzel.rules import check, either, flag, list_of, nothing, one_of, pair_of, text, whole
from ouzel.sketches.hashing import MOST_ID
from ouzel.streams.crosses.naming import as_crosses
from ouzel.streams.derived.asked import Derived
from ouzel.streams.feature_space import KINDS, FeatureSpace
from ouzel.streams.ngrams.naming import as_ngrams

FEATURES = {
    "named": flag,
    "lowest": either(nothing, whole(0, MOST_ID)),
    "highest": either(nothing, whole(0, MOST_ID)),
    "width": either(nothing, whole(0, MOST_ID + 1)),
    "kinds": list_of(pair_of(text, one_of(*KINDS))),
    "loose": flag,
    "indicator": flag,
    "crosses": list_of(text),
    "ngrams": list_of(text),
}
"""What features are known by: the fields of `FeatureSpace`."""


def described(space: FeatureSpace) -> dict[str, Any]:
    """What features are known by as JSON values."""
    stored = space._asdict()
    derived = stored.pop("derived")
    return {**stored, "kinds": list(map(list, space.kinds.items())), **derived._asdict()}


def space_of(stored: Any) -> FeatureSpace:
    """What features are known by, of what `described` gave; OuzelError if that makes no sense."""
    check(stored, FEATURES, "what the features are known by")
    kinds = dict(stored["kinds"])
    lists = {name: tuple(stored[name]) for name in Derived._fields}
    derived = Derived(**lists)
    if derived != (as_crosses(derived.crosses), as_ngrams(derived.ngrams)):
        raise OuzelError(f"crosses or n-grams are not in order; got {reprlib.repr(lists)}")
    rest = {name: value for name, value in stored.items() if name not in lists}
    space = FeatureSpace(**{**rest, "kinds": kinds, "derived": derived})
    within = space.lowest is None or space.highest is None or space.lowest <= space.highest
    if (space.lowest is None) != (space.highest is None) or not within or len(kinds) != len(stored["kinds"]):
        raise OuzelError("what the features are known by contradicts itself")
    if space.width is not None and (space.named or (kinds and len(kinds) != space.width)):
        raise OuzelError(f"{len(kinds)} names do not fit {space.width} columns")
    return space
