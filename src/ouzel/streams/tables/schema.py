"""Schema inference: the kind of each column of a stream, decided once by the user, the model, its type or its cells.

Cells without a type, as in CSV files, are examined in the first rows of the first block. A column holds numbers if all
of these are numbers; any other holds words, also one that mixes the two, and one of codes: digits alone, some with a
zero before other digits. The decision holds for the whole stream, and a model keeps it. A model also keeps which
columns have had the other kind as well: words among numbers, numbers among categories. Where it knows one kind alone,
cells of another are refused (`is_strict`). JSON values have types, so that no row needs to be examined (`sample=0`):
each value is then what its type says, however the stream begins.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ouzel.deferred import deferred
from ouzel.errors import DataError, listed
from ouzel.kernels.jit import kernel
from ouzel.numerals import is_amount
from ouzel.streams.dates import are_iso, is_iso
from ouzel.streams.feature_space import CATEGORY, DATE, LIST, NUMBER, OTHER, TEXT, UNDECIDED
from ouzel.streams.kernels.numbers import parse_number
from ouzel.streams.missing import is_missing, is_na_in_numbers, is_na_number_token, is_na_token
from ouzel.streams.options import MOST_KNOWN, SAMPLE, Options
from ouzel.streams.tables.arrow_types import is_dictionary, is_list, is_moment, is_number, is_text, types
from ouzel.streams.tables.cells import Words, different, is_infinity, texts_of, words_of
from ouzel.streams.truth_values import NEITHER, truth_of
from ouzel.streams.values import is_of_other_kind, plain_value

if TYPE_CHECKING:
    from ouzel.streams import model_columns
    from ouzel.streams.tables import odd_cells
else:
    model_columns = deferred("ouzel.streams.model_columns")
    odd_cells = deferred("ouzel.streams.tables.odd_cells")

MOST_DATE = 64  # most bytes of a date, or of an amount
STARTS = frozenset("0123456789+-. tTfF")  # of text that may be a number or a truth value
SHORT = 4  # more than the characters of a mark with blanks
ADVICE = "taken as categories; --numeric {0} reads numbers, --categorical {0} says so"
MIXED = f"numbers and words, {ADVICE}"
SOME = "numbers and words ({1}), " + ADVICE  # with a place where one of the rarer ones is
CODES = f"numbers written like codes, with zeros before them, {ADVICE}"
AMOUNTS = (
    "words such as 1,5 or $5 or 9%, taken as categories; written 1.5 or 5 they are numbers; --categorical {0} says so"
)
DATED = "dates; --categorical {0} keeps them as words"
OF_KINDS = {NUMBER: "numbers", DATE: "dates", CATEGORY: "words", LIST: "lists", TEXT: "text"}
MISMATCH = "holds {}, and is known to hold {}; give those, or train a model on this table"


class KindError(DataError):
    """A column that holds something else than it is known to hold."""


class ColumnKinds:
    """The kinds of a stream's columns; `say` is called with a line on each surprising decision."""

    def __init__(self, options: Options, say: Callable[[str], None] = lambda line: None) -> None:
        self.options = options
        self.say = say
        self.known: dict[str, str] = {column: kind for column, kind in options.space.kinds.items() if kind != UNDECIDED}
        self._others: dict[str, str] = {}
        self._mixed: Mapping[str, str] | None = {}
        self.numeric: dict[str, str | int] = {}  # members of objects whose numbers are the values of these features
        self._strict: dict[str, bool] = {}
        self._lines: set[str] = set()  # lines that were said
        self._remarks: dict[str, list[str]] = {}  # columns by what there is to say of them
        self._mixed_cells: dict[str, tuple[Any, int]] = {}  # first cells of columns of both kinds, the row above
        options.check_kinds(self.known)

    def say_once(self, line: str) -> None:
        """Say a line, unless it has been said of this stream."""
        if line not in self._lines:
            self._lines.add(line)
            self.say(line)

    def wanted(self, columns: Sequence[str]) -> list[str]:
        """The columns that are not left out."""
        return [name for name in columns if self.options.wants(name)]

    @property
    def several_texts(self) -> bool:
        """Whether there is more than one column of text, so that words say which column they stand in."""
        return len(self.options.text) > 1 or list(self.known.values()).count(TEXT) > 1

    def is_text(self, column: str) -> bool:
        """Whether a column is known to hold text, whose words are features."""
        return (self.known.get(column) or self.options.kind_of(column)) == TEXT

    def is_strict(self, column: str) -> bool:
        """Whether the model knows that a column has values of one kind alone."""
        found = self._strict.get(column)
        if found is None:
            declared = self.options.kind_of(column) if self.options.has_column_options else None
            found = self._strict[column] = self.options.space.is_strict(column, declared)
        return found

    def may_lack_numbers(self, column: str) -> bool:
        """Whether a column of categories has had no number so far, or must have none."""
        had = column in self._others or column in self.options.space.mixed
        return column in self.known and (self.is_strict(column) or not had)

    def note_other(self, column: str, kind: str) -> None:
        """Record that a column of numbers has a category, too, or one of categories a number."""
        if column not in self._others:
            self._others[column] = kind
            self._mixed = None

    @property
    def mixed(self) -> Mapping[str, str]:
        """The columns of this stream that have had the other kind, too; a new object when there are more."""
        if self._mixed is None:
            self._mixed = dict(sorted(self._others.items()))
        return self._mixed

    def infer(self, rows: Sequence[Mapping[str, Any]], where: str | None = None) -> None:
        """Decide the kinds of members by the first objects of a stream, whose values have types.

        In a table, at the place `where`, a member of another kind than the known one is refused; so are objects to
        predict that have none of the model's columns.
        """
        self.numeric.clear()
        counts: dict[str, list[int]] = {}
        for row in rows[: self.options.sample]:
            for name, value in row.items():
                if not (isinstance(value, list) or is_missing(value)) and (name in counts or len(counts) < MOST_KNOWN):
                    _count_value(value, counts.setdefault(name, [0] * len(Counts._fields)))
        if where is not None and counts and self.options.predicting:
            model_columns.require_shared(list(counts), self.options.space, where, of_objects=True)
        for name, found in counts.items():
            count = Counts(*found)
            declared, known = self.options.kind_of(name), self.known.get(name)
            if known is None:
                self.known[name] = declared or self._by_counts(name, count)
            elif where is not None and known in OTHER and self.is_strict(name):
                self._check(name, known, count.among(known), where)
            numbers = count.written or (count.numbers and not self.is_strict(name))
            if self.known[name] == CATEGORY and (numbers or declared == CATEGORY):
                self.note_other(name, NUMBER)
        self.report()

    def decide(self, column: str, array: Any, typed: bool, where: str, above: int = 0) -> str:
        """The kind of a column, by its cells if nothing else decides; it holds for the rest of the stream.

        A column of another kind than the known one is refused; `where` names the table, `above` its first row.
        """
        if is_list(array.type):
            self._check(column, self.known.setdefault(column, LIST), LIST, where)
            return LIST
        known, declared = self.known.get(column), self.options.kind_of(column)
        if known == LIST:
            return CATEGORY  # one word, where there may be several
        if known is None and declared is None and types.is_null(array.type):
            return NUMBER  # for now
        if known in OTHER or (known == DATE and types.is_boolean(array.type)):
            self._check(column, known, self._kind_of_cells(column, array, typed, known), where)
        elif known is None:
            self.known[column] = declared or self._kind_of_cells(column, array, typed, None)
            if column in self._remarks.get(MIXED, ()):
                self._mixed_cells[column] = array.slice(0, self.options.sample or SAMPLE), above
        kind = array.type.value_type if is_dictionary(array) else array.type
        if self.known[column] == CATEGORY and (declared == CATEGORY or is_number(kind)):
            self.note_other(column, NUMBER)
        return self.known[column]

    def _kind_of_cells(self, column: str, array: Any, typed: bool, known: str | None) -> str:
        """The kind of a column by its type, or by its first cells if it is text; records values of another kind."""
        if types.is_null(array.type) and known is not None:
            return known
        if is_number(array.type) or (known == NUMBER and types.is_boolean(array.type)):
            return NUMBER
        if is_moment(array.type):
            return DATE
        if not is_text(array.type.value_type if is_dictionary(array) else array.type):
            return CATEGORY
        words = words_of(different(array.slice(0, self.options.sample or SAMPLE)))
        numbers, others, marks, coded, truths = map(int, count_cells(words))
        count = Counts(numbers, others, marks, coded, truths=truths)
        if count.words and np.diff(words.offsets).max() <= MOST_DATE:
            dates = not count.numbers and are_iso(texts_of(words))
            amounts = known is None and all(
                is_amount(text) or not is_of_other_kind(text, NUMBER) for text in texts_of(words)
            )
            count = count._replace(dates=count.words * dates, amounts=count.words * amounts)
        if known is None:
            found = self._by_counts(column, count) if count.dates or count.amounts or not typed else CATEGORY
        else:
            lenient = (typed and known == CATEGORY) or not self.is_strict(column)
            found = known if lenient else count.among(known)
        if count.numbers and found == CATEGORY:
            self.note_other(column, NUMBER)
        return found

    def _check(self, column: str, known: str, given: str, where: str) -> None:
        """Refuse a column whose kind is not the known one."""
        if known == given or known in (LIST, TEXT) or (known == DATE and given == NUMBER):  # of seconds
            return
        if known == CATEGORY and not (given == NUMBER and self.is_strict(column)):
            return  # dates and lists are words, too
        raise KindError.at(where, MISMATCH.format(OF_KINDS[given], OF_KINDS[known]), column=column)

    def report(self) -> None:
        """Say what was decided of columns against first sight, one line for all that are alike."""
        for what, columns in self._remarks.items():
            one = len(columns) == 1
            names = f"column {columns[0]!r}" if one else f"columns {listed(columns, 5)}"
            mixed = self._mixed_cells.get(columns[0]) if one and what is MIXED else None
            place = mixed and odd_cells.place_of_odd(*mixed)
            what = SOME if place else what
            self.say(f"{names}: {what.format(shlex.quote(columns[0]) if one else 'NAME', place)}")
        self._remarks.clear()
        self._mixed_cells.clear()

    def _by_counts(self, column: str, count: Counts) -> str:
        """The kind of a column by the counts of its cells; records a remark on what may surprise."""
        if count.remark is not None:
            self._remarks.setdefault(count.remark, []).append(column)
        return count.kind


