"""JSON lines as a stream: an object a line, its members the features."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import numpy as np
import pyarrow

from ouzel.errors import DataError
from ouzel.streams.block import Block
from ouzel.streams.dictionaries import blocks_of_dictionaries
from ouzel.streams.guard import reason_of
from ouzel.streams.options import Options, matches
from ouzel.streams.sources.chunks import chunks_of
from ouzel.streams.sources.source import Source
from ouzel.streams.tables.kinds import SAMPLE, ColumnKinds
from ouzel.streams.tables.labels import find_label
from ouzel.streams.text.json_examples import Example, LongWordError, example_of
from ouzel.streams.text.lines import Problem, too_long

SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")  # half a character, which is none unless the other half follows
EXAMPLE = 'expected an object such as {"label": 1, "price": 2.5}'


def _whole(digits: str) -> int | float:
    """A whole number, as a float if it has more digits than any id or label."""
    return int(digits) if len(digits) < 40 else float(digits)


DECODER = json.JSONDecoder(parse_int=_whole)

Skipped = Callable[[int], None]
Made = TypeVar("Made")


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
    sound = bad = 0

    def look(rows: list[dict[str, Any]]) -> None:
        aside = (options.label, options.weight, options.group, options.id)
        seen = [flattened(row, options.ignore) for row in rows]
        named = label or (find_label(options, list(seen[0]), source.name) if seen else None)
        kinds.look([{name: row[name] for name in row if name not in (*aside, named)} for row in seen])

    def make(row: dict[str, Any], place: str) -> Example:
        nonlocal label, sound
        flat = flattened(row, options.ignore)
        if label is None:
            label = find_label(options, list(flat), place)
        example = example_of(flat, label, options, kinds, sound + bad)
        sound += 1
        return example

    def leave_out(count: int) -> None:
        nonlocal bad
        bad += count
        skipped(count)

    for examples in json_rows(source, options, leave_out, make, look):
        given = 0
        for block in blocks_of_dictionaries([example[:3] for example in examples], options, plain=True):
            if block.space.width is None:
                block = block._replace(space=block.space._replace(kinds=dict(kinds.known)))
            here = examples[given : given + block.rows]
            if options.group is not None:
                block = block._replace(groups=np.array([example.group for example in here], np.int64))
            if options.id is not None:
                block = block._replace(tags=np.array([example.tag for example in here], object))
            yield block._replace(numbers=np.array([example.number for example in here], np.int64))
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
