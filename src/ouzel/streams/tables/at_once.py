"""Numbers and categories read for all columns at once, where nothing is made of them and there is nothing to refuse.

Columns one by one, in `feature_columns`, come to the same features, and do all else: tell what is wrong, part dates,
mark what is missing, collect what crosses are made of. Of names that share an id another may be the first there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ouzel.streams.block import LARGEST, Names
from ouzel.streams.feature_space import CATEGORY, DATE, NUMBER, own_name
from ouzel.streams.options import Options
from ouzel.streams.tables.arrow_types import is_coded, is_number, numbers_of
from ouzel.streams.tables.coded import Coded
from ouzel.streams.tables.coded_rows import CodedRows
from ouzel.streams.tables.cut_rows import CutRows
from ouzel.streams.tables.in_place import read_in_place
from ouzel.streams.tables.lanes import Rows
from ouzel.streams.tables.refusals import converting
from ouzel.streams.tables.row_layout import TOLD, layout_of

MOST_TEXT = 1 << 26  # bytes of the dictionaries of a table, of which a copy is made
Decode = Callable[[str, Any], tuple[Coded, np.ndarray]]


class AtOnce:
    """Reads the columns of a table that are numbers or categories, those of numbers with ids; `decode` dictionaries."""

    def __init__(
        self, names: list[str], kinds: Mapping[str, str], ids: Mapping[str, int], options: Options, decode: Decode
    ) -> None:
        self._kinds = {place: kinds[name] for place, name in enumerate(names) if kinds.get(name) in (NUMBER, CATEGORY)}
        self.names = names
        self._options = options
        self._decode = decode
        self._able = not (options.derived or options.indicator or options.space.places() or DATE in kinds.values())
        self._layout = layout_of(names, kinds, ids, options.seed)
        self._coded = CodedRows(self._layout)
        self._own = {
            place: Names.of_one(ids[names[place]], names[place])
            for place, kind in self._kinds.items()
            if kind == NUMBER and isinstance(own_name(names[place]), str)
        }
        self._told = np.empty((0, TOLD), np.uint64)

    def read(self, batch: Any, noted: np.ndarray, name: str) -> tuple[Rows, list[Names]] | None:
        """The features of a batch and the names of the words not yet `noted`; None if it cannot be read so.

        A library's errors name the table `name`.
        """
        if not self._able:
            return None
        cells = batch.num_rows * len(self.names)
        if cells > len(self._told):
            self._told = np.empty((cells, TOLD), np.uint64)
        if not isinstance(batch, CutRows):
            return self._read_coded(batch, noted, name)
        mask = np.uint32((1 << self._options.bits) - 1)
        found = read_in_place(batch, self._layout, self._options.limits.word, mask, noted, self._told)
        if found is None:
            return None
        rows, words, numbered = found
        return rows, [*(self._own[k] for k in np.flatnonzero(numbered).tolist() if k in self._own), words]

    def _read_coded(self, batch: Any, noted: np.ndarray, name: str) -> tuple[Rows, list[Names]] | None:
        coded: dict[int, tuple[Coded, np.ndarray]] = {}
        numbers: dict[int, np.ndarray] = {}
        for place, kind in self._kinds.items():
            column, array = self.names[place], batch.column(place)
            with converting(batch, column, name):
                if kind == CATEGORY and is_coded(array):
                    coded[place] = self._decode(column, array)
                    sound = not coded[place][0].cells.wrong.any()
                elif kind == NUMBER and is_number(array.type):
                    numbers[place], sound = _sound(numbers_of(array, 0.0))
                else:
                    sound = False
            if not sound:
                return None
        if not coded or sum(len(known.words.data) for known, _ in coded.values()) > MOST_TEXT:
            return None
        rows, words = self._coded.read(batch.num_rows, coded, numbers, noted, self._told)
        return rows, [*self._own.values(), words]


def _sound(numbers: np.ndarray) -> tuple[np.ndarray, bool]:
    """Numbers (n,), 0 where there is none, and whether all others are within bounds."""
    fit = np.abs(numbers) <= LARGEST
    if fit.all():
        return numbers, True
    return np.where(fit, numbers, 0.0), bool((fit | np.isnan(numbers)).all())
