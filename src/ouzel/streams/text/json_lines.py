"""JSON lines as a stream: an object a line, its members the features."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import numpy as np
import pyarrow

from ouzel.errors import DataError
from ouzel.streams.block import Block
from ouzel.streams.concatenation import concatenate
from ouzel.streams.options import Options
from ouzel.streams.sources.chunks import chunks_of
from ouzel.streams.sources.source import Source
from ouzel.streams.tables.kinds import ColumnKinds
from ouzel.streams.telling import Telling
from ouzel.streams.text.json_examples import LongWordError
from ouzel.streams.text.json_objects import JsonExamples, flattened, object_of, said_of
from ouzel.streams.text.json_plain import Chunk, PlainObjects
from ouzel.streams.text.lines import Problem, lines_at, too_long

Skipped = Callable[[int], None]
Made = TypeVar("Made")
Make = Callable[[dict[str, Any], str], Made]
MOST_AT_ONCE = 4096  # lines that are read one by one before plain ones are looked for again


def json_rows(
    source: Source,
    options: Options,
    skipped: Skipped,
    make: Make[Made],
) -> Iterator[list[Made]]:
    """What `make` makes of each object and its place (`file:line`), by chunks; blank lines do not count.

    A line that is not an object, or of which `make` raises ValueError("found; expected"), is left out if the options
    say so; else DataError follows what was made before it.
    """
    lines = 0
    for data, start, stop in chunks_of(source, options.limits):
        text = bytes(data[start:stop]).split(b"\n")
        made, problem = _made(text, f"{source.name}:", lines, options, skipped, make)
        yield made
        if problem is not None:
            raise problem.error(source.name, lines)
        lines += len(text) - 1


def _made(
    text: list[bytes], name: str, before: int, options: Options, skipped: Skipped, make: Make[Made]
) -> tuple[list[Made], Problem | None]:
    """What is made of lines, `before` which there were some, up to a bad one."""
    made: list[Made] = []
    for number, line in enumerate(text):
        if not line.strip():
            continue
        try:
            made.append(make(object_of(line), f"{name}{before + number + 1}"))
        except DataError:
            raise
        except (ValueError, RecursionError) as error:
            if options.on_error == "skip":
                skipped(1)
                continue
            column = error.colno if isinstance(error, json.JSONDecodeError) else 1
            problem = Problem(number, column, *said_of(error))
            if isinstance(error, LongWordError):
                problem = too_long(problem, options.limits, error.limit)
            return made, problem
    return made, None


def read_json_lines(
    source: Source, options: Options, skipped: Skipped, kinds: ColumnKinds, telling: Telling | None = None
) -> Iterator[Block]:
    """Blocks of a file of JSON objects, of whose members `kinds` decides what they hold."""
    lines = JsonLines(options, skipped, kinds, source.name, telling)
    for number, chunk in enumerate(chunks_of(source, options.limits)):
        if not number:
            lines.look(lines_at(*chunk, options.sample)[0], source.name)
        yield from lines.blocks(*chunk)


class JsonLines:
    """The lines of one stream of JSON objects, read chunk by chunk.

    Plain objects are read where they lie, others one by one, and more at once where there are many of them.
    """

    def __init__(
        self, options: Options, skipped: Skipped, kinds: ColumnKinds, name: str, telling: Telling | None = None
    ) -> None:
        self.options = options
        self._telling = telling or Telling(options.bits)
        self.skipped = skipped
        self.examples = JsonExamples(options, kinds, name)
        self._plain = PlainObjects(self.examples)
        self._lines = 0  # of the chunks before

    @property
    def read(self) -> int:
        """Objects read so far, those left out with them."""
        return self.examples.sound + self.examples.bad

    def look(self, lines: list[bytes], where: str | None = None) -> None:
        """Decide by the first lines what their members hold; those of a file, `where`, what is known of them."""
        self.examples.look(_sound_objects(lines), where)

    def blocks(self, data: np.ndarray, start: int, stop: int) -> Iterator[Block]:
        """Blocks of whole lines of text, `data[start:stop]` (uint8)."""
        name, options = self.examples.name, self.options
        parts = []
        at_once, problem = 1, None
        chunk = Chunk(data, start, stop, options, self._telling.begin())
        while chunk.at < chunk.stop and problem is None:
            if self._plain.able(chunk):
                read = self._plain.read(chunk)
                parts.append(read.block)
                self._lines += read.lines
                at_once = min(MOST_AT_ONCE, 2 * at_once) if read.lines < 4 * at_once else max(1, at_once // 2)
            most = at_once if self._plain.able(chunk) else MOST_AT_ONCE
            text, chunk.at = lines_at(chunk.data, chunk.at, chunk.stop, most)
            examples, problem = _made(text, f"{name}:", self._lines, options, self._leave_out, self.examples.example)
            parts += self.examples.blocks(examples)
            if problem is None:
                self._lines += len(text)
        parts = [part for part in parts if part.rows]
        if parts:
            yield from concatenate(parts).parts()
        if problem is not None:
            raise problem.error(name, self._lines)

    def _leave_out(self, count: int) -> None:
        self.examples.bad += count
        self.skipped(count)


def json_batches(
    source: Source, options: Options, skipped: Skipped, needed: Sequence[str]
) -> Iterator[pyarrow.RecordBatch]:
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


def _text(value: object) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)
