"""From what a user says (names, numbers, sizes) to a learner's `Settings`."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import Any

from ouzel.errors import OuzelError, suggest
from ouzel.learners.catalogue import Learner
from ouzel.ranges import checked
from ouzel.terms.losses import OF_ANY_UNIT, REGRESSION
from ouzel.terms.names import RESOLVERS, resolve_penalty


def resolve_settings(learner: Learner, given: dict[str, Any]) -> Any:
    """The learner's `Settings` with the given values in place; an unknown or unusable one is an error.

    Terms may be names; `l1` and `l2` are the strengths of the penalty. The range of every number is checked.
    """
    kind = learner.settings
    values = {**dict(learner.preset), **{name: value for name, value in given.items() if value is not None}}
    check_names(learner, values)
    strengths = {name: values.pop(name) for name in ("l1", "l2") if name in values and name not in kind._fields}
    if strengths:
        values["penalty"] = resolve_penalty(values.get("penalty"), **strengths)
    terms = [name for name in values if isinstance(kind._field_defaults.get(name), tuple)]
    values |= {name: RESOLVERS[name](values[name]) for name in terms}
    if isinstance(values.get("loss"), REGRESSION):
        unset = {"second_loss": values["loss"], "third_loss": values["loss"]}
        if not isinstance(values["loss"], OF_ANY_UNIT):
            unset["largest"] = inf  # how large is not known
        values = {name: value for name, value in unset.items() if name in kind._fields} | values
    settings = kind(**checked(kind, values, f"of {learner.name}"))
    return settings.completed() if hasattr(settings, "completed") else settings  # what some settings make of others


def names_of(learner: Learner) -> tuple[str, ...]:
    """Names of the settings that a learner takes, those of a penalty's strengths included."""
    fields = learner.settings._fields
    return (*fields, *(name for name in ("l1", "l2") if "penalty" in fields and name not in fields))


def check_names(learner: Learner, given: Iterable[str]) -> None:
    """Refuse a setting that a learner does not have."""
    known = names_of(learner)
    for name in given:
        if name not in known:
            hint = suggest(name, known)
            raise OuzelError(f"learner {learner.name!r} has no setting {name!r}{hint}It has: {', '.join(known)}")
