"""JSON objects as examples, one at a time: their members are the features."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ouzel.numerals import is_number
from ouzel.streams.block import LARGEST, Block
from ouzel.streams.dictionaries import Ids, blocks_of_dictionaries, tokens
from ouzel.streams.feature_space import CATEGORY, NUMBER, TEXT, Token, own_name
from ouzel.streams.guard import reason_of
from ouzel.streams.label_values import Label, tidy
from ouzel.streams.missing import MARK, NOTHING, is_missing
from ouzel.streams.options import Options, is_pattern, matches
from ouzel.streams.tables.kinds import ColumnKinds, given_kind
from ouzel.streams.tables.labels import INFINITE, as_sign, find_label, group_id, is_infinite, label_of

SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")  # half a character, which is none unless the other half follows
EXAMPLE = 'expected an object such as {"label": 1, "price": 2.5}'


class LongWordError(ValueError):
    """A label, a name or a word beyond the limit."""


def _whole(digits: str) -> int | float:
    """A whole number, as a float if it has more digits than any id or label."""
    return int(digits) if len(digits) < 40 else float(digits)


DECODER = json.JSONDecoder(parse_int=_whole)

Example = tuple[dict[Any, Any], Label | None, float, int]  # features, label, weight, group


class JsonExamples:
    """What the objects of one stream, the source `name`, are as examples: which member is the label is decided once."""

    def __init__(self, options: Options, kinds: ColumnKinds, name: str) -> None:
        self.options = options
        self.kinds = kinds
        self.name = name
        self.label: str | None = None
        self._ids = Ids(options)

    def look(self, rows: list[dict[str, Any]]) -> None:
        """Decide by the first objects what members hold."""
        options = self.options
        aside = (options.label, options.weight, options.group)
        seen = [flattened(row, options.ignore) for row in rows]
        named = self.label or (find_label(options, list(seen[0]), self.name) if seen else None)
        self.kinds.look([{name: row[name] for name in row if name not in (*aside, named)} for row in seen])

    def example(self, row: dict[str, Any], place: str) -> Example:
        """One object, met at a place (`file:line`), as an example; ValueError("found; expected") if it is not one."""
        flat = flattened(row, self.options.ignore)
        if self.label is None:
            self.label = find_label(self.options, list(flat), place)
        return _example(flat, self.label, self.options, self.kinds)

    def blocks(self, examples: Sequence[Example]) -> Iterator[Block]:
        """Examples as blocks."""
        given = 0
        options = self.options
        for block in blocks_of_dictionaries([example[:3] for example in examples], options, plain=True, ids=self._ids):
            if block.space.width is None:
                block = block._replace(space=block.space._replace(kinds=dict(self.kinds.known)))
            groups = np.array([example[3] for example in examples[given : given + block.rows]], np.int64)
            yield block if options.group is None else block._replace(groups=groups)
            given += block.rows


def object_of(line: bytes) -> dict[str, Any]:
    """The object that a line is; ValueError or RecursionError if it is not one."""
    row = DECODER.decode(line.decode())
    if not isinstance(row, dict):
        raise ValueError(f"a {type(row).__name__}; {EXAMPLE}")
    if SURROGATE.search(line):
        json.dumps(row, ensure_ascii=False).encode()  # UnicodeEncodeError if a half stands alone
    return row


def said_of(error: Exception) -> tuple[str, str]:
    """What was found, and what was expected."""
    if isinstance(error, json.JSONDecodeError):
        return f"no JSON ({error.msg})", EXAMPLE
    if isinstance(error, UnicodeDecodeError):
        return "bytes that are no UTF-8", "expected JSON text; save the file as UTF-8"
    if isinstance(error, UnicodeEncodeError):
        return "half of a surrogate pair", "expected text whose characters are whole"
    if isinstance(error, RecursionError):
        return "objects or lists too deep in one another", EXAMPLE
    found, parted, expected = str(error).rpartition("; ")
    return (reason_of(found), expected) if parted else (reason_of(expected), EXAMPLE)


def flattened(row: dict[str, Any], ignored: Sequence[str] = (), outer: str = "") -> dict[str, Any]:
    """The members of an object, those of objects inside it as `outer.inner`, but for those to be ignored.

    >>> flattened({"a": {"b": 1, "c": {"d": 2}}, "e": 3}, ignored=["e"])
    {'a.b': 1, 'a.c.d': 2}
    """
    if not outer and dict not in set(map(type, row.values())) and not any(map(is_pattern, ignored)):
        found = row.copy()
        for name in ignored:
            found.pop(name, None)
        return found
    found = {}
    for name, value in row.items():
        if ignored and matches(outer + name, tuple(ignored)):
            continue
        if isinstance(value, dict):
            found |= flattened(value, ignored, f"{outer}{name}.")
        else:
            found[outer + name] = value
    return found


def _example(row: dict[str, Any], label: str | None, options: Options, kinds: ColumnKinds) -> Example:
    given = None if label is None else row.pop(label, None)
    if isinstance(given, list):
        raise ValueError(f"{label!r}: {given}; expected a label, a number or a name")
    if is_infinite(given):
        raise ValueError(f"{label!r}: {given}; {INFINITE}")
    longest = options.limits.word
    target = label_of(given)
    _check_length(label, target, longest)
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
    return _features(row, options, kinds), target, weight, group


def _features(row: dict[str, Any], options: Options, kinds: ColumnKinds) -> dict[Any, float]:
    """Names and numbers of the features that members are; what is 0, or missing, is none."""
    longest, indicator, keep, known = options.limits.word, options.indicator, options.keep, kinds.known
    said = bool(options.text or options.categorical or options.numeric)
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
        kind = known.get(name) or (given_kind(name, options) if said else None)
        if isinstance(value, list):
            features |= dict.fromkeys((f"{name}={word}" for word in _words(name, value, longest)), 1.0)
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


def _number_word(value: float | bool) -> str:
    """A number, or true or false, as the word that it is in a column of categories."""
    return json.dumps(tidy(value) if isinstance(value, float) and math.isfinite(value) else value)


def _group(row: dict[str, Any], options: Options) -> int:
    group = row.pop(str(options.group), None)
    if group is None or isinstance(group, list):
        raise ValueError(f"{options.group!r}: {group}; expected the name or number of a group")
    return group_id(group, options.seed)


def _check_length(name: str | None, word: Any, longest: int) -> None:
    if isinstance(word, (str, bytes)) and len(word) > longest:
        raise LongWordError(f"{name!r}: {word!r}; ")


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
