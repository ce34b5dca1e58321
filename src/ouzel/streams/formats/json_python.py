"""The parser of JSON objects in Python: any object as an example, its errors explained, and examples as blocks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from ouzel.errors import UnexpectedError
from ouzel.streams.block import LARGEST, LEAST, Block
from ouzel.streams.dictionaries import Ids, blocks_of_dictionaries
from ouzel.streams.feature_space import NUMBER, OTHER, TEXT, own_name
from ouzel.streams.kernels.lines import NOT_UTF8, SAVE_AS_UTF8
from ouzel.streams.label_columns import INFINITE, as_sign, find_label, group_id, is_infinite, label_of
from ouzel.streams.label_values import Label, text_of
from ouzel.streams.limits import Limits
from ouzel.streams.options import Options
from ouzel.streams.patterns import is_pattern, matches
from ouzel.streams.provenance import Member, factors_of, members_of
from ouzel.streams.sources.error_context import reason_of
from ouzel.streams.tables.schema import ColumnKinds
from ouzel.streams.values import BadValueError, add_to, features_of, is_of_other_kind, members_in, plain_value

SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")  # half a character, which is an error unless the other half follows
EXAMPLE = 'expected an object such as {"label": 1, "price": 2.5}'


def with_members(line: bytes, members: Mapping[str, Any]) -> bytes:
    """Append members to the object in a line; they replace its members of the same names.

    Any other line is returned unchanged: its reader says what is wrong with it.

    >>> with_members(b'{"x": 1}', {"label": "spam"}), with_members(b"oops", {"label": 1})
    (b'{"x": 1, "label": "spam"}', b'oops')
    """
    stripped = line.strip()
    if not members or not (stripped.startswith(b"{") and stripped.endswith(b"}")):
        return line
    inner = stripped[:-1].rstrip()
    comma = b"" if inner == b"{" else b", "
    return inner + comma + json.dumps(members, ensure_ascii=False).encode()[1:]


class LongWordError(UnexpectedError):
    """A name, a word or a label that exceeds a limit."""

    def __init__(self, word: str | bytes, limit: str, member: str) -> None:
        super().__init__(repr(word), "expected a shorter one", member=member)
        self.limit = limit


class Example(NamedTuple):
    """An object as an example."""

    features: dict[Any, Any]
    label: Label | None
    weight: float
    group: int
    tag: str | None
    number: int  # of objects before it, bad ones counted
    members: Sequence[Member] = ()  # the provenance of each feature, if there are crosses
    zeros: Mapping[Any, float] = {}  # numbers that are 0, and so not features, by name


def example_of(row: dict[str, Any], label: str | None, options: Options, kinds: ColumnKinds, number: int) -> Example:
    """Return an object as an example; `label` names its label. UnexpectedError if it is a bad one."""
    given = None if label is None else row.pop(label, None)
    if isinstance(given, list):
        raise UnexpectedError(given, "expected a label, a number or a name", member=label)
    if is_infinite(given):
        raise UnexpectedError(given, INFINITE, member=label)
    target = label_of(given)
    passed = options.limits.passed_by(len(target)) if isinstance(target, str) else ""
    if passed:
        raise LongWordError(str(target), passed, str(label))
    if options.label_positive is not None:
        target = as_sign(target, options.label_positive)
    weight = 1.0
    if options.weight is not None:
        found = row.pop(options.weight, None)
        if not isinstance(found, (int, float)) or not 0.0 <= found <= LARGEST:
            raise UnexpectedError(found, "expected a weight, a finite number of 0 or more", member=options.weight)
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
    """Return the features of members, names and numbers; a number that is 0 goes to `zeros` instead.

    With crosses, the provenance of features goes to `members`, too.
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
            raise UnexpectedError(json.dumps(value), error.expected, member=name) from None
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
        raise UnexpectedError(group, "expected the name or number of a group", member=options.group)
    return group_id(group, options.seed)


def _check_length(name: str, word: object, longest: int) -> None:
    if isinstance(word, (str, bytes)) and len(word) > longest:
        raise LongWordError(word, "word", name)


def _check_word(name: str, feature: Any, longest: int) -> None:
    """Refuse a feature whose word, without the name of its member, is too long."""
    if isinstance(feature, str) and len(feature) > longest:
        _check_length(name, feature.removeprefix(f"{name}="), longest)


def _check_number(name: str, number: float, where: str) -> None:
    if not abs(number) <= LARGEST:
        expected = "expected a finite number that fits 32-bit floating point"
        raise UnexpectedError(f"{number}{where}", expected, member=name)


def _check_items(name: str, items: list[Any]) -> None:
    """Refuse a list that holds anything but words and numbers."""
    for item in items:
        if isinstance(item, (dict, list)):
            found = f"{json.dumps(item)} in a list"
            raise UnexpectedError(found, "expected words and numbers there", member=name)
        if isinstance(item, (int, float)) and item == item:
            _check_number(name, item, " in a list")


