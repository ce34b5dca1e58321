"""JSON lines as a stream: an object a line, its members the features."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import pyarrow

from ouzel.errors import DataError
from ouzel.streams.block import Block
from ouzel.streams.options import Options
from ouzel.streams.sources.chunks import chunks_of
from ouzel.streams.sources.source import Source
from ouzel.streams.tables.kinds import ColumnKinds
from ouzel.streams.text.json_examples import LongWordError
from ouzel.streams.text.json_objects import JsonExamples, flattened, object_of, said_of
from ouzel.streams.text.lines import Problem, too_long

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
            look(_sound_objects(text[: options.sample]))
        for number, line in enumerate(text):
            if not line.strip():
                continue
            try:
                made.append(make(object_of(line), f"{source.name}:{lines + number + 1}"))
            except DataError:
                raise
            except (ValueError, RecursionError) as error:
                if options.on_error == "skip":
                    skipped(1)
                    continue
                column = error.colno if isinstance(error, json.JSONDecodeError) else 1
                problem = Problem(number, column, *said_of(error))
                if isinstance(error, LongWordError):
                    problem = too_long(problem, options.limits)
                break
        yield made
        if problem is not None:
            raise problem.error(source.name, lines)
        lines += len(text) - 1


def read_json_lines(source: Source, options: Options, skipped: Skipped, kinds: ColumnKinds) -> Iterator[Block]:
    """Blocks of a file of JSON objects, of whose members `kinds` decides what they hold."""
    reader = JsonExamples(options, kinds, source.name)

    def leave_out(count: int) -> None:
        reader.bad += count
        skipped(count)

    for examples in json_rows(source, options, leave_out, reader.example, reader.look):
        yield from reader.blocks(examples)


def json_batches(source: Source, options: Options, skipped: Skipped, needed: Sequence[str]) -> Iterator[Any]:
    """Record batches of a file of JSON objects, all cells as text, with the columns seen so far and those needed."""
    columns = dict.fromkeys(needed)
    for rows in json_rows(source, options, skipped, lambda row, _: flattened(row)):
        columns |= dict.fromkeys(name for row in rows for name in row)
        texts = {name: [_text(row.get(name)) for row in rows] for name in columns}
        if rows:
            arrays = [pyarrow.array(column, pyarrow.large_string()) for column in texts.values()]
            yield pyarrow.RecordBatch.from_arrays(arrays, names=list(texts))


def _sound_objects(lines: list[bytes]) -> list[dict[str, Any]]:
    """The objects among the lines; what is wrong with others is said when it is their turn."""
    found = []
    for line in lines:
        with suppress(ValueError, RecursionError):
            found.append(object_of(line))
    return found


def _text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)
