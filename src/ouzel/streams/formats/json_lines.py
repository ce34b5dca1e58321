"""JSON lines as blocks: an object a line, its members the features.

Plain objects go to the kernels of `json_parser`, all others to `json_python`; the blocks are the same.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pyarrow

from ouzel.errors import DataError
from ouzel.sketches.hashing import feature_id
from ouzel.streams.block import Block, Names
from ouzel.streams.concatenation import concatenate
from ouzel.streams.dates import LONGEST_PART, PARTS
from ouzel.streams.feature_names import is_named
from ouzel.streams.feature_space import CATEGORY, DATE, NUMBER, FeatureSpace, column_key
from ouzel.streams.feature_specs import matches
from ouzel.streams.formats import json_names
from ouzel.streams.formats.json_names import ID, NAMED, PURE, TEXT_OF_KEYS, KeyTable
from ouzel.streams.formats.json_parser import NEW_DATES, NEW_KEY, NEW_LABEL, PADDING, read_objects
from ouzel.streams.formats.json_python import JsonExamples, LongWordError, flattened, object_of, unexpected
from ouzel.streams.interaction_inputs import InputEntries, InteractionInputs
from ouzel.streams.kernels.lines import SPARE, Problem, count_lines, is_utf8, lines_at
from ouzel.streams.kernels.new_names import NameEmitter, NewNames, copy_names, empty_seen_set
from ouzel.streams.kernels.row_buffer import allocate_rows
from ouzel.streams.labels import Label, as_sign, encode_labels, find_label, is_infinite, label_of, signs_of, tidy
from ouzel.streams.options import Options
from ouzel.streams.sources.chunks import chunks_of
from ouzel.streams.sources.source import Source
from ouzel.streams.tables.schema import ColumnKinds

EQUALS = np.uint8(61)  # =, between a key and a word
MOST_BYTES = 2**32 - 1  # of a chunk: positions take 32 bits
FEWEST = 5  # bytes of a feature, `"":1,`, and of its name
ROLES = {None: json_names.PLAIN, NUMBER: json_names.NUMBERS, CATEGORY: json_names.CATEGORIES, DATE: json_names.DATES}
MOST_AT_ONCE = 4096  # lines that Python reads before plain ones are tried again


class Chunk:
    """Whole lines of text, and the arrays that they are read into."""

    def __init__(
        self, data: np.ndarray, start: int, stop: int, options: Options, seen: np.ndarray | None = None
    ) -> None:
        if len(data) < stop + PADDING or data[stop - 1] != 10:
            data = np.concatenate([data[start:stop], np.zeros(PADDING, np.uint8)])
            start, stop = 0, stop - start
        self.data, self.at, self.stop = data, start, stop
        ended, ascii = count_lines(data, start, stop)
        self.is_text = ascii or is_utf8(data, start, stop)
        self.marks = np.empty(stop - start + SPARE, np.uint64)
        capacity = (stop - start) // FEWEST + 1
        lines = int(ended) + 2
        self.mark = self.found = self.rows = self.nonzeros = 0
        self.offsets, self.numbers = np.empty(lines, np.uint64), np.empty(lines, np.int64)
        self.ids, self.values = np.empty(capacity, np.uint32), np.empty(capacity, np.float32)
        self.buffer = allocate_rows(capacity)
        self.targets, self.codes, self.weights = np.empty(lines), np.empty(lines, np.int64), np.empty(lines, np.float32)
        self.spans = np.empty((capacity, 5), np.uint64)
        self.seen = empty_seen_set(options.bits) if seen is None else seen
        inputs = capacity if options.derived else 0
        self.inputs, self.taken = InputEntries.empty(lines, inputs, data), np.zeros(1, np.uint64)
        self.input_names = np.empty(inputs, np.uint32)


class PlainBlock(NamedTuple):
    """A block of plain objects, and the number of their lines."""

    block: Block
    lines: int


class PlainObjects:
    """Reads the plain objects of one stream, as the examples that `reader` would make of them."""

    def __init__(self, reader: JsonExamples) -> None:
        self.reader = reader
        options = reader.options
        self._supported = (
            options.group is None and options.id is None and options.space.width is None and sys.byteorder == "little"
        )
        self._label = reader.label
        self._keys, self._labels = KeyTable(), KeyTable()
        self._names: dict[str, int] = {}  # of the keys, and their rows
        self._other_kinds: Mapping[str, str] = {}  # columns that are known to hold another kind as well
        self._fields: list[str] = []  # that crosses are made of
        self._values: list[Label | None] = [None]  # of the words that are labels

    def supports(self, chunk: Chunk) -> bool:
        """Return whether the kernels can read a chunk: the label is known, and they support all options."""
        return (
            chunk.is_text
            and chunk.stop < MOST_BYTES
            and self._supported
            and (self.reader.label is not None or self.reader.options.unlabelled)
        )

    def read(self, chunk: Chunk) -> PlainBlock:
        """Read the objects of a chunk up to one that is not plain, or to its end."""
        options, reader = self.reader.options, self.reader
        if reader.label != self._label:
            self._label, self._keys, self._names, self._fields = reader.label, KeyTable(), {}, []
        self._allow_numbers()
        names = np.zeros(3, np.uint64)
        first, taken, lines = chunk.rows, int(chunk.taken[0]), 0
        self._keys.forget_all_uses()
        mask = np.uint32((1 << options.bits) - 1)
        settings = np.uint64(options.limits.word), options.weight is not None, options.indicator, mask, options.seed
        while True:
            rows, nonzeros, more, why, at, mark, found, start, end = read_objects(
                chunk.data,
                chunk.at,
                chunk.stop,
                chunk.marks,
                chunk.mark,
                chunk.found,
                self._keys.arrays,
                self._labels.arrays,
                *settings,
                chunk.seen,
                chunk.rows,
                chunk.nonzeros,
                chunk.offsets,
                chunk.ids,
                chunk.values,
                chunk.targets,
                chunk.codes,
                chunk.weights,
                chunk.spans,
                names,
                chunk.inputs,
                chunk.taken,
                chunk.input_names,
                chunk.buffer,
            )
            chunk.rows, chunk.nonzeros = int(rows), int(nonzeros)
            chunk.at, chunk.mark, chunk.found = int(at), int(mark), int(found)
            lines += int(more)
            word = chunk.data[start:end].tobytes()
            known = (
                (why == NEW_KEY and self._add_keys(word, chunk))
                or (why == NEW_DATES and self._add_parts(word))
                or (why == NEW_LABEL and self._add_label(word))
            )
            if not known:
                break
        here = slice(first, chunk.rows)
        labels, label_names = self._encoded(chunk.targets[here], chunk.codes[here])
        count = reader.sound + reader.bad
        block = Block(
            chunk.offsets[first : chunk.rows + 1],
            chunk.ids[: chunk.nonzeros],
            chunk.values[: chunk.nonzeros],
            labels,
            chunk.weights[here],
            label_names=label_names,
            names=self._names_in(chunk, int(names[0]), int(names[1])),
            space=self._space(bool(names[2])),
            numbers=np.arange(count, count + chunk.rows - first),
        )
        if options.derived:
            block = block._replace(interaction_inputs=self._inputs(chunk, here, taken))
        reader.sound += block.rows
        return PlainBlock(block, lines)

    def _names_in(self, chunk: Chunk, count: int, size: int) -> Names | None:
        """Return the names recorded of a chunk, `size` bytes at most: words of its lines, then of the text of keys."""
        if not count:
            return None
        spans = chunk.spans[:count]
        in_keys = spans[:, 0] >= TEXT_OF_KEYS
        if not in_keys.any():
            return copy_names([NewNames(chunk.data, chunk.data, spans, size)], EQUALS)
        own = spans[in_keys]
        own[:, :4] -= TEXT_OF_KEYS
        data, text = chunk.data, self._keys.arrays.text
        return copy_names([NewNames(data, data, spans[~in_keys], size), NewNames(text, text, own, size)], EQUALS)

    def _inputs(self, chunk: Chunk, rows: slice, start: int) -> InteractionInputs:
        """Return the inputs of some rows of a chunk, which begin at `start`."""
        entries = chunk.inputs.part(rows, start, int(chunk.taken[0]))
        return InteractionInputs(entries, tuple(self._fields), tuple(name.encode() + b"=" for name in self._fields))

    def _add_keys(self, word: bytes, chunk: Chunk) -> bool:
        """Add all new keys of the next object of a chunk, which is read again from its beginning.

        Returns whether `word`, one of them, is known now.
        """
        (line,), _ = lines_at(chunk.data, chunk.at, chunk.stop, 1)
        try:
            names = [name for name in object_of(line) if name not in self._names]
        except (ValueError, RecursionError):
            return False
        for name in names[: max(0, json_names.MOST - 1 - len(self._keys))]:
            self._add_key(name)
        return word.decode() in self._names

    def _add_key(self, name: str) -> None:
        options, word = self.reader.options, name.encode()
        role = self._role(name)
        if role > json_names.DATES:
            self._names[name] = self._keys.add(word, role)
            return
        own = column_key(name)
        whole, hashed = (feature_id(own, options.seed, bits) for bits in (options.bits, 32))
        field = 0
        if matches(name, options.derived.fields):
            self._fields.append(name)
            field = len(self._fields)
        pure = role == json_names.CATEGORIES and self.reader.kinds.may_lack_numbers(name)
        self._names[name] = self._keys.add(word, role, whole, hashed, isinstance(own, str), options.seed, field, pure)

    def _allow_numbers(self) -> None:
        """Let the kernels read numbers of categories known to have some; others need Python."""
        kinds = self.reader.kinds
        if kinds.mixed is not self._other_kinds:
            self._other_kinds = kinds.mixed
            for name in self._other_kinds.keys() & self._names.keys():
                self._keys.arrays.table[self._names[name], PURE] = kinds.may_lack_numbers(name)

    def _add_parts(self, word: bytes) -> bool:
        """Add the calendar parts of a key that has dates; return whether the kernels can read them."""
        name, options = word.decode(), self.reader.options
        fields = [f"{name}.{part}" for part in PARTS]
        if len(self._keys) + len(PARTS) >= json_names.MOST or len(name) + LONGEST_PART > options.limits.word:
            return False
        if any(matches(field, options.derived.fields) for field in fields):
            return False
        self._keys.add_parts(self._names[name], word, options.seed)
        return True

    def _role(self, name: str) -> np.uint8:
        options, known = self.reader.options, self.reader.kinds.known
        if matches(name, options.ignore):
            return json_names.IGNORED
        if name == self._label:
            return json_names.LABEL
        if self._label is None and find_label(options, [name], self.reader.name) is not None:
            return json_names.FALLBACK
        if name == options.weight:
            return json_names.WEIGHT
        if not is_named(name):
            return json_names.IGNORED
        if len(name) > options.limits.word:
            return json_names.FALLBACK
        if options.keep and not matches(name, options.keep):
            return json_names.IGNORED
        try:
            column_key(name)
        except ValueError:
            return json_names.FALLBACK
        kind = known.get(name) or options.kind_of(name)
        return ROLES.get(kind, json_names.FALLBACK)

    def _add_label(self, word: bytes) -> bool:
        """Add a word that is a label; return whether the table has room for it."""
        if len(self._labels) >= json_names.MOST - 1:
            return False
        text, options = word.decode(), self.reader.options
        value = label_of(text)
        sound = not is_infinite(text) and len(word) <= options.limits.longest_label
        if sound and options.label_positive is not None:
            value = as_sign(value, options.label_positive)
        self._values.append(value)
        self._labels.add(word, json_names.PLAIN if sound else json_names.FALLBACK)
        return True

    def _encoded(self, targets: np.ndarray, codes: np.ndarray) -> tuple[np.ndarray, list[Label] | None]:
        """Return labels as a block has them, of numbers (n,) and codes (n,) of words that are labels, 0 for none."""
        positive = self.reader.options.label_positive
        if positive is not None:
            targets = signs_of(targets, positive)
        if not codes.any():
            return targets, None
        if (codes > 0).all():
            different, firsts, inverse = np.unique(codes, return_index=True, return_inverse=True)
            order = np.argsort(firsts)
            found, names = encode_labels([self._values[code] for code in different[order]], len(order))
            places = np.empty(len(order))
            places[order] = found
            return places[inverse], names
        numbers = [None if target != target else tidy(target) for target in targets.tolist()]
        values = [self._values[code] if code else number for code, number in zip(codes, numbers, strict=True)]
        return encode_labels(values, len(values))

    def _space(self, words: bool) -> FeatureSpace:
        """Return the feature space of the objects read since the last reset."""
        reader, used = self.reader, self._keys.used()
        numbers = used[used[:, NAMED] == 0, ID]
        named = words or bool(used[:, NAMED].any())
        space = FeatureSpace(
            named=named,
            open_vocabulary=True,
            indicator=reader.options.indicator,
            kinds=dict(reader.kinds.known),
            mixed=reader.kinds.mixed,
        )
        return space._replace(lowest=0, highest=int(numbers.max())) if len(numbers) else space


Skipped = Callable[[int], None]
Item = TypeVar("Item")
Convert = Callable[[dict[str, Any], str], Item]


def parse_objects(
    source: Source,
    options: Options,
    on_skipped: Skipped,
    convert: Convert[Item],
) -> Iterator[list[Item]]:
    """Yield, by chunks, what `convert` returns for each object and its place (`file:line`); blank lines do not count.

    A line that is not an object, or for which `convert` raises UnexpectedError, is skipped if the options say so; else
    DataError follows the items before it.
    """
    lines = 0
    for data, start, stop in chunks_of(source, options.limits):
        text = bytes(data[start:stop]).split(b"\n")
        items, problem = _parse_lines(text, f"{source.name}:", lines, options, on_skipped, convert)
        yield items
        if problem is not None:
            raise problem.error(source.name, lines)
        lines += len(text) - 1


def _parse_lines(
    text: list[bytes], name: str, before: int, options: Options, on_skipped: Skipped, convert: Convert[Item]
) -> tuple[list[Item], Problem | None]:
    """Convert lines, behind `before` others, up to a bad one; return the items and the problem."""
    items: list[Item] = []
    for number, line in enumerate(text):
        if not line.strip():
            continue
        try:
            items.append(convert(object_of(line), f"{name}{before + number + 1}"))
        except DataError:
            raise
        except (ValueError, RecursionError) as error:
            if options.on_error == "skip":
                on_skipped(1)
                continue
            said = unexpected(error, options.limits)
            more = options.limits.longer(error.limit) if isinstance(error, LongWordError) else None
            return items, Problem(number, said.column or 1, said.found, said.expected, more)
    return items, None


def read_json_lines(
    source: Source, options: Options, on_skipped: Skipped, kinds: ColumnKinds, emitter: NameEmitter | None = None
) -> Iterator[Block]:
    """Yield the blocks of a file of JSON objects; `kinds` decides what its members hold."""
    lines = JsonLines(options, on_skipped, kinds, source.name, emitter)
    for number, chunk in enumerate(chunks_of(source, options.limits)):
        if not number:
            lines.infer(lines_at(*chunk, options.sample)[0], source.name)
        yield from lines.blocks(*chunk)


class JsonLines:
    """Reads the lines of one stream of JSON objects, chunk by chunk.

    Kernels read plain objects; Python reads the others, more at once where there are many of them.
    """

    def __init__(
        self, options: Options, on_skipped: Skipped, kinds: ColumnKinds, name: str, emitter: NameEmitter | None = None
    ) -> None:
        self.options = options
        self._emitter = emitter or NameEmitter(options.bits)
        self.on_skipped = on_skipped
        self.examples = JsonExamples(options, kinds, name)
        self._plain = PlainObjects(self.examples)
        self._lines = 0  # of the chunks before

    @property
    def read(self) -> int:
        """Return the number of objects read so far, skipped ones counted."""
        return self.examples.sound + self.examples.bad

    def infer(self, lines: list[bytes], where: str | None = None) -> None:
        """Infer what members hold from the first lines; those of the file `where` must fit what is known."""
        self.examples.infer(_sound_objects(lines), where)

    def blocks(self, data: np.ndarray, start: int, stop: int) -> Iterator[Block]:
        """Yield the blocks of whole lines of text, `data[start:stop]` (uint8)."""
        name, options = self.examples.name, self.options
        parts = []
        at_once, problem = 1, None
        chunk = Chunk(data, start, stop, options, self._emitter.begin())
        while chunk.at < chunk.stop and problem is None:
            if self._plain.supports(chunk):
                read = self._plain.read(chunk)
                parts.append(read.block)
                self._lines += read.lines
                at_once = min(MOST_AT_ONCE, 2 * at_once) if read.lines < 4 * at_once else max(1, at_once // 2)
            most = at_once if self._plain.supports(chunk) else MOST_AT_ONCE
            text, chunk.at = lines_at(chunk.data, chunk.at, chunk.stop, most)
            examples, problem = _parse_lines(
                text, f"{name}:", self._lines, options, self._leave_out, self.examples.example
            )
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
        self.on_skipped(count)


def json_batches(
    source: Source, options: Options, on_skipped: Skipped, needed: Sequence[str]
) -> Iterator[pyarrow.RecordBatch]:
    """Yield record batches of a file of JSON objects, all cells text, with the columns seen so far and `needed`."""
    columns = dict.fromkeys(needed)
    for rows in parse_objects(source, options, on_skipped, lambda row, _: flattened(row)):
        columns |= dict.fromkeys(name for row in rows for name in row)
        texts = {name: [_text(row.get(name)) for row in rows] for name in columns}
        if rows:
            arrays = [pyarrow.array(column, pyarrow.large_string()) for column in texts.values()]
            yield pyarrow.RecordBatch.from_arrays(arrays, names=list(texts))


def _sound_objects(lines: list[bytes]) -> list[dict[str, Any]]:
    """Return the objects among the lines; what is wrong with others is said when they are read."""
    found = []
    for line in lines:
        with suppress(ValueError, RecursionError):
            found.append(object_of(line))
    return found


def _text(value: object) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)
