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
from typing import Any

from ouzel.errors import OuzelError, listed
from ouzel.kernels.jit import kernel
from ouzel.streams.dates import are_dates
from ouzel.streams.feature_space import CATEGORY, LIST, NUMBER, TEXT, own_name
from ouzel.streams.missing import is_missing, says_nothing
from ouzel.streams.options import SAMPLE, Options
from ouzel.streams.tables.arrow_types import is_list, is_number, types
from ouzel.streams.tables.cells import Words, says_infinite, words_of
from ouzel.streams.text.numbers import parse_number

MOST_KNOWN = 4096  # members of objects that are decided on; others are what each value is
MOST_DATES = 20  # cells by which dates are told
AS_TOLD = "taken as categories; --numeric {0} reads numbers, --categorical {0} says so"
MIXED = f"numbers and words, {AS_TOLD}"
CODES = f"numbers written like codes, with zeros before them, {AS_TOLD}"
DATED = "dates, each a word here; --dates {0} reads month, weekday, hour"


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

    def look(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Decide what the members of the first objects of a stream hold, whose values have types of their own."""
        self.plain.clear()
        counts: dict[str, list[int]] = {}
        for row in rows[: self.options.sample]:
            for name, value in row.items():
                if not (isinstance(value, list) or is_missing(value)) and (name in counts or len(counts) < MOST_KNOWN):
                    counts.setdefault(name, [0, 0])[isinstance(value, str)] += 1
        for name, (numbers, words) in counts.items():
            if name not in self.known:
                self.known[name] = self.options.kind_of(name) or self._by_counts(name, numbers, words, False)
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

    def decide(self, column: str, array: Any, typed: bool) -> str:
        """What a column holds, by its cells if nothing else tells; noted for the rest of the stream."""
        if is_list(array.type):
            self.known.setdefault(column, LIST)
            return LIST
        found = self.known.get(column) or self.options.kind_of(column)
        if found == LIST:
            return CATEGORY  # one word, where there may be several
        if found is None and types.is_null(array.type):
            return NUMBER  # for now
        if found is None and is_number(array.type):
            found = NUMBER
        if found is None:
            found = (
                CATEGORY
                if typed
                else self._by_counts(column, *tell_cells(words_of(array.slice(0, self.options.sample or SAMPLE))))
            )
            if found == CATEGORY and not typed and are_dates(filter(None, array.slice(0, MOST_DATES).to_pylist())):
                self._noticed.setdefault(DATED, []).append(column)
        return self.known.setdefault(column, found)

    def tell(self) -> None:
        """Say what has been decided against first sight, of all columns alike in one line."""
        for what, columns in self._noticed.items():
            one = len(columns) == 1
            names = f"column {columns[0]!r}" if one else f"columns {listed(columns, 5)}"
            self.say(f"{names}: {what.format(shlex.quote(columns[0]) if one else 'NAME')}")
        self._noticed.clear()

    def _by_counts(self, column: str, numbers: int, words: int, coded: bool) -> str:
        """What a column holds in which so many cells are numbers and words, and whether the numbers are codes."""
        if not numbers:
            return CATEGORY if words else NUMBER
        if not (words or coded):
            return NUMBER
        self._noticed.setdefault(MIXED if words else CODES, []).append(column)
        return CATEGORY


def check_kinds(options: Options, known: Mapping[str, str]) -> None:
    """Refuse options that contradict what a model has learnt of its columns."""
    for column, kind in known.items():
        given = options.kind_of(column)
        if given is not None and given != kind and LIST not in (given, kind):
            raise OuzelError(f"column {column!r} was learnt as {kind}, not as {given}; leave the option out")


@kernel
def tell_cells(words: Words):
    """(numbers, words, coded) of cells that are not missing: how many are which, and whether the numbers are codes."""
    numbers = others = padded = plain = 0
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
            others += not says_nothing(words.data, start, stop)
            continue
        numbers += 1
        digits = 0
        for k in range(start, stop):
            byte = words.data[k]
            digits += 48 <= byte <= 57 or byte == 69 or byte == 101
        if digits == stop - start:
            plain += 1
            padded += digits > 1 and words.data[start] == 48
    return numbers, others, padded > 0 and plain == numbers
