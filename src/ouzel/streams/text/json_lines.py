"""JSON lines as a stream: an object a line, its members the features."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import numpy as np
import pyarrow

from ouzel.errors import DataError
from ouzel.numerals import is_number
from ouzel.streams.block import LARGEST, Block
from ouzel.streams.dictionaries import blocks_of_dictionaries, tokens
from ouzel.streams.feature_space import CATEGORY, NUMBER, TEXT, Token, own_name
from ouzel.streams.guard import reason_of
from ouzel.streams.label_values import Label, tidy
from ouzel.streams.missing import MARK, NOTHING, is_missing
from ouzel.streams.options import Options, matches
from ouzel.streams.sources.chunks import chunks_of
from ouzel.streams.sources.source import Source
from ouzel.streams.tables.kinds import SAMPLE, ColumnKinds, given_kind
from ouzel.streams.tables.labels import INFINITE, as_sign, find_label, group_id, is_infinite, label_of
from ouzel.streams.text.lines import Problem, too_long

SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")  # half a character, which is none unless the other half follows
EXAMPLE = 'expected an object such as {"label": 1, "price": 2.5}'


class LongWordError(ValueError):
    """A label, a name or a word beyond the limit."""


def _whole(digits: str) -> int | float:
    """A whole number, as a float if it has more digits than any id or label."""
    return int(digits) if len(digits) < 40 else float(digits)


DECODER = json.JSONDecoder(parse_int=_whole)

Skipped = Callable[[int], None]
Made = TypeVar("Made")
Example = tuple[dict[Any, Any], Label | None, float, int]  # features, label, weight, group


def json_rows(
    source: Source,
    options: Options,
    skipped: Skipped,
    make: Callable[[dict[str, Any], str], Made],
    look: Callable[[list[dict[str, Any]]], None] = lambda rows: None,
) -> Iterator[list[Made]]:
    """What `make` makes of each object and its place (`file:line`), by chunks; blank lines do not count.

    The first objects are for `look` to see before.

    A line that is not an object, or of which `make` raises ValueError("found; expected"), is left out if the options
    say so; else DataError follows what was made before it.
    """
    lines = 0
    for data, start, stop in chunks_of(source, options.limits):
        made: list[Made] = []
        problem = None
        text = bytes(data[start:stop]).split(b"\n")
        if not lines:
            look(_sound_objects(text[:SAMPLE]))
        for number, line in enumerate(text):
            if not line.strip():
                continue
            try:
                made.append(make(_object(line), f"{source.name}:{lines + number + 1}"))
            except DataError:
                raise
            except (ValueError, RecursionError) as error:
                if options.on_error == "skip":
                    skipped(1)
                    continue
                column = error.colno if isinstance(error, json.JSONDecodeError) else 1
                problem = Problem(number, column, *_said(error))
                if isinstance(error, LongWordError):
                    problem = too_long(problem, options.limits)
                break
        yield made
        if problem is not None:
            raise problem.error(source.name, lines)
        lines += len(text) - 1


def read_json_lines(source: Source, options: Options, skipped: Skipped, kinds: ColumnKinds) -> Iterator[Block]:
    """Blocks of a file of JSON objects, of whose members `kinds` decides what they hold."""
    label: str | None = None

    def look(rows: list[dict[str, Any]]) -> None:
        aside = (options.label, options.weight, options.group)
        seen = [flattened(row, options.ignore) for row in rows]
        named = label or (find_label(options, list(seen[0]), source.name) if seen else None)
        kinds.look([{name: row[name] for name in row if name not in (*aside, named)} for row in seen])

    def make(row: dict[str, Any], place: str) -> Example:
        nonlocal label
        flat = flattened(row, options.ignore)
        if label is None:
            label = find_label(options, list(flat), place)
        return _example(flat, label, options, kinds)

    for examples in json_rows(source, options, skipped, make, look):
        given = 0
        for block in blocks_of_dictionaries([example[:3] for example in examples], options, plain=True):
            if block.space.width is None:
                block = block._replace(space=block.space._replace(kinds=dict(kinds.known)))
            groups = np.array([example[3] for example in examples[given : given + block.rows]], np.int64)
            yield block if options.group is None else block._replace(groups=groups)
            given += block.rows


def json_batches(source: Source, options: Options, skipped: Skipped, needed: Sequence[str]) -> Iterator[Any]:
    """Record batches of a file of JSON objects, all cells as text, with the columns seen so far and those needed."""
    columns = dict.fromkeys(needed)
    for rows in json_rows(source, options, skipped, lambda row, _: flattened(row)):
        columns |= dict.fromkeys(name for row in rows for name in row)
        texts = {name: [_text(row.get(name)) for row in rows] for name in columns}
        if rows:
            arrays = [pyarrow.array(column, pyarrow.large_string()) for column in texts.values()]
            yield pyarrow.RecordBatch.from_arrays(arrays, names=list(texts))


def flattened(row: dict[str, Any], ignored: Sequence[str] = (), outer: str = "") -> dict[str, Any]:
    """The members of an object, those of objects inside it as `outer.inner`, but for those to be ignored.

    >>> flattened({"a": {"b": 1, "c": {"d": 2}}, "e": 3}, ignored=["e"])
    {'a.b': 1, 'a.c.d': 2}
    """
    found: dict[str, Any] = {}
    for name, value in row.items():
        if ignored and matches(outer + name, tuple(ignored)):
            continue
        if isinstance(value, dict):
            found |= flattened(value, ignored, f"{outer}{name}.")
        else:
            found[outer + name] = value
    return found


def _said(error: Exception) -> tuple[str, str]:
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


def _sound_objects(lines: list[bytes]) -> list[dict[str, Any]]:
    """The objects among the lines; what is wrong with others is said when it is their turn."""
    found = []
    for line in lines:
        with suppress(ValueError, RecursionError):
            found.append(_object(line))
    return found


def _object(line: bytes) -> dict[str, Any]:
    row = DECODER.decode(line.decode())
    if not isinstance(row, dict):
        raise ValueError(f"a {type(row).__name__}; {EXAMPLE}")
    if SURROGATE.search(line):
        json.dumps(row, ensure_ascii=False).encode()  # UnicodeEncodeError if a half stands alone
    return row


def _text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)


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
    for name, value in row.items():
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
