"""What each column of a stream's tables holds, decided once: by the user, by the model, by its type or by its cells.

Cells without a type, as those of CSV files, are looked at in the first rows of the first block. A column in which all
of them are numbers holds numbers, any other holds words: one that mixes the two, and one whose numbers are codes,
written in digits alone and some with a zero before other digits. What was decided holds for the whole stream, and a
model keeps it. Of JSON objects, whose values have types, no row need be looked at (`sample=0`): each value is then what
its type says, however the stream begins.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ouzel.errors import DataError, OuzelError, listed
from ouzel.kernels.jit import kernel
from ouzel.streams.dates import are_iso, is_iso
from ouzel.streams.feature_space import CATEGORY, DATE, LIST, NUMBER, TEXT, own_name
from ouzel.streams.missing import is_missing, is_number_mark, marks_no_number, says_nothing
from ouzel.streams.options import SAMPLE, Options
from ouzel.streams.tables.arrow_types import as_text, is_coded, is_list, is_moment, is_number, is_text, types
from ouzel.streams.tables.cells import Words, says_infinite, words_of
from ouzel.streams.text.numbers import parse_number

MOST_KNOWN = 4096  # members of objects that are decided on; others are what each value is
MOST_DATE, SHORT = 64, 4  # bytes that a date takes at most; those of a mark are fewer, with blanks
AS_TOLD = "taken as categories; --numeric {0} reads numbers, --categorical {0} says so"
MIXED = f"numbers and words, {AS_TOLD}"
CODES = f"numbers written like codes, with zeros before them, {AS_TOLD}"
DATED = "dates; --categorical {0} keeps them as words"
OF_KINDS = {NUMBER: "numbers", DATE: "dates", CATEGORY: "words", LIST: "lists", TEXT: "text"}
MISMATCH = "{}: column {!r} holds {}, and is known to hold {}; give those, or train a model on this table"


class KindError(DataError):
    """A column that holds something else than it is known to hold."""


class ColumnKinds:
    """What the columns of a stream hold; `say` is told in a line what was decided against first sight."""

    def __init__(self, options: Options, say: Callable[[str], None] = lambda line: None) -> None:
        self.options = options
        self.say = say
        self.known: dict[str, str] = dict(options.space.kinds)
        self.plain: dict[str, str | int] = {}  # members of objects whose numbers are the values of these features
        self._said: set[str] = set()  # lines that are said once
        self._noticed: dict[str, list[str]] = {}  # columns of which there is something to say
        check_kinds(options, self.known)

    def say_once(self, line: str) -> None:
        """Say a line, unless it has been said of this stream."""
        if line not in self._said:
            self._said.add(line)
            self.say(line)

    def wanted(self, columns: Sequence[str]) -> list[str]:
        """The columns that are not to be left out."""
        return [name for name in columns if self.options.wants(name)]

    @property
    def several_texts(self) -> bool:
        """Whether there is more than one column of text, so that words tell which they stand in."""
        return len(self.options.text) > 1 or list(self.known.values()).count(TEXT) > 1

    def is_text(self, column: str) -> bool:
        """Whether a column holds text, whose words are features, as far as is known."""
        return (self.known.get(column) or self.options.kind_of(column)) == TEXT

    def take_plain(self, name: str) -> None:
        """Take note that a number of this member has been a feature's value, and that the next one will be."""
        if len(self.plain) < MOST_KNOWN:
            self.plain[name] = own_name(name)

    def look(self, rows: Sequence[Mapping[str, Any]], where: str | None = None) -> None:
        """Decide what the members of the first objects of a stream hold, whose values have types of their own.

        In a table, which is at the place `where`, a member that is known to hold something else is refused.
        """
        self.plain.clear()
        counts: dict[str, list[int]] = {}
        for row in rows[: self.options.sample]:
            for name, value in row.items():
                if not (isinstance(value, list) or is_missing(value)) and (name in counts or len(counts) < MOST_KNOWN):
                    _count_value(value, counts.setdefault(name, [0] * len(Counts._fields)))
        for name, found in counts.items():
            count = Counts(*found)
            if name not in self.known:
                self.known[name] = self.options.kind_of(name) or self._by_counts(name, count)
            elif where is not None and self.known[name] == NUMBER and name in self.options.space.kinds:
                self._check(name, self.known[name], count.kind_among_numbers, where)
        self.tell()

    def known_ones(self, columns: Sequence[str], name: str) -> list[str]:
        """The columns that the model knows; says which others there are, and which of the model's there are not."""
        model = self.options.space.kinds
        for what, odd in (
            ("are not known to the model, and left out", [column for column in columns if column not in model]),
            ("are missing: their values count as absent", [column for column in model if column not in columns]),
        ):
            if odd:
                self.say(f"{name}: columns {listed(odd, 5)} {what}")
        return [column for column in columns if column in model]

    def decide(self, column: str, array: Any, typed: bool, where: str) -> str:
        """What a column holds, by its cells if nothing else tells; noted for the rest of the stream.

        A column that is known to hold something else is refused; the table is the one at the place `where`.
        """
        if is_list(array.type):
            self._check(column, self.known.setdefault(column, LIST), LIST, where)
            return LIST
        known = self.known.get(column)
        if known == LIST:
            return CATEGORY  # one word, where there may be several
        if known == NUMBER or (known == DATE and types.is_boolean(array.type)):
            self._check(column, known, self._kind_of_cells(column, array, typed, known), where)
        found = known or self.options.kind_of(column)
        if found is None and types.is_null(array.type):
            return NUMBER  # for now
        return self.known.setdefault(column, found or self._kind_of_cells(column, array, typed, None))

    def _kind_of_cells(self, column: str, array: Any, typed: bool, known: str | None) -> str:
        """What a column holds by its type, or by its first cells where it is text. One of numbers may have words."""
        if is_number(array.type) or (known == NUMBER and (types.is_boolean(array.type) or types.is_null(array.type))):
            return NUMBER
        if is_moment(array.type):
            return DATE
        if types.is_boolean(array.type):
            return CATEGORY
        if not is_text(array.type.value_type if is_coded(array) else array.type):
            return CATEGORY
        words = words_of(_different(array.slice(0, self.options.sample or SAMPLE)))
        count = Counts(*(int(number) for number in tell_cells(words)))
        if count.words and not count.numbers and np.diff(words.offsets).max() <= MOST_DATE:
            cells = (words.data[start:stop].tobytes() for start, stop in pairwise(words.offsets.tolist()))
            texts = (cell.decode("utf-8", "replace") for cell in cells)
            count = count._replace(dates=count.words if are_iso(cell for cell in texts if not is_missing(cell)) else 0)
        if known == NUMBER:
            return count.kind_among_numbers if column in self.options.space.kinds else NUMBER
        if typed:
            return self._by_counts(column, count) if count.dates else CATEGORY
        return self._by_counts(column, count)

    def _check(self, column: str, known: str, given: str | None, where: str) -> None:
        """Refuse a column that is known to hold numbers, or dates, and holds something else."""
        if given is None or known == given or known not in (NUMBER, DATE):
            return
        if known == DATE and given == NUMBER:  # of seconds
            return
        raise KindError(MISMATCH.format(where, column, OF_KINDS[given], OF_KINDS[known]))

    def tell(self) -> None:
        """Say what has been decided against first sight, of all columns alike in one line."""
        for what, columns in self._noticed.items():
            one = len(columns) == 1
            names = f"column {columns[0]!r}" if one else f"columns {listed(columns, 5)}"
            self.say(f"{names}: {what.format(shlex.quote(columns[0]) if one else 'NAME')}")
        self._noticed.clear()

    def _by_counts(self, column: str, count: Counts) -> str:
        """What a column holds in which there are so many cells of each sort; what may surprise is noted."""
        remark = {DATE: DATED, CATEGORY: MIXED if count.words else CODES}.get(count.kind)
        if remark is not None and (count.kind == DATE or count.numbers):
            self._noticed.setdefault(remark, []).append(column)
        return count.kind


