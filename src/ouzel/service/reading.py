"""Reader of lines of JSON, on the reader of files: names, missing values, kinds and refusals are the same."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from threading import Lock
from typing import Any

import numpy as np

from ouzel.errors import OuzelError, UnexpectedError
from ouzel.model.model import Model
from ouzel.service.limits import Line, Refused, Row, rows_in, taken
from ouzel.streams.block import Block
from ouzel.streams.concatenation import concatenate
from ouzel.streams.feature_names import ID
from ouzel.streams.formats.arrow_numbers import NumberColumns
from ouzel.streams.formats.catalogue import Format
from ouzel.streams.formats.json_lines import Chunk, PlainObjects
from ouzel.streams.formats.json_python import Example, JsonExamples, object_of, unexpected
from ouzel.streams.formats.packed_rows import canonical
from ouzel.streams.formats.records import batch_of, examples_in, is_batch, is_rows, record_of_rows, rows_of
from ouzel.streams.interactions.deriver import Deriver
from ouzel.streams.kernels.lines import Parsed, lines_at
from ouzel.streams.kernels.new_names import NameEmitter
from ouzel.streams.labels import Label, labels_in
from ouzel.streams.options import make_options
from ouzel.streams.sources.error_context import LONGEST
from ouzel.streams.tables.schema import ColumnKinds

WITH_ID = b'"_id"'
MOST_KEY = 255  # characters of an id


FEWEST = 2  # lines to read together
MOST_LINES = 512  # of another format that are parsed together where some are bad
MOST_ODD = 8  # lines among them that are not plain, before the others are read one by one
SPACES, NOT_ALLOWED = bytes.maketrans(b"\r\n", b"  "), bytes.maketrans(b"\r\n", b"\v\v")  # of line breaks
BLANKS = b" \t"
STRING_OR_BREAK = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|([\r\n]+)', re.DOTALL)


class Reading:
    """Reader of the lines of a service, with the options of its model file; the JSON type of a value says its kind.

    One thread that learns and one that predicts may use a reader; a reader for another thread is made `like` it.
    """

    def __init__(self, model: Model, stored: dict[str, Any], like: Reading | None = None) -> None:
        given = {**stored, "bits": model.bits, "seed": model.seed, "space": model.space, "inherited": tuple(stored)}
        self.options = make_options(given)
        self.label = self.options.label or "label"
        kinds = ColumnKinds(self.options)
        learnt = Deriver(self.options) if like is None else like._derivers[False]
        self._derivers: tuple[Deriver, Deriver] = learnt, Deriver(self.options, like=learnt)
        self._to_learn = JsonExamples(self.options, kinds, "the stream")
        self._to_learn.label = self.options.label
        ignored = (*self.options.ignore, *([self.options.weight] if self.options.weight else []))
        self._to_predict = JsonExamples(replace(self.options, weight=None, ignore=ignored, unlabelled=True), kinds, "")
        self._plain = PlainObjects(self._to_learn), PlainObjects(self._to_predict)
        self._locks = Lock(), Lock()  # one to learn, one to predict, so that predictions do not wait
        self.numbers = NumberColumns(self.options, self.label, ID)

    def line(self, text: bytes, key: str | None = None, to_predict: bool = False) -> Line | Refused:
        """Return the example of a line that a client sent, or the reason why it is none.

        Its key is its id, or else the given key.
        """
        text = line_of(text)
        limits = self.options.limits
        if len(text) > limits.line:
            return Refused(f"found {len(text):,} bytes; expected at most {limits.line:,}")
        try:
            row = object_of(text)
            key = _key_of(row.get(ID)) or key
            return Line(text, (self._to_predict if to_predict else self._to_learn).example(row, "example"), key)
        except OuzelError as error:
            return Refused(str(error))
        except (ValueError, RecursionError) as error:
            said = unexpected(error, limits)
            field = said.member if len(repr(said.member)) + 2 <= LONGEST else None
            return Refused(f"found {said.found}; {said.expected}", field, said.column)

    def record(self, record: bytes) -> Line | Refused:
        """Return the example of a record of the log that has one: a packed row, or a line."""
        return Line(record, rows_in(rows_of(record))[0], None) if is_rows(record) else self.line(record)

    def lines(
        self, texts: Sequence[bytes], keys: Sequence[str | None], to_predict: bool = False
    ) -> list[Line | Refused]:
        """Return what `line` returns for each text; plain lines are read together."""
        found: list[Line | Refused | None] = [None] * len(texts)
        texts = [line_of(text) for text in texts]
        most = self.options.limits.line
        places = [k for k, text in enumerate(texts) if text and len(text) <= most and not _may_have_id(text)]
        if len(places) >= FEWEST:
            data = np.frombuffer(b"\n".join([*(texts[place] for place in places), b""]), np.uint8)
            with self._locks[to_predict]:
                for place, row in self._rows(Chunk(data, 0, len(data), self.options), places, texts, to_predict):
                    found[place] = Line(texts[place], row, keys[place])
        return [
            self.line(text, key, to_predict) if line is None else line
            for line, text, key in zip(found, texts, keys, strict=True)
        ]

    def _rows(
        self, chunk: Chunk, places: list[int], texts: Sequence[bytes], to_predict: bool
    ) -> Iterator[tuple[int, Row]]:
        """Yield the plain examples among the lines of a chunk, with the places of the lines."""
        plain, at, odd = self._plain[to_predict], 0, 0
        while at < len(places) and odd < MOST_ODD and plain.supports(chunk):
            block = plain.read(chunk).block
            sizes, labels = np.diff(block.offsets).tolist(), labels_in(block)
            for k, (size, label) in enumerate(zip(sizes, labels, strict=True)):
                yield places[at + k], Row(range(size), label, block, k, texts[places[at + k]])
            at += block.rows + 1
            odd += 1
            _, chunk.at = lines_at(chunk.data, chunk.at, chunk.stop, 1)

    def parsed(self, lines: Sequence[bytes], format: Format) -> list[Row | Refused]:
        """Return the example of each line of a text format, or the reason why it is none."""
        block = self._parsed(lines, format).block
        if block.rows == len(lines):
            return [*rows_in(canonical(block))]
        found: list[Row | Refused] = []
        while len(found) < len(lines):
            found += self._up_to_problem(lines[len(found) : len(found) + MOST_LINES], format)
        return found

    def _up_to_problem(self, lines: Sequence[bytes], format: Format) -> list[Row | Refused]:
        """Return the examples of lines up to a bad one, and why that is refused."""
        parsed = self._parsed(lines, format)
        block, problem = parsed.block, parsed.problem
        before: list[Row | Refused] = [*rows_in(canonical(block))]
        if problem is None and block.rows == len(lines):
            return before
        if len(lines) > 1 and (problem is None or problem.line != block.rows):  # a line before it is no example
            return self._up_to_problem(lines[: len(lines) // 2], format)
        if problem is None:
            return [Refused("found no example in the line")]
        return [*before, Refused(f"found {problem.found}; {problem.expected}", None, problem.column)]

    def _parsed(self, lines: Sequence[bytes], format: Format) -> Parsed:
        """Parse lines of a text format; features are derived where they are learnt."""
        options = replace(self.options, ignore=tuple(name for name in self.options.ignore if name != ID))
        text = b"\n".join([*(line.replace(b"\r", b"") for line in lines), b""])
        data = np.frombuffer(bytearray(text), np.uint8)  # writable, like the data of files
        parsed: Parsed = format.module.parser(options, NameEmitter(options.bits)).parse(data, 0, len(data), options)
        if options.derived and parsed.block.interaction_inputs is None:
            raise OuzelError(f"{format.title} has no columns or namespaces to make {options.derived} of")
        return parsed

    def examples(self, records: Iterable[bytes]) -> list[Example | Row]:
        """Return the examples of records of the log; raise OuzelError at one that is none any more."""
        found: list[Example | Row] = []
        for packed, some in groupby(records, lambda record: is_rows(record) or is_batch(record)):
            group = list(some)
            for part in map(self._block_of, group) if packed else [group]:
                found += rows_in(part) if isinstance(part, Block) else self._examples_of(part)
        return found

    def _block_of(self, record: bytes) -> Block | list[bytes]:
        """Return packed rows, or a record batch, as a block; or rows that are not plain as records of one line."""
        block = rows_of(record) if is_rows(record) else self.numbers.block(batch_of(record))
        return examples_in(record) if block is None else block

    def _examples_of(self, records: Iterable[bytes]) -> Iterator[Example | Row]:
        """Yield the examples of lines of JSON."""
        texts = [text for record in records for text in examples_in(record)]
        for number, line in enumerate(self.lines(texts, [None] * len(texts)), 1):
            if isinstance(line, Refused):
                raise OuzelError(f"line {number:,} of them was learnt, and is not an example any more: {line.error}")
            yield line.example

    def records(self, lines: Iterable[Line]) -> Iterator[tuple[bytes, str | None, int]]:
        """Yield lines as records of the log, each with its key and the number of its examples."""
        for row, some in groupby(lines, lambda line: line.packed and (line.key, id(line.packed.block))):
            group = list(some)
            rows = [line.packed for line in group if line.packed is not None]
            if row is None:
                yield from ((line.text, line.key, 1) for line in group)
                continue
            at_once = len(rows) if group[0].key is None else 1
            for start in range(0, len(rows), at_once):
                places = [one.place for one in rows[start : start + at_once]]
                yield record_of_rows(taken(rows[0].block, places), self.options), group[0].key, len(places)

    def whole(self, text: bytes, lines: int, to_predict: bool = False) -> Block | None:
        """Return lines with their newlines as a block; None unless all are plain and labelled, without ids."""
        options = self.options
        if options.derived or b"\r" in text or not text.endswith(b"\n") or _may_have_id(text):
            return None
        if longest_line(text, options.limits.line) > options.limits.line:
            return None
        chunk = Chunk(np.frombuffer(text, np.uint8), 0, len(text), options)
        with self._locks[to_predict]:
            plain = self._plain[to_predict]
            block = plain.read(chunk).block if plain.supports(chunk) else None
        if block is None or block.rows != lines:
            return None
        return block if to_predict or not np.isnan(block.labels).any() else None

    def sample_lines(self, labels: Sequence[Label]) -> list[bytes]:
        """Return lines that can be learnt, one for each label, with all required columns, a number and a word.

        A feature that the options refuse is left out; there are no lines if nothing can be learnt.
        """
        required = {} if self.options.weight is None else {self.options.weight: 1.0}
        number, word = {"sample number": 1.0}, {"sample word": "word"}
        for features in ({**number, **word}, number, word, {}):
            texts = [json.dumps({**features, **required, self.label: label}).encode() for label in labels]
            if not any(isinstance(self.line(text), Refused) for text in texts):
                return texts
        return []

    def missing_label(self, line: Line) -> Refused | None:
        """Return why a line without a label cannot be learnt; None if it has one."""
        if line.example[1] is not None:
            return None
        return Refused(f"found no label; expected {self.label!r} to be a number or a name", self.label)

    def block(self, examples: Sequence[Example | Row], to_predict: bool = False) -> Block:
        """Return 1 to ROWS examples as one block; only one thread may call this to learn."""
        parts = self._parts(examples, to_predict)
        if parts is None:  # only some of the rows of a block are wanted: read those anew
            fresh: list[Example | Row] = []
            for is_line, group in groupby(examples, lambda example: isinstance(example, Row) and bool(example.text)):
                some = list(group)
                texts = [example.text for example in some if isinstance(example, Row)]
                again = self.lines(texts, [None] * len(texts), to_predict) if is_line else []
                fresh += [line.example for line in again if isinstance(line, Line)] if is_line else some
            parts = self._parts(fresh, to_predict)
        assert parts is not None
        block = concatenate(parts)
        assert block.rows == len(examples)
        if not self.options.derived:
            return block
        deriver = self._derivers[to_predict]
        with self._locks[to_predict]:
            if not to_predict:
                deriver.observe(block)
            deriver.reset_names()  # a block may be made and not learnt
            (block,) = deriver.parts(block, whole=True)
        return block

    def _parts(self, examples: Sequence[Any], to_predict: bool) -> list[Block] | None:
        """Return examples as blocks; None if some are only a part of the objects that they were read with."""
        parts: list[Block] = []
        for together, some in groupby(examples, lambda example: id(example.block) if isinstance(example, Row) else 0):
            group = list(some)
            if not together:
                parts += (self._to_predict if to_predict else self._to_learn).blocks(group)
                continue
            block, places = group[0].block, [row.place for row in group]
            if group[0].text and places != list(range(block.rows)):
                return None
            parts.append(taken(block, places))
        return parts


def _may_have_id(text: bytes) -> bool:
    """Return whether a text may have an id; a search for one byte is many times as fast as for several."""
    return b"_" in text and WITH_ID in text


def longest_line(text: bytes, enough: int) -> int:
    """Return the bytes of the longest line, or of the whole text if that has no more than `enough`."""
    return len(text) if len(text) <= enough else max(map(len, text.split(b"\n")))


def line_of(text: bytes) -> bytes:
    """Return a JSON object as one line; outside of strings, a line break means the same as a space.

    Within a string it is an error, and becomes another control character, so that parsers refuse it.
    """
    if b"\n" not in text and b"\r" not in text:
        return text.strip(BLANKS)
    text = STRING_OR_BREAK.sub(lambda found: found[0].translate(SPACES if found[1] else NOT_ALLOWED), text)
    return text.strip(BLANKS)


def _key_of(given: object) -> str | None:
    """Return the key of an id; raise UnexpectedError if it cannot be one."""
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, (str, int)) or not 0 < len(str(given)) <= MOST_KEY:
        raise UnexpectedError(f"{given!r:.100}", f"expected a name of 1 to {MOST_KEY} characters", member=ID)
    return str(given)
