"""JSON objects as examples by the slow rule, one at a time, and examples as blocks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from ouzel.errors import UnexpectedError
from ouzel.streams.block import LARGEST, LEAST, Block
from ouzel.streams.dictionaries import NUMERIC, Ids, ObjectReader, blocks_of_dictionaries
from ouzel.streams.feature_names import is_named
from ouzel.streams.feature_space import OTHER, column_key
from ouzel.streams.feature_specs import is_pattern, matches
from ouzel.streams.interaction_inputs import SourceField, inputs_of_rows
from ouzel.streams.kernels.lines import NOT_UTF8, SAVE_AS_UTF8
from ouzel.streams.labels import INFINITE, Label, as_sign, find_label, group_id, is_infinite, label_of, text_of
from ouzel.streams.limits import Limits
from ouzel.streams.options import Options
from ouzel.streams.sources.error_context import reason_of
from ouzel.streams.tables.schema import ColumnKinds
from ouzel.streams.values import BadValueError, is_of_other_kind, plain_value

SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")  # half a character, which is an error unless the other half follows
BLANKS = re.compile(r"[ \t\r\n]*")
KINDS = {int: "a number", float: "a number", str: "a string", bool: "a truth value", type(None): "null", list: "a list"}
EXAMPLE = 'expected an object such as {"label": 1, "price": 2.5}'


def with_members(line: bytes, members: Mapping[str, Any]) -> bytes:
    """The line of an object with more members at its end, which replace earlier ones of their names.

    Any other line is returned unchanged: the reader reports its errors.

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
    """A name, a word or a label that passes the limit of a word, or that of a label."""

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
    number: int  # its position in the stream, where bad objects count
    sources: Sequence[SourceField] = ()  # of each feature, if others are derived
    zeros: Mapping[Any, float] = {}  # numbers that are 0 and so no features, by name


def example_of(row: dict[str, Any], label: str | None, reader: MemberReader, number: int) -> Example:
    """The example of an object, whose label is the member of that name; UnexpectedError if it is none."""
    options = reader.options
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
    sources: list[SourceField] | None = [] if options.derived else None
    features = reader.read(row, sources)
    zeros = {name: features.pop(name) for name in [name for name in features if -LEAST <= features[name] <= LEAST]}
    return Example(features, target, weight, group, tag, number, sources or (), zeros)


class MemberReader(ObjectReader):
    """Makes features of the members of JSON objects, and checks their names, words and numbers."""

    def __init__(self, options: Options, columns: ColumnKinds) -> None:
        super().__init__(options, options.space, columns.known)
        self._by_kind = False  # every name is checked once
        self._columns, self._numeric = columns, columns.numeric

    def admits(self, name: str, value: Any) -> bool:
        """Whether a member is read, and not left out; UnexpectedError if its name or its list is refused."""
        _check_length(name, name, self.options.limits.word)
        column_key(name)
        if not is_named(name) or (self.options.keep and not matches(name, self.options.keep)):
            return False
        if isinstance(value, list):
            _check_items(name, value)
        return True

    def checked(self, name: str, value: Any, kind: str | None, made: dict[Any, float]) -> dict[Any, float]:
        """The features `made` of a member; a number of one that is named by a whole number has that id."""
        if kind in OTHER and kind == self.kinds.get(name) and is_of_other_kind(plain_value(value), kind):
            self._columns.note_other(name, OTHER[kind])
        if name in made:
            feature = column_key(name)
            made = {feature: made.pop(name), **made}
            _check_number(name, made[feature], "")
            if kind in NUMERIC:
                self._mark_numeric(name, feature)
        for feature in made:
            _check_word(name, feature, self.options.limits.word)
        return made

    def is_strict(self, name: str) -> bool:
        """Whether the model knows that a member has values of one kind alone."""
        return self._columns.is_strict(name)

    def has_several_texts(self, row: Mapping[str, Any]) -> bool:
        """Whether there is more than one column of text in the stream."""
        return self._columns.several_texts

    def refusal(self, name: str, value: Any, error: BadValueError) -> Exception:
        """The error of a value that its member cannot have."""
        return UnexpectedError(json.dumps(value), error.expected, member=name)


def _group(row: dict[str, Any], options: Options) -> int:
    group = row.pop(str(options.group), None)
    if group is None or isinstance(group, list):
        raise UnexpectedError(group, "expected the name or number of a group", member=options.group)
    return group_id(group, options.seed)


def _check_length(name: str, word: object, longest: int) -> None:
    if isinstance(word, (str, bytes)) and len(word) > longest:
        raise LongWordError(word, "word", name)


def _check_word(name: str, feature: Any, longest: int) -> None:
    """Refuse a feature whose word, after the name of its member, is too long."""
    if isinstance(feature, str) and len(feature) > longest:
        _check_length(name, feature.removeprefix(f"{name}="), longest)


def _check_number(name: str, number: float, where: str) -> None:
    if not abs(number) <= LARGEST:
        expected = "expected a finite number that fits 32-bit floating point"
        raise UnexpectedError(f"{number}{where}", expected, member=name)