class Counts(NamedTuple):
    """How many cells of a column, or values of a member, are of which sort; what is missing is none of them."""

    numbers: int = 0
    words: int = 0  # truth values and dates, too
    marks: int = 0  # words that say nothing in a column of numbers
    coded: int = 0  # whether all numbers are written like codes
    dates: int = 0  # words that are dates

    @property
    def kind(self) -> str:
        """What the column holds: words, unless all of its cells are numbers or dates."""
        if self.words and self.dates == self.words + self.marks and not self.numbers:
            return DATE
        return CATEGORY if self.words or self.coded or (self.marks and not self.numbers) else NUMBER

    @property
    def kind_among_numbers(self) -> str:
        """What a column holds that should hold numbers: some other cells do not matter, if there are numbers at all."""
        return NUMBER if self.numbers or not self.words else self.kind


def _count_value(value: Any, counts: list[int]) -> None:
    """Count one value of an object, which is not missing, among the `Counts` of its member."""
    if not isinstance(value, (str, bool)):
        counts[0] += 1
        return
    if counts[4] == counts[1]:  # those are dates of which all words are
        counts[4] += isinstance(value, str) and is_iso(value.strip(" "))
    is_mark = isinstance(value, str) and len(value) < SHORT and is_number_mark(value.strip(" "))
    counts[2 if is_mark else 1] += 1


def check_kinds(options: Options, known: Mapping[str, str]) -> None:
    """Refuse options that contradict what a model has learnt of its columns."""
    for column, kind in known.items():
        given = options.kind_of(column)
        if given is not None and given != kind and LIST not in (given, kind):
            raise OuzelError(f"column {column!r} was learnt as {kind}, not as {given}; leave the option out")


def _different(array: Any) -> Any:
    """The cells of a column, those of a dictionary once each: one of them may be long and stand in many rows."""
    return as_text(array.dictionary).take(array.indices.unique().drop_null()) if is_coded(array) else array


@kernel
def tell_cells(words: Words):
    """(numbers, words, marks, coded) of cells that are not missing: how many are numbers, words, and words that say
    nothing among numbers, and whether the numbers are codes.
    """
    numbers = others = marks = padded = plain = 0
    for i in range(len(words.valid)):
        start, stop = words.offsets[i], words.offsets[i + 1]
        while start < stop and words.data[start] == 32:
            start += 1
        while stop > start and words.data[stop - 1] == 32:
            stop -= 1
        if not words.valid[i] or start == stop:
            continue
        _, end = parse_number(words.data, start, stop)
        if end != stop and not says_infinite(words.data, start, stop):
            if marks_no_number(words.data, start, stop):
                marks += 1
            elif not says_nothing(words.data, start, stop):
                others += 1
            continue
        numbers += 1
        digits = 0
        for k in range(start, stop):
            byte = words.data[k]
            digits += 48 <= byte <= 57 or byte == 69 or byte == 101
        if digits == stop - start:
            plain += 1
            padded += digits > 1 and words.data[start] == 48
    return numbers, others, marks, padded > 0 and plain == numbers
