"""Objects of JSON as examples: which of their members is the label, and what features the others are."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ouzel.numerals import is_number
from ouzel.streams.block import LARGEST
from ouzel.streams.dates import EXPECTED
from ouzel.streams.derived.members import Member, members_of, words_of_member
from ouzel.streams.dictionaries import date_features, word_of
from ouzel.streams.feature_space import CATEGORY, DATE, NUMBER, TEXT, Token, own_name
from ouzel.streams.label_values import Label, tidy
from ouzel.streams.missing import MARK, NOTHING, is_missing
from ouzel.streams.options import Options
from ouzel.streams.patterns import matches
from ouzel.streams.tables.kinds import ColumnKinds
from ouzel.streams.tables.labels import INFINITE, as_sign, group_id, is_infinite, label_of
from ouzel.streams.tokens import tokens


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
        tag = None if found is None else word_of(found)
    if not options.derived:
        return Example(_features(row, options, kinds), target, weight, group, tag, number)
    features: dict[Any, float] = {}
    members: list[Member] = []
    for name, value in row.items():
        made = _features({name: value}, options, kinds)
        features |= made
        kind = kinds.known.get(name) or options.kind_of(name)
        if isinstance(value, list) and made:
            members += words_of_member(name, _words(name, value, options.limits.word), f"{name}=")
        elif kind == TEXT and made:
            members += words_of_member(name, tokens(str(value)), f"{name}=" if kinds.several_texts else "")
        else:
            members += members_of(name, kind, made if made or not _is_zero(value) else {own_name(name): 0.0})
    return Example(features, target, weight, group, tag, number, members)


def _features(row: dict[str, Any], options: Options, kinds: ColumnKinds) -> dict[Any, float]:
    """Names and numbers of the features that members are; what is 0, or missing, is none."""
    longest, indicator, keep, known = options.limits.word, options.indicator, options.keep, kinds.known
    said = options.choosy
    features: dict[Any, float] = {}
    plain = kinds.plain
    for name, value in row.items():
        if name in plain and ((kind_of := type(value)) is float or kind_of is int) and -LARGEST <= value <= LARGEST:
            if value:
                features[plain[name]] = value
            continue
        if len(name) > longest:
            _check_length(name, name, longest)
        if keep and not matches(name, keep):
            continue
        kind = known.get(name) or (options.kind_of(name) if said else None)
        if isinstance(value, list):
            features |= dict.fromkeys((f"{name}={word}" for word in _words(name, value, longest)), 1.0)
            continue
        if kind == DATE and not is_missing(value):
            features |= _date_features(name, value)
            continue
        if kind == TEXT and value is not None:
            prefix = f"{name}=" if kinds.several_texts else ""
            for word in tokens(str(value)):
                _check_length(name, word, longest)
                features[Token(prefix + word)] = features.get(prefix + word, 0.0) + 1.0
            continue
        if isinstance(value, str):
            word = value.strip(" ")
            if word and word not in NOTHING and not (kind == NUMBER and is_number(word)):
                if len(word) > longest:
                    _check_length(name, word, longest)
                features[f"{name}={word}"] = 1.0
                continue
            value = float(word) if word and word not in NOTHING else None
        if value is None or value != value:
            if indicator:
                features[f"{name}={MARK}"] = 1.0
        elif kind == CATEGORY:
            features[f"{name}={_number_word(value)}"] = 1.0
        elif not abs(value) <= LARGEST:
            raise ValueError(f"{name!r}: {value}; expected a finite number that fits 32-bit floating point")
        elif value:
            features[own_name(name)] = value
            kinds.take_plain(name)
    return features


def _is_zero(value: Any) -> bool:
    """Whether a value is the number 0, which is not a feature, and yet has a place among numbers."""
    if isinstance(value, str):
        return is_number(value.strip(" ")) and float(value) == 0.0
    return isinstance(value, (int, float)) and value == 0


def _number_word(value: float | bool) -> str:
    """A number, or true or false, as the word that it is in a column of categories."""
    return json.dumps(tidy(value) if isinstance(value, float) and math.isfinite(value) else value)


def _group(row: dict[str, Any], options: Options) -> int:
    group = row.pop(str(options.group), None)
    if group is None or isinstance(group, list):
        raise ValueError(f"{options.group!r}: {group}; expected the name or number of a group")
    return group_id(group, options.seed)


def _date_features(name: str, value: Any) -> dict[Any, float]:
    try:
        return date_features(name, value)
    except ValueError:
        raise ValueError(f"{name!r}: {json.dumps(value)}; {EXPECTED}") from None


def _check_length(name: str | None, word: Any, longest: int) -> None:
    if isinstance(word, (str, bytes)) and len(word) > longest:
        raise LongWordError(f"{name!r}: {word!r}; ", "word")


def _words(name: str, items: list[Any], longest: int) -> Iterator[str]:
    """The items of a list as the words that other tables have for them."""
    for item in items:
        if is_missing(item):
            continue
        if isinstance(item, (dict, list)):
            raise ValueError(f"{name!r}: {json.dumps(item)} in a list; expected words and numbers there")
        if isinstance(item, (int, float)):
            if not abs(item) <= LARGEST:
                raise ValueError(
                    f"{name!r}: {item} in a list; expected a finite number that fits 32-bit floating point"
                )
            item = item if isinstance(item, int) else tidy(item)
        word = item.strip(" ") if isinstance(item, str) else json.dumps(item)
        _check_length(name, word, longest)
        yield word