def _whole(digits: str) -> int | float:
    """Return a whole number, as a float if it has more digits than any id or label."""
    return int(digits) if len(digits) < 40 else float(digits)


DECODER = json.JSONDecoder(parse_int=_whole)


class JsonExamples:
    """Makes examples of the objects of one stream, the source `name`; its label is chosen once."""

    def __init__(self, options: Options, kinds: ColumnKinds, name: str) -> None:
        self.options = options
        self.kinds = kinds
        self.name = name
        self.label: str | None = None
        self.sound = self.bad = 0  # objects so far
        self._ids = Ids(options)

    def infer(self, rows: list[dict[str, Any]], where: str | None = None) -> None:
        """Infer from the first objects which member is the label, and what the others hold.

        Members of a table at the place `where` must hold what is known of them.
        """
        options = self.options
        aside = (options.label, options.weight, options.group, options.id)
        seen = []
        for row in rows:
            with suppress(ValueError):  # the error comes when the row is read
                seen.append(flattened(row, options.ignore))
        if seen and self.label is None:
            self.label = find_label(options, list(seen[0]), self.name, self.kinds.say_once)
        self.kinds.look([{name: row[name] for name in row if name not in (*aside, self.label)} for row in seen], where)

    def example(self, row: dict[str, Any], place: str) -> Example:
        """Return the object at a place (`file:line`) as an example; UnexpectedError if it is not one."""
        flat = flattened(row, self.options.ignore)
        if self.label is None:
            self.label = find_label(self.options, list(flat), place, self.kinds.say_once)
        example = example_of(flat, self.label, self.options, self.kinds, self.sound + self.bad)
        self.sound += 1
        return example

    def blocks(self, examples: Sequence[Example]) -> Iterator[Block]:
        """Yield examples as blocks."""
        given = 0
        options = self.options
        rows = [
            ({**one.features, **_alone(one)} if one.zeros else one.features, one.label, one.weight) for one in examples
        ]
        for block in blocks_of_dictionaries(rows, options, plain=True, ids=self._ids):
            if block.space.width is None:
                block = block._replace(space=block.space._replace(kinds=dict(self.kinds.known), also=self.kinds.also))
            here = examples[given : given + block.rows]
            if options.derived:
                block = block._replace(factors=factors_of([one.members for one in here], options))
            if options.group is not None:
                block = block._replace(groups=np.array([example.group for example in here], np.int64))
            if options.id is not None:
                block = block._replace(tags=np.array([example.tag for example in here], object))
            yield block._replace(numbers=np.array([example.number for example in here], np.int64))
            given += block.rows


def _alone(example: Example) -> dict[Any, float]:
    """Return the zeros of an example for which it has no other value to add."""
    return {name: value for name, value in example.zeros.items() if name not in example.features}


def object_of(line: bytes) -> dict[str, Any]:
    """Return the object in a line; ValueError or RecursionError if there is none."""
    row = DECODER.decode(line.decode())
    if not isinstance(row, dict):
        raise UnexpectedError(f"a {type(row).__name__}", EXAMPLE)
    if SURROGATE.search(line):
        json.dumps(row, ensure_ascii=False).encode()  # UnicodeEncodeError if a half stands alone
    return row


def unexpected(error: Exception, limits: Limits) -> UnexpectedError:
    """Return any error of a bad object as what was found and what was expected."""
    if isinstance(error, json.JSONDecodeError):
        return UnexpectedError(f"no JSON ({error.msg})", EXAMPLE, column=error.colno)
    if isinstance(error, UnicodeDecodeError):
        return UnexpectedError(NOT_UTF8, SAVE_AS_UTF8)
    if isinstance(error, UnicodeEncodeError):
        return UnexpectedError("half of a surrogate pair", "expected text whose characters are whole")
    if isinstance(error, RecursionError):
        return UnexpectedError("objects or lists too deep in one another", EXAMPLE)
    if not isinstance(error, UnexpectedError):
        return UnexpectedError(reason_of(error), EXAMPLE)
    error.found = reason_of(error.found)
    if isinstance(error, LongWordError):
        error.expected = limits.expected(error.limit)
    return error


def flattened(row: dict[str, Any], ignored: Sequence[str] = (), outer: str = "") -> dict[str, Any]:
    """Return the members of an object, those of objects inside it as `outer.inner`, without ignored ones.

    UnexpectedError where two of them have one name, as `{"a": {"b": 1}, "a.b": 2}` has.

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
        inner = flattened(value, ignored, f"{outer}{name}.") if isinstance(value, dict) else {outer + name: value}
        twice = next((member for member in inner if member in found), None)
        if twice is not None:
            raise UnexpectedError(f"two members {twice!r}", "give each a name of its own")
        found |= inner
    return found
