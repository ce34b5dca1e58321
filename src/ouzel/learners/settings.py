"""From what a user says (names, numbers, sizes) to a learner's `Settings`."""

from __future__ import annotations

import difflib
from math import inf, isnan
from typing import Any

from ouzel.errors import OuzelError
from ouzel.learners.catalogue import Learner
from ouzel.learners.words import number_of
from ouzel.numerals import as_size
from ouzel.terms.losses import REGRESSION
from ouzel.terms.names import resolve_loss, resolve_penalty, resolve_schedule


def parse_bytes(size: str | float) -> float:
    """Bytes of a size such as "8KB" or "1.4MB" (1 KB is 1,024 bytes); a number is taken as bytes.

    >>> parse_bytes("8KB")
    8192.0
    """
    if not isinstance(size, str):
        return float(size)
    found = as_size(size)
    if isnan(found):
        raise OuzelError(f"a size is a number of bytes such as 8KB or 1.4MB; got {size!r}")
    return found


def resolve_settings(learner: Learner, given: dict[str, Any]) -> Any:
    """The learner's `Settings` with the given values in place; an unknown or unusable one is an error.

    `loss` and `penalty` may be names; `l1` and `l2` are the strengths of the penalty.
    """
    kind = learner.module.Settings
    values = {**dict(learner.preset), **{name: value for name, value in given.items() if value is not None}}
    strengths = {name: float(values.pop(name)) for name in ("l1", "l2") if name in values and name not in kind._fields}
    if strengths or "penalty" in values:
        values["penalty"] = resolve_penalty(values.get("penalty"), **strengths)
    if "loss" in values:
        values["loss"] = resolve_loss(values["loss"])
        for name in ("second_loss", "third_loss"):
            if isinstance(values["loss"], REGRESSION) and name in kind._fields:
                values.setdefault(name, values["loss"])
        if isinstance(values["loss"], REGRESSION) and "largest" in kind._fields:
            values.setdefault("largest", inf)  # of what size the numbers are is not known
    if "schedule" in values:
        values["schedule"] = resolve_schedule(values["schedule"])
    for name, value in values.items():
        if name not in kind._fields:
            raise OuzelError(_unknown(learner, name))
        if not isinstance(value, tuple):
            values[name] = _number(learner, name, number_of(kind, name, value))
    return kind(**values)


def _number(learner: Learner, name: str, value: Any) -> float:
    try:
        return parse_bytes(value) if name == "budget" else float(value)
    except (TypeError, ValueError):
        raise OuzelError(f"setting {name!r} of {learner.name} is a number; got {value!r}") from None


def _unknown(learner: Learner, name: str) -> str:
    fields = learner.module.Settings._fields
    close = difflib.get_close_matches(name, fields, 1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    return f"learner {learner.name!r} has no setting {name!r}; {hint}It has: {', '.join(fields)}"
