"""Lines of JSON as examples, by the reader of files: names, missing values, kinds and refusals mean the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from ouzel.errors import OuzelError, UnexpectedError
from ouzel.model.model import Model
from ouzel.service.number_columns import NumberColumns
from ouzel.streams.block import Block
from ouzel.streams.concatenation import concatenate
from ouzel.streams.formats.json_lines import Chunk, PlainObjects
from ouzel.streams.formats.json_python import Example, JsonExamples, object_of, unexpected
from ouzel.streams.interactions.deriver import Deriver
from ouzel.streams.kernels.lines import lines_at
from ouzel.streams.label_values import Label, labels_in
from ouzel.streams.options import make_options
from ouzel.streams.sources.error_context import LONGEST
from ouzel.streams.tables.schema import ColumnKinds

ID = "_id"  # the member that names an example: it is not a feature
WITH_ID = b'"_id"'
MOST_KEY = 255  # characters of an id


class Refused(NamedTuple):
    """Why a line is not learnt or predicted: the sentence of the readers, and where in the line it applies."""

    error: str
    field: str | None = None
    column: int | None = None


class Row(NamedTuple):
    """An example that was read with others: a row of a block of theirs."""

    features: range  # as many as there are
    label: Label | None
    block: Block
    place: int
    text: bytes


class Line(NamedTuple):
    """A line that is an example."""

    text: bytes  # without newlines
    example: Example | Row
    key: str | None


FEWEST = 2  # lines that are worth reading together
MOST_ODD = 8  # lines among them that are not plain, before the rest is read one by one
SPACES = bytes.maketrans(b"\r\n", b"  ")


class Reading:
    """How a service reads lines, as its model file says: what a value is, is what its type says.

    Each is for one thread that learns and one that asks; one for another thread is made `like` it.
    """

    def __init__(self, model: Model, stored: dict[str, Any], like: Reading | None = None) -> None:
        given = {**stored, "bits": model.bits, "seed": model.seed, "space": model.space, "inherited": tuple(stored)}
        self.options = make_options(given)
        self.label = self.options.label or "label"
        kinds = ColumnKinds(self.options)
        learnt = Deriver(self.options) if like is None else like._derivers[False]
        self._derivers: tuple[Deriver, Deriver] = learnt, Deriver(self.options, like=learnt)
        self._labelled = JsonExamples(self.options, kinds, "the stream")
        self._labelled.label = self.options.label
        ignored = (*self.options.ignore, *([self.options.weight] if self.options.weight else []))
        self._asked = JsonExamples(replace(self.options, weight=None, ignore=ignored, unlabelled=True), kinds, "")
        self._plain = PlainObjects(self._labelled), PlainObjects(self._asked)
        self._locks = Lock(), Lock()  # so that what is asked waits for nothing that is learnt
        self.numbers = NumberColumns(self.options, self.label, ID)

    def line(self, text: bytes, key: str | None = None, asked: bool = False) -> Line | Refused:
        """The example of a line, to learn or `asked` about, or why it is not one; its key is its id, or that given."""
        text = line_of(text)
        limits = self.options.limits
        if len(text) > limits.line:
            return Refused(f"found {len(text):,} bytes; expected at most {limits.line:,}")
        try:
            row = object_of(text)
            key = _key_of(row.get(ID)) or key
            return Line(text, (self._asked if asked else self._labelled).example(row, "example"), key)
        except OuzelError as error:
            return Refused(str(error))
        except (ValueError, RecursionError) as error:
            said = unexpected(error, limits)
            field = said.member if len(repr(said.member)) + 2 <= LONGEST else None
            return Refused(f"found {said.found}; {said.expected}", field, said.column)

    def lines(self, texts: Sequence[bytes], keys: Sequence[str | None], asked: bool = False) -> list[Line | Refused]:
        """What `line` makes of each; those that are plain are read together."""
        found: list[Line | Refused | None] = [None] * len(texts)
        texts = [line_of(text) for text in texts]
        most = self.options.limits.line
        places = [k for k, text in enumerate(texts) if text and len(text) <= most and not _may_have_id(text)]
        if len(places) >= FEWEST:
            data = np.frombuffer(b"\n".join([*(texts[place] for place in places), b""]), np.uint8)
            with self._locks[asked]:
                for place, row in self._rows(Chunk(data, 0, len(data), self.options), places, texts, asked):
                    found[place] = Line(texts[place], row, keys[place])
        return [
            self.line(text, key, asked) if line is None else line
            for line, text, key in zip(found, texts, keys, strict=True)
        ]

    def _rows(self, chunk: Chunk, places: list[int], texts: Sequence[bytes], asked: bool) -> Iterator[tuple[int, Row]]:
        """The plain examples among the lines of a chunk, with the places that the lines have."""
        plain, at, odd = self._plain[asked], 0, 0
        while at < len(places) and odd < MOST_ODD and plain.supports(chunk):
            block = plain.read(chunk).block
            sizes, labels = np.diff(block.offsets).tolist(), labels_in(block)
            for k, (size, label) in enumerate(zip(sizes, labels, strict=True)):
                yield places[at + k], Row(range(size), label, block, k, texts[places[at + k]])
            at += block.rows + 1
            odd += 1
            _, chunk.at = lines_at(chunk.data, chunk.at, chunk.stop, 1)

    def whole(self, text: bytes, lines: int, asked: bool = False) -> Block | None:
        """So many lines, each with its newline, as a block; None unless all are plain, have no ids, to learn labels."""
        options = self.options
        if options.derived or b"\r" in text or not text.endswith(b"\n") or _may_have_id(text):
            return None
        if longest_line(text, options.limits.line) > options.limits.line:
            return None
        chunk = Chunk(np.frombuffer(text, np.uint8), 0, len(text), options)
        with self._locks[asked]:
            plain = self._plain[asked]
            block = plain.read(chunk).block if plain.supports(chunk) else None
        if block is None or block.rows != lines:
            return None
        return block if asked or not np.isnan(block.labels).any() else None

    def unlabelled(self, line: Line) -> Refused | None:
        """Why a line cannot be learnt that has no label."""
        if line.example[1] is not None:
            return None
        return Refused(f"found no label; expected {self.label!r} to be a number or a name", self.label)

    def block(self, examples: Sequence[Example | Row], asked: bool = False) -> Block:
        """Examples, one to ROWS, as one block; those to learn are for one thread to ask for."""
        parts = self._parts(examples, asked)
        if parts is None:  # some of those that were read together are not wanted, nor what is known of them
            fresh: list[Example | Row] = []
            for is_row, group in groupby(examples, lambda example: isinstance(example, Row)):
                some = list(group)
                texts = [example.text for example in some if isinstance(example, Row)]
                again = self.lines(texts, [None] * len(texts), asked)
                fresh += [line.example for line in again if isinstance(line, Line)] if is_row else some
            parts = self._parts(fresh, asked)
        assert parts is not None
        block = concatenate(parts)
        if not self.options.derived:
            return block
        deriver = self._derivers[asked]
        with self._locks[asked]:
            if not asked:
                deriver.look(block)
            deriver.tell_again()  # a block may be made, and not learnt
            (block,) = deriver.parts(block, whole=True)
        return block

    def _parts(self, examples: Sequence[Any], asked: bool) -> list[Block] | None:
        """Examples as blocks, None if they are not whole blocks of those read together."""
        parts: list[Block] = []
        for together, some in groupby(examples, lambda example: id(example.block) if isinstance(example, Row) else 0):
            group = list(some)
            if not together:
                parts += (self._asked if asked else self._labelled).blocks(group)
            elif [row.place for row in group] == list(range(group[0].block.rows)):
                parts.append(group[0].block)
            else:
                return None
        return parts


def _may_have_id(text: bytes) -> bool:
    """Whether an id may be in a text; one byte is found at many times the speed of several."""
    return b"_" in text and WITH_ID in text


def longest_line(text: bytes, enough: int) -> int:
    """Bytes of the longest line; or of all of them, if those are no more than `enough`."""
    return len(text) if len(text) <= enough else max(map(len, text.split(b"\n")))


def line_of(text: bytes) -> bytes:
    """An object as one line: in JSON, line ends stand where blanks may."""
    return text.translate(SPACES).strip()


def _key_of(given: object) -> str | None:
    """The key that an id is; UnexpectedError if it cannot be one."""
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, (str, int)) or not 0 < len(str(given)) <= MOST_KEY:
        raise UnexpectedError(f"{given!r:.100}", f"expected a name of 1 to {MOST_KEY} characters", member=ID)
    return str(given)
