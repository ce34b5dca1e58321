"""Record batches as blocks of examples: the roles of columns, labels, weights, groups and ids, and bad rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow

from ouzel.deferred import deferred
from ouzel.errors import DataError, bad_line, listed
from ouzel.numerals import as_number
from ouzel.sketches.hashing import MOST_ID
from ouzel.streams.block import LARGEST, ROWS, Block, Slots
from ouzel.streams.dates import EXPECTED, PARTS
from ouzel.streams.feature_names import ID, is_named
from ouzel.streams.feature_space import DATE, NUMBER
from ouzel.streams.feature_specs import is_pattern
from ouzel.streams.kernels.new_names import NameEmitter
from ouzel.streams.label_remarks import as_one
from ouzel.streams.labels import INFINITE, Label, as_sign, group_id, is_infinite, label_of
from ouzel.streams.limits import Limits
from ouzel.streams.options import OF_COLUMNS, Options
from ouzel.streams.sources.error_context import reason_of
from ouzel.streams.tables.arrow_types import (
    as_kind,
    cells_of,
    column_errors,
    dictionary_size,
    encoded,
    is_dictionary,
    is_list,
    is_number,
    is_single,
    is_there,
    not_utf8,
    numbers_of,
    tags_of,
    text_size,
)
from ouzel.streams.tables.cells import NO_NUMBER, NOT_A_DATE, NOT_FINITE, TOO_LONG
from ouzel.streams.tables.checked_columns import FeatureColumns
from ouzel.streams.tables.column_buffers import Features, read_sparse
from ouzel.streams.tables.csv_cells import SkippedRows, TableBatch, TokenizedRows, as_arrow
from ouzel.streams.tables.schema import ColumnKinds
from ouzel.streams.values import KNOWN

if TYPE_CHECKING:
    from ouzel.streams import model_columns
else:
    model_columns = deferred("ouzel.streams.model_columns")  # of data to predict

MOST_TEXT = 1 << 24  # bytes of names in rows that are read together
FINITE = "expected a finite number that fits 32-bit floating point, or nothing"
WEIGHT = "expected a weight, a finite number of 0 or more"
UTF8 = "expected text in UTF-8"
GROUP = "expected the name or number of a group"
Encoded = tuple[np.ndarray, list[Any]]  # cells (n,) as positions in a list of them, -1 where there is nothing


def split_by_text_size(
    batch: TableBatch, columns: Sequence[str], is_text: Callable[[str], bool]
) -> Iterator[TableBatch]:
    """A batch in parts with limited text; a column that `is_text` has a feature for each word, others for each cell."""
    if isinstance(batch, TokenizedRows):
        if len(batch.data) <= MOST_TEXT:
            yield batch
            return
        batch = batch.to_arrow()
    if batch.num_rows == 1 or _size(batch, columns, is_text, _at_most) <= MOST_TEXT:
        yield batch
        return
    if _size(batch, columns, is_text, _text_size) <= MOST_TEXT:
        yield batch
        return
    half = batch.num_rows // 2
    yield from split_by_text_size(batch.slice(0, half), columns, is_text)
    yield from split_by_text_size(batch.slice(half), columns, is_text)


def _size(
    batch: TableBatch,
    columns: Sequence[str],
    is_text: Callable[[str], bool],
    size: Callable[[pyarrow.Array, bool], int],
) -> int:
    return sum(size(batch.column(column), is_text(column)) for column in columns)


def _at_most(array: pyarrow.Array, by_words: bool) -> int:
    """An upper bound on the bytes of the names in a column: those of all words of a dictionary."""
    return dictionary_size(array) if is_dictionary(array) and not by_words else _text_size(array, by_words)


def _text_size(array: pyarrow.Array, by_words: bool) -> int:
    """Bytes of the names in a column."""
    if is_number(array.type):
        return 0
    size = text_size(array)
    return size if by_words or not is_dictionary(array) else min(size, dictionary_size(array))


class Columns:
    """The roles of a table's columns. They are `typed` if types say what columns hold, as in all formats but CSV.

    A number is the value of the feature with the name of its column (a column named by an integer has that id); a word
    is the feature `column=word`, and so is each word of a list. Null cells and zeros are absent. A table with list
    columns `indices` and `values` has sparse rows in them, and no other features. A column without a name, or with the
    name that pandas gives to an unnamed index, numbers the rows and is left out.
    """

    def __init__(
        self,
        options: Options,
        schema: pyarrow.Schema,
        label: str | None,
        typed: bool = True,
        name: str = "table",
        kinds: ColumnKinds | None = None,
        above: int = 0,
        ragged: SkippedRows | None = None,
        emitter: NameEmitter | None = None,
        slots: Slots | None = None,
    ) -> None:
        self.options = options
        self.name = name
        self.label = label
        self.above = above  # lines above the first row, which count in messages
        self.rows = 0  # rows seen
        self.ragged = ragged  # rows that the parser has skipped
        self.too_long = {limit: options.limits.expected(limit) for limit in ("word", "label")}
        self._encoded: Encoded = np.empty(0, np.int64), []  # labels of the batch that was read
        names = [column for column in schema.names if is_named(column)]
        check_names(names, self.name, options.limits)
        unlabelled = options.unlabelled
        named = [column for name in OF_COLUMNS for column in getattr(options, name)]
        self.weight = None if unlabelled and options.weight not in names else options.weight
        self.id = None if unlabelled and options.id not in names else options.id
        for column in (name for name in (label, self.weight, options.group, self.id) if name is not None):
            self._check_there(column, names)
            kind = schema.field(column).type
            if column in (label, options.group, self.id) and not is_single(kind):
                raise DataError.at(name, f"holds {kind}; expected numbers or names", column=column)
        for column in (*options.dates, *options.requested.fields, *named):
            optional = unlabelled or is_pattern(column) or _may_lack(column, options)
            if not (optional or _may_be_part_of_date(column, names, options)):
                self._check_there(column, names)
        self.sparse = has_sparse_rows(schema)
        kinds = kinds or ColumnKinds(options)
        aside = {label, self.weight, options.group, self.id}
        features = [] if self.sparse else kinds.wanted([column for column in names if column not in aside])
        if options.predicting and options.space.fixed_columns and not self.sparse:
            features = model_columns.columns_of_model(features, options.space, name, kinds.say)
        elif options.space.width is not None and options.space.kinds and set(features) != set(options.space.kinds):
            raise DataError.at(name, f"has other columns than the {options.space.width} that the model was learnt from")
        elif options.predicting and not self.sparse:
            model_columns.require_shared(features, options.space, name)
        read = {*features, label, options.group, self.id}
        self._texts = [column for column in names if column in read] if typed else []
        self.features = FeatureColumns(
            features, options, typed, name, kinds, emitter or NameEmitter(options.bits), slots
        )

    def _check_there(self, column: str, names: list[str]) -> None:
        if column not in names:
            raise DataError.at(self.name, f"has no column {column!r}; its columns are {listed(names)}")

    def blocks(self, batch: TableBatch, on_skipped: Callable[[int], None], most: int = ROWS) -> Iterator[Block]:
        """The examples of a record batch in blocks of at most `most` rows. Bad rows are skipped if the options say so.

        Else DataError is raised for the first of them, after the rows before it.
        """
        for part in split_by_text_size(batch, self.features.columns, self.features.kinds.is_text):
            for block in self._blocks(part, on_skipped):
                yield from block.parts(most)

    def _blocks(self, batch: TableBatch, on_skipped: Callable[[int], None]) -> Iterator[Block]:
        rows, refused = self._read(batch)
        every = np.arange(batch.num_rows)
        if not refused:
            yield self._block(batch, rows, every)
            self.rows += batch.num_rows
            return
        batch = as_arrow(batch)
        if self.options.on_error == "skip":
            kept = np.ones(batch.num_rows, np.bool_)
            kept[list(refused)] = False
            on_skipped(len(refused))
            sound = _chosen(batch, kept)
            yield self._block(sound, self._read(sound)[0], every[kept])
        else:
            row = min(refused)
            sound = batch.slice(0, row)
            yield self._block(sound, self._read(sound)[0], every[:row])
            column, advice = refused[row]
            cell = batch.column(column)[row].as_py()
            found = "nothing" if cell is None else reason_of(repr(cell))
            passed = next((limit for limit, text in self.too_long.items() if text is advice), None)
            limits = None if passed is None else self.options.limits.longer(passed)
            place = self.above + self.rows + row + 1
            raise bad_line(self.name, found, advice, row=place, column=column, unit="rows", limits=limits)
        self.rows += batch.num_rows

    def _read(self, batch: TableBatch) -> tuple[Features, dict[int, tuple[str, str]]]:
        """The features of a batch, and its bad rows with a column each and what was expected there."""
        refused: dict[int, tuple[str, str]] = {}

        def refuse(bad: np.ndarray, column: str, advice: str) -> None:
            for row in np.flatnonzero(bad).tolist():
                refused.setdefault(row, (column, advice))

        for column in self._texts if not isinstance(batch, TokenizedRows) else ():
            with column_errors(batch, column, self.name):
                refuse(not_utf8(batch.column(column)), column, UTF8)
        if self.sparse:
            with column_errors(batch, "indices", self.name):
                sparse, space, unsound, wrong = read_sparse(batch)
            features = Features(sparse, None, space)
            refuse(unsound, "values", "expected as many finite values as indices")
            refuse(wrong, "indices", f"expected ids from 0 to {MOST_ID}")
        else:
            self.features.above = self.above + self.rows
            features, found = self.features.read(batch)
            for column, cells in found:
                refuse(cells == NOT_FINITE, column, FINITE)
                refuse(cells == TOO_LONG, column, self.too_long["word"])
                refuse(cells == NOT_A_DATE, column, EXPECTED)
                refuse(cells == NO_NUMBER, column, KNOWN.format("a number"))
        if self.label is not None:
            with column_errors(batch, self.label, self.name, "label"):
                self._encoded = _encoded(batch, self.label)
                kind = batch.schema.field(self.label).type
                numbers = numbers_of(batch.column(self.label), 0.0) if is_number(kind) else None
                infinite, sizes = _infinite_and_sizes(numbers, self._encoded)
            refuse(infinite, self.label, INFINITE)
            for limit, advice in self.too_long.items():
                refuse(sizes > getattr(self.options.limits, limit), self.label, advice)
        if self.weight is not None:
            weights = self._weights(batch)
            refuse(~((weights >= 0.0) & (weights <= LARGEST)), self.weight, WEIGHT)
        if self.options.group is not None:
            nulls = ~is_there(batch.column(self.options.group))
            refuse(nulls, self.options.group, GROUP)
        return features, refused

    def _block(self, batch: TableBatch, features: Features, kept: np.ndarray) -> Block:
        """The block of a batch of good rows, at positions `kept` (n,) in the batch that was read."""
        labels, label_names = self._labels(batch)
        return Block(
            *features.rows,
            labels,
            self._weights(batch).astype(np.float32),
            groups=self._groups(batch),
            label_names=label_names,
            names=features.names,
            interaction_inputs=features.interaction_inputs,
            space=features.space,
            tags=None if self.id is None else tags_of(batch.column(self.id)),
            numbers=self._numbers(kept) if self.options.on_error == "skip" else None,
            in_slots=features.in_slots,
        )

    def _numbers(self, kept: np.ndarray) -> np.ndarray:
        """The positions in the table of rows (n,) of the present batch; rows that the parser skipped count."""
        rows = self.rows + kept
        return rows if self.ragged is None else self.ragged.positions(rows)

    def _weights(self, batch: TableBatch) -> np.ndarray:
        """Importance weights (n,) float64; NaN where a cell is null or no number."""
        if self.weight is None:
            return np.ones(batch.num_rows)
        with column_errors(batch, self.weight, self.name, "weight"):
            array = as_kind(batch.column(self.weight), NUMBER)
            if is_number(array.type):
                return numbers_of(array, math.nan)
            return np.array([as_number(str(cell)) for cell in cells_of(array)])

    def _groups(self, batch: TableBatch) -> np.ndarray | None:
        """Group ids (n,) int64: whole numbers, or the hashes of names."""
        if self.options.group is None:
            return None
        with column_errors(batch, self.options.group, self.name, "group"):
            codes, known = encoded(batch.column(self.options.group), "strict")
        return np.array([*(group_id(cell, self.options.seed) for cell in known), 0], np.int64)[codes]

    def _labels(self, batch: TableBatch) -> tuple[np.ndarray, list[Label] | None]:
        """Labels (n,): numbers, or positions in the names if any label is not a number; NaN where null."""
        if self.label is None:
            return np.full(batch.num_rows, np.nan), None
        codes, cells = self._encoded
        known = [label_of(cell) for cell in cells]
        remark = as_one(known) if self.options.label_positive is None else None
        if remark is not None:
            self.features.kinds.say_once(remark)
        if self.options.label_positive is not None:
            known = [as_sign(label, self.options.label_positive) for label in known]
        names: list[Label] | None = None
        if any(isinstance(label, (str, bool)) for label in known):
            names = [label for label in dict.fromkeys(known) if label is not None]
            places = {label: place for place, label in enumerate(names)}
            known = [None if label is None else places[label] for label in known]
        numbers = np.array([math.nan if label is None else float(label) for label in known] + [math.nan])
        return numbers[codes], names


def _chosen(batch: pyarrow.RecordBatch, kept: np.ndarray) -> pyarrow.RecordBatch:
    """The rows of a batch that are kept (n,) bool. PyArrow concatenates any type, but filters few."""
    edges = np.flatnonzero(np.diff(kept, prepend=False, append=False)).reshape(-1, 2)
    return pyarrow.concat_batches([batch.slice(0, 0), *(batch.slice(start, stop - start) for start, stop in edges)])


def _may_lack(column: str, options: Options) -> bool:
    """Return whether a table may lack a column that is ignored: an id of a service, or what a model has not learnt."""
    return column in options.ignore and (column == ID or bool(options.space.kinds))


def _may_be_part_of_date(column: str, names: Sequence[str], options: Options) -> bool:
    """Return whether a name is that of a calendar part, such as `when.hour`, of a column that may hold dates."""
    date, _, part = column.rpartition(".")
    return part in PARTS and date in names and options.kind_of(date) in (None, DATE)


def _encoded(batch: TableBatch, column: str) -> Encoded:
    """A column, of any kind of batch, as positions (n,) in a list of its different cells."""
    found = batch.encoded(column) if isinstance(batch, TokenizedRows) else None
    return encoded(batch.column(column)) if found is None else found


def _infinite_and_sizes(numbers: np.ndarray | None, encoded: Encoded) -> tuple[np.ndarray, np.ndarray]:
    """Whether labels (n,), which may be `numbers`, are infinite, and how many characters those have that are words."""
    if numbers is not None:
        return np.isinf(numbers), np.zeros(len(numbers), np.int64)
    codes, known = encoded
    sizes = [len(cell) if isinstance(cell, str) else 0 for cell in known]
    return np.array([*map(is_infinite, known), False])[codes], np.array([*sizes, 0], np.int64)[codes]


def check_names(columns: Sequence[str], name: str, limits: Limits) -> None:
    """Refuse names of columns that occur twice, or are too long; `name` is that of the table."""
    if len(set(columns)) < len(columns):
        twice = next(column for column in columns if columns.count(column) > 1)
        raise DataError.at(name, f"two columns are named {twice!r}; give each a name of its own")
    long = next((column for column in columns if len(column) > limits.word), None)
    if long is not None:
        found = f"has a column whose name is {len(long):,} characters long"
        raise limits.exceeded(name, "word", found)


def has_sparse_rows(schema: pyarrow.Schema) -> bool:
    """Return whether the rows of a table are lists of ids, `indices`, and of their `values`."""
    names = schema.names
    return all(names.count(name) == 1 and is_list(schema.field(name).type) for name in ("indices", "values"))
