"""Reader of rows with their attributes, marked as outliers or inliers, from tables and sparse files."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pyarrow
import pyarrow.compute

from ouzel.analytics.explanation.conditions import Condition
from ouzel.analytics.items import check_column, prefixed, slots_of_rows, text_column
from ouzel.errors import DataError, OuzelError
from ouzel.numerals import as_number
from ouzel.streams.feature_names import is_named
from ouzel.streams.formats.batches import record_batches
from ouzel.streams.formats.catalogue import Format, find_format
from ouzel.streams.options import Options
from ouzel.streams.read import Stream
from ouzel.streams.sources.error_context import error_context
from ouzel.streams.sources.source import Source
from ouzel.streams.tables.arrow_types import filled, is_there
from ouzel.streams.truth_values import TRUTHS

ANSWERS = {**TRUTHS, **dict.fromkeys(("t", "yes", "y"), True), **dict.fromkeys(("f", "no", "n"), False)}
"""Words in a column that is said to mark outliers; elsewhere only truth values are read as such."""


MOST_SHOWN = 5  # values that an error names
ENOUGH, NEAR_UNIQUE = 200, 0.5  # rows that tell whether a column is nearly unique; of these, its values


class Attributes(NamedTuple):
    """Rows in compressed form: row i has the attributes `slots[offsets[i]:offsets[i + 1]]`."""

    offsets: np.ndarray  # (n + 1,) int64
    slots: np.ndarray  # (attributes,) uint32
    outliers: np.ndarray  # (n,) bool
    name_of: Callable[[int], str]  # of a position among the slots


@dataclass
class Rule:
    """Rule that marks outliers: a condition, a value of the label, or a column of true and false."""

    condition: Condition | None = None
    column: str | None = None
    positive: str | None = None  # the value of that column; by default whatever is true, or above 0
    rows: int = field(default=0, init=False)  # rows seen, for messages
    left_out: int = field(default=0, init=False)  # rows without the value that decides
    numbers: set[float] = field(default_factory=set, init=False)  # the first values of a column that is to be above 0
    near_unique: dict[str, tuple[int, int]] = field(default_factory=dict, init=False)  # columns: values, rows looked at

    def __post_init__(self) -> None:
        if self.condition is not None:
            self.column = self.condition.column

    def decide(self, cells: Any, name: str, skip: bool) -> tuple[np.ndarray, np.ndarray]:
        """Return which rows (n,) are outliers and which are decided, by the text in the deciding column."""
        by_text = self.positive is not None if self.condition is None else not self.condition.numeric
        if by_text:
            known = is_there(cells)
            values = np.array(cells.to_pylist(), object)
            outliers = values == self.positive if self.condition is None else self.condition.holds(values)
        else:
            numbers = self._numbers(cells, name, skip)
            known = ~np.isnan(numbers)
            outliers = np.zeros(len(numbers), np.bool_)
            outliers[known] = numbers[known] > 0 if self.condition is None else self.condition.holds(numbers[known])
            if self.condition is None and len(self.numbers) <= MOST_SHOWN:
                self.numbers.update(np.unique(numbers[known])[: MOST_SHOWN + 1].tolist())
        self.rows += len(known)
        self.left_out += int((~known).sum())
        return np.asarray(outliers, np.bool_) & known, known

    def check_numbers(self) -> None:
        """Refuse a column of which every value is above 0: it does not say which rows are outliers."""
        if self.positive is None and self.condition is None and self.numbers and min(self.numbers) > 0.0:
            shown = ", ".join(f"{number:.6g}" for number in sorted(self.numbers)[:MOST_SHOWN])
            more = ", …" if len(self.numbers) > MOST_SHOWN else ""
            raise OuzelError(
                f"every value of {self.column!r} is above 0 ({shown}{more}), so every row would be one to explain; "
                "name the label of those rows with --label-positive"
            )

    def note_values(self, column: str, values: int, rows: int) -> None:
        """Note how many values a column has in the first rows."""
        if rows >= ENOUGH and values > NEAR_UNIQUE * rows:
            self.near_unique.setdefault(column, (values, rows))

    def _numbers(self, cells: Any, name: str, skip: bool) -> np.ndarray:
        """Return cells (n,) as numbers, NaN where there are none."""
        try:
            numbers = filled(cells.cast(pyarrow.float64()), np.nan)
        except pyarrow.ArrowInvalid:
            numbers = np.array([self._number(cell) for cell in cells.to_pylist()])
        known = is_there(cells)
        bad = known & ~np.isfinite(numbers)
        if bad.any() and not skip:
            k = int(np.argmax(bad))
            expected = "a number" if self.condition else "0 or 1, no or yes; name the value with --label-positive"
            found = repr(cells[k].as_py())
            raise DataError.at(name, found, f"expected {expected}", row=self.rows + k + 1, column=self.column)
        return np.where(np.isfinite(numbers), numbers, np.nan)

    def _number(self, cell: str | None) -> float:
        if cell is None:
            return np.nan
        truth = ANSWERS.get(cell.lower()) if self.condition is None else None
        return as_number(cell) if truth is None else float(truth)


def rows_of(
    source: Source, format: str | None, rule: Rule, options: Options, attributes: Sequence[str] = ()
) -> Generator[Attributes]:
    """Yield the rows of a source in blocks; attributes are those named, or all but the rule's and ignored ones."""
    known = find_format(source, format)
    with error_context(source, known.name):
        if known.is_table:
            yield from _of_table(source, known, rule, options, attributes)
        elif rule.condition is not None or rule.column is not None:
            raise OuzelError(
                f"{source.name}: is {known.name}, which has no columns; its outliers are the labels above 0"
            )
        else:
            yield from _of_labels(source, known, rule, options)