class Counts(NamedTuple):
    """Counts of the cells of a column, or of the values of a member, by sort; missing ones are not counted."""

    numbers: int = 0
    words: int = 0  # truth values and dates, too
    marks: int = 0  # words that mean missing in a column of numbers
    coded: int = 0  # whether all numbers are written like codes
    dates: int = 0  # words that are dates
    written: int = 0  # words that are numbers written as text
    truths: int = 0  # words that are truth values
    amounts: int = 0  # words that would be numbers without signs and commas

    @property
    def kind(self) -> str:
        """The kind of the column: words, unless all of its cells are numbers or dates."""
        if self.words and self.dates == self.words + self.marks and not self.numbers:
            return DATE
        return CATEGORY if self.words or self.coded or (self.marks and not self.numbers) else NUMBER

    @property
    def remark(self) -> str | None:
        """The line on the column, if its kind may surprise."""
        if self.kind == DATE:
            return DATED
        if self.amounts and self.amounts + self.written == self.words:
            return AMOUNTS
        return (MIXED if self.words else CODES) if self.numbers and self.kind == CATEGORY else None

    def among(self, known: str) -> str:
        """The kind of a column that is known to hold numbers, or categories: that kind, if it has any such cell."""
        if known == NUMBER:
            return NUMBER if self.numbers or self.written or self.truths or not self.words else self.kind
        return NUMBER if self.numbers and not self.marks and self.kind == NUMBER else CATEGORY


