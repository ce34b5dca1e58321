"""The description of a model in its file: JSON values, each checked against a rule before anything is made of it.

A rule says in words what a value is, for the one line that refuses another. Whole numbers are never true or false,
nothing is infinite or not a number, text can be printed.

>>> check({"bits": 18}, {"bits": whole(1, 31)})
>>> check({"bits": 1e99}, {"bits": whole(1, 31)})
Traceback (most recent call last):
ouzel.errors.OuzelError: bits is not a whole number from 1 to 31; got 1e+99
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Mapping
from dataclasses import fields
from math import isfinite
from typing import Any, NamedTuple

from ouzel.errors import OuzelError
from ouzel.layout import MOST_COUNT
from ouzel.learners import catalogue
from ouzel.model.label_encoder import MOST_CLASSES, Classes
from ouzel.model.model import SLOT_LIMIT, Model
from ouzel.model.settings import resolve_settings
from ouzel.model.tasks.choose import TASKS
from ouzel.ranges import MOST_BITS, MOST_SEED
from ouzel.sketches.hashing import MOST_ID
from ouzel.streams.crosses.naming import as_crosses
from ouzel.streams.feature_names import FeatureNames
from ouzel.streams.feature_space import KINDS, FeatureSpace
from ouzel.streams.limits import Limits
from ouzel.streams.options import Options, make_options
from ouzel.terms.names import from_json, to_json

PREPARED = ("scale_targets", "standardize", "forget")  # what a model does with examples before it learns them
NAME_RULE = "murmur3-32"  # how names become ids


class Rule(NamedTuple):
    """What a value must be."""

    holds: Callable[[Any], bool]
    words: str


def whole(least: int = 0, most: int = MOST_COUNT) -> Rule:
    """A whole number of a range."""
    words = f"a whole number from {least} to {most}" if most < MOST_COUNT else f"a whole number, {least} or more"
    return Rule(lambda value: type(value) is int and least <= value <= most, words)


def one_of(*known: Any) -> Rule:
    """One of some values."""
    return Rule(lambda value: isinstance(value, str) and value in known, " or ".join(map(repr, known)))


def list_of(rule: Rule, most: int = MOST_COUNT) -> Rule:
    """A list of what another rule holds of."""
    return Rule(
        lambda value: isinstance(value, list) and len(value) <= most and all(map(rule.holds, value)),
        f"a list of which each is {rule.words}",
    )


def pair_of(first: Rule, second: Rule) -> Rule:
    """A list of two."""
    return Rule(
        lambda value: isinstance(value, list) and len(value) == 2 and first.holds(value[0]) and second.holds(value[1]),
        f"a pair of {first.words} and {second.words}",
    )


def either(*rules: Rule) -> Rule:
    """What one of some rules holds of."""
    return Rule(lambda value: any(rule.holds(value) for rule in rules), " or ".join(rule.words for rule in rules))


def _printable(value: Any) -> bool:
    return isinstance(value, str) and not any("\ud800" <= letter <= "\udfff" for letter in value)


text = Rule(_printable, "text")
flag = Rule(lambda value: isinstance(value, bool), "true or false")
number = Rule(lambda value: type(value) is int or (type(value) is float and isfinite(value)), "a finite number")
nothing = Rule(lambda value: value is None, "null")
anything = Rule(lambda value: True, "anything")
table = Rule(lambda value: isinstance(value, dict), "a table")
label = either(text, flag, number)

FEATURES = {
    "named": flag,
    "lowest": either(nothing, whole(0, MOST_ID)),
    "highest": either(nothing, whole(0, MOST_ID)),
    "width": either(nothing, whole(0, MOST_ID + 1)),
    "kinds": list_of(pair_of(text, one_of(*KINDS))),
    "loose": flag,
    "indicator": flag,
    "crosses": list_of(text),
}
"""What a model's features are known by: the fields of `FeatureSpace`."""

