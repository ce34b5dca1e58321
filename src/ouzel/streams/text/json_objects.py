"""JSON objects of one stream as examples, one at a time, and examples as blocks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from ouzel.streams.block import Block
from ouzel.streams.derived.members import factors_of
from ouzel.streams.dictionaries import Ids, blocks_of_dictionaries
from ouzel.streams.guard import reason_of
from ouzel.streams.options import Options
from ouzel.streams.patterns import is_pattern, matches
from ouzel.streams.tables.kinds import ColumnKinds
from ouzel.streams.tables.labels import find_label
from ouzel.streams.text.json_examples import Example, example_of
from ouzel.streams.text.lines import NOT_UTF8
from ouzel.streams.text.utf8 import SAVE_AS_UTF8

SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")  # half a character, which is none unless the other half follows
EXAMPLE = 'expected an object such as {"label": 1, "price": 2.5}'


def _whole(digits: str) -> int | float:
    """A whole number, as a float if it has more digits than any id or label."""
    return int(digits) if len(digits) < 40 else float(digits)


DECODER = json.JSONDecoder(parse_int=_whole)


class JsonExamples:
    """What the objects of one stream, the source `name`, are as examples: which member is the label is decided once."""

    def __init__(self, options: Options, kinds: ColumnKinds, name: str) -> None:
        self.options = options
        self.kinds = kinds
        self.name = name
        self.label: str | None = None
        self.sound = self.bad = 0  # objects so far
        self._ids = Ids(options)

    def look(self, rows: list[dict[str, Any]], where: str | None = None) -> None:
        """Decide by the first objects which member is the label, if that can be told, and what the others hold.

        Those of a table at the place `where` must hold what is known of them.
        """
        options = self.options
        aside = (options.label, options.weight, options.group, options.id)
        seen = []
        for row in rows:
            with suppress(ValueError):  # of which more is said when it is the row's turn
                seen.append(flattened(row, options.ignore))
        if seen and self.label is None:
            self.label = find_label(options, list(seen[0]), self.name, self.kinds.say_once)
        self.kinds.look([{name: row[name] for name in row if name not in (*aside, self.label)} for row in seen], where)

    def example(self, row: dict[str, Any], place: str) -> Example:
        """One object, met at a place (`file:line`), as an example; ValueError("found; expected") if it is not one."""
        flat = flattened(row, self.options.ignore)
        if self.label is None:
            self.label = find_label(self.options, list(flat), place, self.kinds.say_once)
        example = example_of(flat, self.label, self.options, self.kinds, self.sound + self.bad)
        self.sound += 1
        return example

    def blocks(self, examples: Sequence[Example]) -> Iterator[Block]:
        """Examples as blocks."""
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
    """The zeros of an example whose features have no other value that would add up with them."""
    return {name: value for name, value in example.zeros.items() if name not in example.features}


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
        return NOT_UTF8, SAVE_AS_UTF8
    if isinstance(error, UnicodeEncodeError):
        return "half of a surrogate pair", "expected text whose characters are whole"
    if isinstance(error, RecursionError):
        return "objects or lists too deep in one another", EXAMPLE
    found, parted, expected = str(error).rpartition("; ")
    return (reason_of(found), expected) if parted else (reason_of(expected), EXAMPLE)


def flattened(row: dict[str, Any], ignored: Sequence[str] = (), outer: str = "") -> dict[str, Any]:
    """The members of an object, those of objects inside it as `outer.inner`, but for those to be ignored.

    ValueError("found; expected") where two of them have one name, as `{"a": {"b": 1}, "a.b": 2}` has.

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
            raise ValueError(f"two members {twice!r}; give each a name of its own")
        found |= inner
    return found
