"""Objects of JSON as examples: which of their members is the label, and what features the others are."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ouzel.streams.block import LARGEST, LEAST
from ouzel.streams.derived.members import Member, members_of
from ouzel.streams.feature_space import NUMBER, OTHER, TEXT, own_name
from ouzel.streams.label_values import Label, text_of
from ouzel.streams.options import Options
from ouzel.streams.patterns import matches
from ouzel.streams.tables.kinds import ColumnKinds
from ouzel.streams.tables.labels import INFINITE, as_sign, group_id, is_infinite, label_of
from ouzel.streams.values import BadValueError, add_to, features_of, is_of_other_kind, members_in, plain_value


class LongWordError(ValueError):
    """A name, a word or a label beyond a limit, that of a word or that of a label."""

    def __init__(self, found: str, limit: str) -> None:
        super().__init__(found)
        self.limit = limit


class Example(NamedTuple):
    """An object as an example."""

    features: dict[Any, Any]
    label: Label | None
    weight: float
    group: int
    tag: str | None
    number: int  # of objects before it, bad ones counted
    members: Sequence[Member] = ()  # of which each feature is made, if others are to be made of them
    zeros: Mapping[Any, float] = {}  # numbers that are 0 and so no features, by name


def example_of(row: dict[str, Any], label: str | None, options: Options, kinds: ColumnKinds, number: int) -> Example:
    """The example that an object makes, whose label is the member of that name; ValueError of a bad one."""
    given = None if label is None else row.pop(label, None)
    if isinstance(given, list):
        raise ValueError(f"{label!r}: {given}; expected a label, a number or a name")
    if is_infinite(given):
        raise ValueError(f"{label!r}: {given}; {INFINITE}")
    target = label_of(given)
    passed = options.limits.passed_by(len(target)) if isinstance(target, str) else ""
    if passed:
        raise LongWordError(f"{label!r}: {target!r}; ", passed)
    if options.label_positive is not None:
        target = as_sign(target, options.label_positive)
    weight = 1.0
    if options.weight is not None:
        found = row.pop(options.weight, None)
        if not isinstance(found, (int, float)) or not 0.0 <= found <= LARGEST:
            raise ValueError(f"{options.weight!r}: {found}; expected a weight, a finite number of 0 or more")
        weight = float(found)
    group = 0
    if options.group is not None:
        group = _group(row, options)
    tag = None
    if options.id is not None:
        found = row.pop(options.id, None)
        tag = None if found is None else text_of(found)
    members: list[Member] = []
    zeros: dict[Any, float] = {}
    features = _features(row, options, kinds, zeros, members if options.derived else None)
    return Example(features, target, weight, group, tag, number, members, zeros)


def _features(
    row: dict[str, Any],
    options: Options,
    kinds: ColumnKinds,
    zeros: dict[Any, float],
    members: list[Member] | None,
) -> dict[Any, float]:
    """Names and numbers of the features that members are; a number that is 0 is none, and comes to `zeros`.

    Where others are made of them, they come to `members`, too.
    """
    longest, indicator, keep, known = options.limits.word, options.indicator, options.keep, kinds.known
    said, plain = options.choosy, kinds.plain
    features: dict[Any, float] = {}
    for name, value in row.items():
        if name in plain and ((kind_of := type(value)) is float or kind_of is int) and -LARGEST <= value <= LARGEST:
            if not (value > LEAST or value < -LEAST):
                zeros[plain[name]] = value
            elif plain[name] in features:
                add_to(features, plain[name], value)
            else:
                features[plain[name]] = value
            if members is not None:
                members += members_of(name, {plain[name]: value})
            continue
        _check_length(name, name, longest)
        if keep and not matches(name, keep):
            continue
        kind = known.get(name) or (options.kind_of(name) if said else None)
        prefix = f"{name}=" if kind == TEXT and kinds.several_texts else ""
        if isinstance(value, list):
            _check_items(name, value)
        try:
            made = features_of(name, value, kind, prefix, indicator, kinds.is_strict(name))
        except BadValueError as error:
            raise ValueError(f"{name!r}: {json.dumps(value)}; {error.expected}") from None
        if kind in OTHER and kind == known.get(name) and is_of_other_kind(plain_value(value), kind):
            kinds.note_other(name, OTHER[kind])
        if name in made:
            made = {own_name(name): made.pop(name), **made}
            _check_number(name, made[own_name(name)], "")
            if kind in (None, NUMBER):
                kinds.take_plain(name)
        for feature in made:
            _check_word(name, feature, longest)
        if members is not None and made:
            members += members_in(name, value, kind, prefix, made)
        for feature, number in made.items():
            if abs(number) <= LEAST:
                zeros[feature] = number
            else:
                add_to(features, feature, number)
    return features


def _group(row: dict[str, Any], options: Options) -> int:
    group = row.pop(str(options.group), None)
    if group is None or isinstance(group, list):
        raise ValueError(f"{options.group!r}: {group}; expected the name or number of a group")
    return group_id(group, options.seed)


def _check_length(name: str | None, word: Any, longest: int) -> None:
    if isinstance(word, (str, bytes)) and len(word) > longest:
        raise LongWordError(f"{name!r}: {word!r}; ", "word")


def _check_word(name: str, feature: Any, longest: int) -> None:
    """Refuse a feature whose word, behind the name of its member, is too long."""
    if isinstance(feature, str) and len(feature) > longest:
        _check_length(name, feature.removeprefix(f"{name}="), longest)


def _check_number(name: str, number: float, where: str) -> None:
    if not abs(number) <= LARGEST:
        raise ValueError(f"{name!r}: {number}{where}; expected a finite number that fits 32-bit floating point")


def _check_items(name: str, items: list[Any]) -> None:
    """Refuse a list that holds more than words and numbers."""
    for item in items:
        if isinstance(item, (dict, list)):
            raise ValueError(f"{name!r}: {json.dumps(item)} in a list; expected words and numbers there")
        if isinstance(item, (int, float)) and item == item:
            _check_number(name, item, " in a list")