RULES = {
    "learner": text,
    "settings": table,
    "task": one_of(*TASKS),
    "intercept": flag,
    "classes": list_of(label, MOST_CLASSES),
    "closed": flag,
    "names_hashed_by": one_of(NAME_RULE),
    "bits": whole(1, MOST_BITS),
    "seed": whole(0, MOST_SEED),
    "pairs": whole(),
    "scale_targets": flag,
    "standardize": flag,
    "forget": number,
    "examples": whole(),
    "unlabelled": whole(),
    "dimension": whole(1, SLOT_LIMIT + 1),
    "names": list_of(pair_of(whole(0, MOST_ID), text)),
    "features": table,
    "notes": table,
}
"""What stands in a model file beside the arrays."""


def check(stored: Any, rules: Mapping[str, Rule], what: str = "the description") -> None:
    """Refuse a table whose values are not what the rules of the same names say."""
    if not isinstance(stored, dict) or set(stored) != set(rules):
        names = reprlib.repr(sorted(stored)) if isinstance(stored, dict) else reprlib.repr(stored)
        raise OuzelError(f"{what} has {names}; expected {', '.join(rules)}")
    for name, rule in rules.items():
        if not rule.holds(stored[name]):
            raise OuzelError(f"{name} is not {rule.words}; got {reprlib.repr(stored[name])}")


def describe(model: Model, notes: dict[str, Any]) -> dict[str, Any]:
    """The description of a model but for the format of its file."""
    return {
        "learner": model.learner.name,
        "settings": to_json(model.settings),
        "task": model.task.name,
        "intercept": model.intercept,
        "classes": list(model.classes.known),
        "closed": model.classes.closed,
        "names_hashed_by": NAME_RULE,
        "bits": model.bits,
        "seed": model.seed,
        "pairs": model.pairs,
        "scale_targets": model.scale_targets,
        "standardize": model.standardize,
        "forget": model.forget,
        "examples": model.examples,
        "unlabelled": model.unlabelled,
        "dimension": model.dimension,
        "names": model.names.to_json(),
        "features": {**model.space._asdict(), "kinds": list(map(list, model.space.kinds.items()))},
        "notes": notes,
    }


def model_of(described: Any) -> Model:
    """The model that was described, without its states."""
    check(described, RULES)
    known = described["classes"]
    if len(set(known)) != len(known):
        raise OuzelError(f"classes are not different; got {reprlib.repr(known)}")
    if described["learner"] not in catalogue.LEARNERS:
        name = reprlib.repr(described["learner"])
        raise OuzelError(f"learner {name} is not known; if it is your own, import its module first (--import MODULE)")
    learner = catalogue.find(described["learner"])
    settings = resolve_settings(learner, from_json(learner.settings, described["settings"])._asdict())
    model = Model(
        learner.name,
        task=described["task"],
        begin=False,
        **{name: described[name] for name in ("intercept", "bits", "seed", "pairs", *PREPARED)},
        **settings._asdict(),
    )
    model.classes = Classes(known, described["closed"])
    model.examples, model.unlabelled = described["examples"], described["unlabelled"]
    model.dimension = described["dimension"]
    model.names = FeatureNames.from_json(described["names"])
    model.space = _space_of(described["features"])
    _check_reading(described["notes"].get("reading", {}))
    return model


def _space_of(stored: Any) -> FeatureSpace:
    """What the features of a model are known by, of what its file says."""
    check(stored, FEATURES, "what the features are known by")
    kinds = dict(stored["kinds"])
    space = FeatureSpace(**{**stored, "kinds": kinds, "crosses": tuple(stored["crosses"])})
    if as_crosses(space.crosses) != space.crosses:
        raise OuzelError(f"crosses are not in order; got {reprlib.repr(space.crosses)}")
    within = space.lowest is None or space.highest is None or space.lowest <= space.highest
    if (space.lowest is None) != (space.highest is None) or not within or len(kinds) != len(stored["kinds"]):
        raise OuzelError("what the features are known by contradicts itself")
    if space.width is not None and (space.named or (kinds and len(kinds) != space.width)):
        raise OuzelError(f"{len(kinds)} names do not fit {space.width} columns")
    return space


def _check_reading(stored: Any) -> None:
    """Refuse options of reading that `ouzel.read` would not take."""
    kinds: dict[Any, Rule] = {tuple: list_of(text), bool: flag, int: whole(), Limits: table}
    rules = {field.name: kinds.get(type(field.default), text) for field in fields(Options)}
    check(stored, {name: rules[name] for name in rules if name in stored}, "the way of reading")
    make_options(stored)
