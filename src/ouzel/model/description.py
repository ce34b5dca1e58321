"""The description of a model in its file: JSON values, each checked by its type before anything is made of it."""

from __future__ import annotations

import reprlib
from dataclasses import fields
from typing import Annotated, Any

from ouzel.errors import ImportNeededError, OuzelError
from ouzel.learners import catalogue
from ouzel.model.label_encoder import MOST_CLASSES, Classes
from ouzel.model.model import SLOT_LIMIT, Model
from ouzel.model.settings import BALANCED, MOST_LEVELS, check_interval, resolve_settings
from ouzel.model.slot_map import MOST, SlotMap
from ouzel.model.tasks.choose import TASKS
from ouzel.ranges import Bits, Choice, Label, Range, Seed, Table, check_stored
from ouzel.sketches.hashing import MOST_ID
from ouzel.streams.feature_names import FeatureNames
from ouzel.streams.limits import Limits
from ouzel.streams.options import Options, make_options
from ouzel.streams.stored_space import described as described_space
from ouzel.streams.stored_space import space_of
from ouzel.terms.names import from_json, to_json

PREPARED = ("scale_targets", "standardize", "forget")  # what a model does with examples before it learns them
NAME_RULE = "murmur3-32"  # how names become ids

Id = Annotated[int, Range(0, MOST_ID, whole=True)]
DESCRIPTION: dict[str, Any] = {
    "learner": str,
    "settings": Table,
    "task": Annotated[str, Choice(tuple(TASKS))],
    "intercept": bool,
    "classes": Annotated[list[Label], Range(high=MOST_CLASSES)],
    "closed": bool,
    "names_hashed_by": Annotated[str, Choice((NAME_RULE,))],
    "bits": Bits,
    "seed": Seed,
    "pairs": int,
    "scale_targets": bool,
    "standardize": bool | Annotated[str, Choice(("auto",))],
    "forget": float,
    "examples": int,
    "unlabelled": int,
    "dimension": Annotated[int, Range(1, SLOT_LIMIT + 1, whole=True)],
    "names": list[tuple[Id, str]],
    "features": Table,
    "notes": Table,
}
"""What stands in a model file beside the arrays."""
SOMETIMES: dict[str, Any] = {
    "slots": Annotated[list[Id], Range(high=MOST)],  # of feature ids that get slots as they come; else it is id + 1
    "class_weight": Annotated[str, Choice((BALANCED,))]
    | Annotated[list[tuple[Label, float]], Range(high=MOST_CLASSES)],
    "interval": Annotated[list[float], Range(1, MOST_LEVELS)],  # levels of intervals, smallest first
    "interval_by": str,  # the column that they are kept by
    "calibrate": bool,
    "places": Annotated[int, Range(1, 64, whole=True)],  # of scaled columns within a byte budget
    "surplus": Annotated[int, Range(-45, 5, whole=True)],  # of rows with large values, until features are scaled
    "class_counts": Annotated[list[float], Range(high=MOST_CLASSES + 1)],  # balanced: sums of importances, of all first
}
"""What stands there of some models."""
NEWER = {"auto": ("forms", "derived_budget")}
"""Settings of learners that files of earlier versions lack; they are the defaults."""
FORMER = {"auto": ("second_loss", "third_loss")}
"""Settings of learners that files of earlier versions have; they are left out."""


def describe(model: Model, notes: dict[str, Any]) -> dict[str, Any]:
    """The description of a model but for the format of its file."""
    slots = {} if model.slot_map is None else {"slots": model.slot_map.ids.tolist()}
    return {
        **slots,
        **_class_weights_of(model),
        **({"interval": list(model.interval)} if model.interval else {}),
        **({"interval_by": model.interval_by} if model.interval_by is not None else {}),
        **({"calibrate": True} if model.calibrate else {}),
        **({"places": model.preparation.places} if model.preparation.places else {}),
        **({"surplus": model.preparation.surplus} if model.preparation.surplus is not None else {}),
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
        "features": described_space(model.space),
        "notes": notes,
    }