def _check_items(name: str, items: list[Any]) -> None:
    """Refuse a list of other items than words and numbers."""
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
    """Makes examples of the objects of one stream, the source `name`; the label's member is chosen once."""

    def __init__(self, options: Options, kinds: ColumnKinds, name: str) -> None:
        self.options = options
        self.kinds = kinds
        self.name = name
        self.label: str | None = None
        self.sound = self.bad = 0  # objects so far
        self._ids = Ids(options)
        self._reader = MemberReader(options, kinds)

    def infer(self, rows: list[dict[str, Any]], where: str | None = None) -> None:
        """Choose the label's member by the first objects, if possible, and infer the kinds of the others.

        Members of a table, at the place `where`, must be of their known kinds.
        """
        options = self.options
        aside = (options.label, options.weight, options.group, options.id)
        seen = []
        for row in rows:
            with suppress(ValueError):  # reported when the row is read
                seen.append(flattened(row, options.ignore))
        if seen and self.label is None:
            self.label = find_label(options, list(seen[0]), self.name, self.kinds.say_once)
        self.kinds.infer([{name: row[name] for name in row if name not in (*aside, self.label)} for row in seen], where)

    def example(self, row: dict[str, Any], place: str) -> Example:
        """The example of an object at a place (`file:line`); UnexpectedError if it is none."""
        flat = flattened(row, self.options.ignore)
        if self.label is None:
            self.label = find_label(self.options, list(flat), place, self.kinds.say_once)
        example = example_of(flat, self.label, self._reader, self.sound + self.bad)
        self.sound += 1
        return example

    def blocks(self, examples: Sequence[Example]) -> Iterator[Block]:
        """Yield examples as blocks."""
        given = 0
        options = self.options
        rows = [
            ({**one.features, **one.zeros} if one.zeros else one.features, one.label, one.weight) for one in examples
        ]
        for block in blocks_of_dictionaries(rows, options, plain=True, ids=self._ids):
            if block.space.width is None:
                block = block._replace(space=block.space._replace(kinds=dict(self.kinds.known), mixed=self.kinds.mixed))
            here = examples[given : given + block.rows]
            if options.derived:
                block = block._replace(interaction_inputs=inputs_of_rows([one.sources for one in here], options))
            if options.group is not None:
                block = block._replace(groups=np.array([example.group for example in here], np.int64))
            if options.id is not None:
                block = block._replace(tags=np.array([example.tag for example in here], object))
            yield block._replace(numbers=np.array([example.number for example in here], np.int64))
            given += block.rows


def value_of(text: bytes) -> Any:
    """The value of a JSON text, wherever JSON is read; ValueError or RecursionError if it is none.

    It may hold NaN, which is missing, and Infinity, for readers to refuse. Control characters are refused in strings
    (RFC 8259), line breaks among them.

    >>> value_of(b'{"x": NaN, "word": "of two\\\\nlines"}')
    {'x': nan, 'word': 'of two\\nlines'}
    """
    value = DECODER.decode(text.decode())
    if SURROGATE.search(text):
        json.dumps(value, ensure_ascii=False).encode()  # UnicodeEncodeError if a half stands alone
    return value


def items_of(text: bytes) -> list[bytes]:
    """The items of a JSON array, each as it is written; ValueError or RecursionError if the text is no array.

    >>> items_of(b' [{"x": NaN}, 2 ] ')
    [b'{"x": NaN}', b'2']
    """
    import msgspec  # for the service alone

    try:
        return list(map(bytes, msgspec.json.decode(text, type=list[msgspec.Raw])))
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _items_of(text.decode())


def _items_of(text: str) -> list[bytes]:
    """The items of an array that has NaN, Infinity, or halves of surrogate pairs; or the error of a text."""
    items: list[bytes] = []
    at = _behind_blanks(text, 0)
    if text[at : at + 1] != "[":
        raise json.JSONDecodeError("Expecting '['", text, at)
    while not items or text[at : at + 1] == ",":
        start = _behind_blanks(text, at + 1)
        _, end = DECODER.raw_decode(text, start)
        items.append(text[start:end].encode())
        at = _behind_blanks(text, end)
    if text[at : at + 1] != "]":
        raise json.JSONDecodeError("Expecting ',' delimiter", text, at)
    if _behind_blanks(text, at + 1) < len(text):
        raise json.JSONDecodeError("Extra data", text, at + 1)
    return items


def _behind_blanks(text: str, at: int) -> int:
    """The position of the first character from `at` on that is not a blank of JSON."""
    found = BLANKS.match(text, at)
    assert found is not None
    return found.end()


def object_of(line: bytes) -> dict[str, Any]:
    """The object in a line; ValueError or RecursionError if there is none."""
    row = value_of(line)
    if not isinstance(row, dict):
        raise UnexpectedError(KINDS[type(row)], EXAMPLE)
    return row


def unexpected(error: Exception, limits: Limits) -> UnexpectedError:
    """The error of an object that is no example as an UnexpectedError, whatever was raised."""
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
    """The members of an object without ignored ones, those of objects inside it as `outer.inner`.

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