def _of_table(
    source: Source, format: Format, rule: Rule, options: Options, attributes: Sequence[str]
) -> Iterator[Attributes]:
    if rule.column is None:
        raise OuzelError(
            "which rows are outliers? Say --outlier 'amount > p80', or name a column with --outlier-column"
        )

    def skipped(count: int) -> None:
        rule.left_out += count

    needed = [rule.column, *attributes, *options.ignore]
    for batch in record_batches(source, options, format, skipped, needed):
        cells = text_column(batch, rule.column, source.name)
        outliers, known = rule.decide(cells, source.name, options.on_error == "skip")
        for column in options.ignore:
            check_column(batch, column, source.name)
        names = list(attributes) or [
            column
            for column in batch.schema.names
            if is_named(column) and column != rule.column and column not in options.ignore
        ]
        texts = [text_column(batch, column, source.name) for column in names]
        if rule.rows == len(known):  # the first rows
            for column, text in zip(names, texts, strict=True):
                rule.note_values(column, pyarrow.compute.count_distinct(text).as_py(), len(text))
        arrays = [prefixed(column, text) for column, text in zip(names, texts, strict=True)]
        if not arrays:
            raise DataError.at(source.name, f"has no column beside {rule.column!r}; there is nothing to explain it by")
        there, slots, name_of = slots_of_rows(arrays, options.seed, known)
        offsets = np.concatenate([[0], np.cumsum(there.sum(axis=1)[known])])
        yield Attributes(offsets, slots, outliers[known], name_of)


def _of_labels(source: Source, format: Format, rule: Rule, options: Options) -> Iterator[Attributes]:
    for block in Stream([source], format.name, options):
        known = ~np.isnan(block.labels)
        rule.left_out += int((~known).sum())
        block = block.select(np.flatnonzero(known))
        if block.label_names is not None:
            raise DataError.at(
                source.name,
                f"has labels such as {block.label_names[0]!r}; say which is an outlier with",
                label_positive="LABEL",
            )
        ids = block.indices
        names = {} if block.names is None else _names(block.names)
        offsets = block.offsets.astype(np.int64)

        def name_of(k: int, ids: np.ndarray = ids, names: dict[int, str] = names) -> str:
            return names.get(int(ids[k]), str(ids[k]))

        yield Attributes(offsets, ids + np.uint32(1), block.labels > 0, name_of)


def _names(names: Any) -> dict[int, str]:
    spans = zip(names.ids.tolist(), names.starts.tolist(), names.ends.tolist(), strict=True)
    return {feature: names.text[start:end].tobytes().decode("utf-8", "replace") for feature, start, end in spans}