def _class_weights_of(model: Model) -> dict[str, Any]:
    """The weights of a model's classes, if it has any."""
    weights = model.preparation.class_weights
    if weights is None:
        return {}
    if isinstance(weights.given, dict):
        return {"class_weight": [[label, weight] for label, weight in weights.given.items()]}
    return {"class_weight": weights.given, "class_counts": weights.sums()}


def model_of(described: Any) -> Model:
    """The model that was described, without its states."""
    more = set(described) & set(SOMETIMES) if isinstance(described, dict) else set()
    check_stored(described, DESCRIPTION | {name: SOMETIMES[name] for name in SOMETIMES if name in more})
    if list(check_interval(described.get("interval"))) != described.get("interval", []):
        raise OuzelError("interval are not levels that rise")
    mapped, weighed = "slots" in more, described.get("class_weight")
    known = described["classes"]
    if len(set(known)) != len(known):
        raise OuzelError(f"classes are not different; got {reprlib.repr(known)}")
    if described["learner"] not in catalogue.LEARNERS:
        name = reprlib.repr(described["learner"])
        raise ImportNeededError(
            f"the learner {name} is not known; if it is your own, import its module first (--import MODULE)"
        )
    learner = catalogue.find(described["learner"])
    defaults = {name: learner.settings._field_defaults[name] for name in NEWER.get(learner.name, ())}
    former = FORMER.get(learner.name, ())
    stored = defaults | {name: value for name, value in described["settings"].items() if name not in former}
    settings = resolve_settings(learner, from_json(learner.settings, stored)._asdict())
    model = Model(
        learner.name,
        task=described["task"],
        begin=False,
        class_weight=dict(weighed) if isinstance(weighed, list) else weighed,
        interval=described.get("interval"),
        interval_by=described.get("interval_by"),
        calibrate=described.get("calibrate", False),
        **{name: described[name] for name in ("intercept", "bits", "seed", "pairs", *PREPARED)},
        **settings._asdict(),
    )
    model.classes = Classes(known, described["closed"])
    _count_classes(model, described.get("class_counts"))
    model.examples, model.unlabelled = described["examples"], described["unlabelled"]
    model.dimension = described["dimension"]
    if described.get("places", 0) and not model.preparation.within:
        raise OuzelError("places are those of a learner of a byte budget that scales columns")
    model.preparation.places = described.get("places", 0)
    if "surplus" in described and (not model.preparation.automatic or model.preparation.within):
        raise OuzelError("surplus is that of a model that begins to scale by itself")
    model.preparation.surplus = described.get("surplus")
    model.preparation.looks |= model.preparation.places > 0
    if mapped or model.slot_map is not None:
        model.slot_map = _slot_map(model, described)
    model.names = FeatureNames.from_json(described["names"])
    model.space = space_of(described["features"])
    _check_reading(described["notes"].get("reading", {}))
    return model


def _count_classes(model: Model, counts: list[float] | None) -> None:
    """Have the counts of a description's classes."""
    weights = model.preparation.class_weights
    balanced = weights is not None and weights.given == BALANCED
    if balanced != (counts is not None):
        raise OuzelError("class_counts are those of balanced classes, and of no others")
    if weights is not None and counts is not None:
        if not 0 < len(counts) <= len(model.classes) + 1 or min(counts) < 0.0:
            raise OuzelError(f"class_counts are not those of {len(model.classes)} classes")
        weights.take(counts)


def _slot_map(model: Model, described: dict[str, Any]) -> SlotMap:
    """The slots of a description's feature ids."""
    features = described["dimension"] - 1
    ids = described.get("slots", range(min(features, MOST + 1)))
    if model.slot_map is None or len(ids) > MOST or len(set(ids)) < len(ids) or max(ids, default=-1) >= features:
        raise OuzelError(f"slots are not those of {features} features of {model.learner.name}")
    return SlotMap(ids)


def _check_reading(stored: Any) -> None:
    """Refuse options of reading that `ouzel.read` would not take."""
    kinds: dict[Any, Any] = {tuple: list[str], bool: bool, int: int, Limits: Table}
    rules = {field.name: kinds.get(type(field.default), str) for field in fields(Options)}
    check_stored(stored, {name: rules[name] for name in rules if name in stored}, "the way of reading")
    make_options(stored)