def _count_value(value: Any, counts: list[int]) -> None:
    """Count a value of an object, which is not missing, in the `Counts` of its member."""
    if not isinstance(value, (str, bool)):
        counts[0] += 1
        return
    if counts[4] == counts[1]:  # all words so far are dates
        counts[4] += isinstance(value, str) and is_iso(value.strip(" "))
    if counts[5] + counts[7] == counts[1] and isinstance(value, str):  # all words so far are numbers or amounts
        counts[7] += is_amount(value)
    is_mark = isinstance(value, str) and len(value) < SHORT and is_na_in_numbers(value.strip(" "))
    counts[2 if is_mark else 1] += 1
    if not is_mark and (value is True or value is False or value[:1] in STARTS):
        plain = plain_value(value)
        counts[6 if isinstance(plain, bool) else 5] += not is_of_other_kind(plain, NUMBER)


@kernel
def count_cells(words: Words):
    """Count cells that are not missing: numbers, words, words that mean missing among numbers, and truth values.

    Returns (numbers, words, marks, coded, truths), where the numbers are `coded` if they are written like codes.
    """
    numbers = others = marks = padded = plain = truths = 0
    for i in range(len(words.valid)):
        start, stop = words.offsets[i], words.offsets[i + 1]
        while start < stop and words.data[start] == 32:
            start += 1
        while stop > start and words.data[stop - 1] == 32:
            stop -= 1
        if not words.valid[i] or start == stop:
            continue
        _, end = parse_number(words.data, start, stop)
        if end != stop and not is_infinity(words.data, start, stop):
            if is_na_number_token(words.data, start, stop):
                marks += 1
            elif not is_na_token(words.data, start, stop):
                others += 1
                truths += truth_of(words.data, start, stop - start) != NEITHER
            continue
        numbers += 1
        digits = 0
        for k in range(start, stop):
            byte = words.data[k]
            digits += 48 <= byte <= 57 or byte == 69 or byte == 101
        if digits == stop - start:
            plain += 1
            padded += digits > 1 and words.data[start] == 48
    return numbers, others, marks, padded > 0 and plain == numbers, truths
