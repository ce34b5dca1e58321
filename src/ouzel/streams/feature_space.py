"""The meaning of feature ids: hashed names, numbers of the stream's own, or columns of an array.

Every block has the space of its features, and every model that of the features it has learnt. `reconcile` is the one
place that compares the two, and refuses data whose ids mean something else in one line: a prediction by features that
are not the model's own would look like any other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ouzel.errors import DataError, OuzelError, UnexpectedError
from ouzel.sketches.hashing import MOST_ID, feature_id
from ouzel.streams.feature_specs import DerivedFeatures
from ouzel.streams.missing import NA_FEATURE

NUMBER, CATEGORY, TEXT, LIST, DATE = "number", "category", "text", "list", "date"
KINDS = (NUMBER, CATEGORY, TEXT, LIST, DATE)
"""Kinds of columns: numbers; words, one a cell; text, read word by word; lists of words; dates."""
UNDECIDED = ""  # of a column that has had missing values alone: the first table with a value decides it
OTHER = {NUMBER: CATEGORY, CATEGORY: NUMBER}  # that a column may have, too: words among numbers, numbers among words
HALF = "it has half of a surrogate pair, which is no character"


class FeatureSpace(NamedTuple):
    """The meaning of feature ids, as far as it is known.

    A stream may have both names and numbers, as Vowpal Wabbit text does. Columns of arrays come alone; where the array
    had names, as a data frame has, they are those of `kinds`, in order.
    """

    named: bool = False  # whether there are names, hashed to ids
    lowest: int | None = None  # of the ids that are numbers, or of the columns that were ever filled
    highest: int | None = None
    width: int | None = None  # columns of an array, which have the ids 0, 1, 2, …
    kinds: Mapping[str, str] = {}  # of a table's columns, by name
    mixed: Mapping[str, str] = {}  # columns that have had values of the OTHER kind, too, and that kind
    open_vocabulary: bool = False  # whether new names may come at any time: in text, dictionaries, JSON objects
    indicator: bool | None = None  # whether a missing value is a feature of its own; None where there are no cells
    derived: DerivedFeatures = DerivedFeatures()  # features made of others
    edges: Mapping[str, tuple[float, ...]] = {}  # of the bins and hinges of columns

    @property
    def known(self) -> bool:
        """Whether the meaning of any id is known."""
        return self.named or self.lowest is not None or self.width is not None

    @property
    def numbered(self) -> bool:
        """Whether some ids are numbers of the stream's own."""
        return self.width is None and self.lowest is not None

    @property
    def fixed_columns(self) -> bool:
        """Whether the columns of a table are all the features that there are."""
        return bool(self.kinds) and not self.open_vocabulary

    def is_strict(self, column: str, declared: str | None = None) -> bool:
        """Whether a column is known to have values of one kind alone, so that others are refused.

        A column that the user `declared` to be of categories may have numbers among them.

        >>> space = FeatureSpace(kinds={"price": NUMBER, "zip": CATEGORY}, mixed={"zip": NUMBER})
        >>> space.is_strict("price"), space.is_strict("zip"), space.is_strict("city")
        (True, False, False)
        """
        return bool(self.kinds.get(column)) and column not in self.mixed and declared != CATEGORY

    def lenient(self) -> FeatureSpace:
        """This space with no strict column."""
        return self._replace(mixed={column: OTHER[kind] for column, kind in self.kinds.items() if kind in OTHER})

    def places(self) -> dict[str, int] | None:
        """The column of an array that each name stands for; None unless features are columns."""
        return None if self.width is None else {name: place for place, name in enumerate(self.kinds)}

    def id_of(self, name: str | int, seed: int, bits: int) -> int | None:
        """The id of one feature, its number if the name is one; None of a name that a named array did not have.

        >>> columns = FeatureSpace(width=2, kinds={"a": NUMBER, "b": NUMBER})
        >>> FeatureSpace().id_of("price", 0, 18), columns.id_of("b", 0, 18)
        (229902, 1)
        """
        if self.width is not None and isinstance(name, str):
            column = name.removesuffix(f"={NA_FEATURE}")
            place = (self.places() or {}).get(name)
            return self.place_of_missing(column) if place is None and column != name else place
        try:
            return feature_id(numeric_id(name), seed, bits)
        except UnicodeEncodeError:
            raise OuzelError(f"feature {name!r} is no text: {HALF}") from None

    def place_of_missing(self, column: str) -> int | None:
        """The id, above those of an array's columns, that means that one is missing; None if there is none."""
        if self.width is None or not self.indicator:
            return None
        place = (self.places() or {}).get(column)
        if not self.kinds and isinstance(number := numeric_id(column), int) and number < self.width:
            place = number
        return None if place is None else place + self.width


NOTHING_KNOWN = FeatureSpace()


class Token(str):
    """A word of a text, which is a name even if it is written in digits."""

    __slots__ = ()


def numeric_id(name: Any) -> Any:
    """The id of a feature that is a number, or whose name is a possible id in digits; else its name.

    >>> numeric_id("price"), numeric_id("7"), numeric_id(7), numeric_id(Token("7")), numeric_id("99999999999")
    ('price', 7, 7, '7', '99999999999')
    """
    if isinstance(name, np.integer):
        return int(name)
    if not isinstance(name, str) or isinstance(name, Token) or not (name.isascii() and name.isdigit()):
        return name
    digits = name.lstrip("0") or "0"
    return int(digits) if len(digits) < 11 and int(digits) <= MOST_ID else name


@lru_cache(1 << 16)
def column_key(column: str) -> str | int:
    """The id of a column whose name is a number, else its name; UnexpectedError if the id is too large.

    >>> column_key("price"), column_key("7"), column_key("007")
    ('price', 7, 7)
    """
    key: str | int = numeric_id(column)
    if isinstance(key, str) and key.isascii() and key.isdigit():
        raise UnexpectedError(f"the feature {column}", f"expected an id of at most {MOST_ID}, or a name")
    return key


def numbered(ids: np.ndarray, open_vocabulary: bool = False, zeros: Sequence[int] | np.ndarray = ()) -> FeatureSpace:
    """The space of ids (k,) that are numbers of a stream's own; `zeros` are the lowest and highest ids of zeros.

    >>> numbered(np.array([3, 5]), zeros=(1, 1)).lowest
    1
    """
    some = [int(end) for end in (ids.min(), ids.max())] if len(ids) else []
    if len(zeros) and zeros[1] >= 0:
        some += [int(zeros[0]), int(zeros[1])]
    return FeatureSpace(lowest=min(some), highest=max(some), open_vocabulary=open_vocabulary) if some else NOTHING_KNOWN


def columns_of_array(width: int, ids: np.ndarray) -> FeatureSpace:
    """The space of an array's columns; those of the ids (k,) are not empty."""
    return numbered(ids)._replace(width=width)


def columns_of_table(columns: Sequence[str], kinds: Mapping[str, str], known: FeatureSpace) -> FeatureSpace:
    """The space of a table's columns of these kinds; that of an array where they are `known` by place."""
    if known.width is not None and known.kinds:
        return FeatureSpace(lowest=0, highest=known.width - 1, width=known.width, kinds=dict(known.kinds))
    own = [column_key(column) for column in columns]
    numbers = [name for name in own if isinstance(name, int)]
    named = len(numbers) < len(own) or set(kinds.values()) - {NUMBER} != set()
    return FeatureSpace(named, min(numbers, default=None), max(numbers, default=None), kinds=kinds)


def reconcile(known: FeatureSpace, given: FeatureSpace, learning: bool = False) -> FeatureSpace:
    """The union of a known and a given space; DataError if their ids do not mean the same.

    While learning, names of an open vocabulary may join numbers, and numbers names.

    >>> reconcile(FeatureSpace(lowest=1, highest=5), FeatureSpace(lowest=0, highest=3), learning=True).highest
    5
    >>> reconcile(FeatureSpace(named=True), FeatureSpace(width=3))
    Traceback (most recent call last):
    ouzel.errors.DataError: the model knows its features by name, and an array has no names; give a data frame ...
    """
    if not (known.known and given.known):
        return given if given.known else known
    if known.derived != given.derived:
        raise DataError(
            f"the model was learnt with {known.derived}, and this data comes with {given.derived}; "
            "read it for the model: blocks_from(X, y, model=model), or train a model on this data"
        )
    if known.edges and given.edges and known.edges != given.edges:
        raise DataError(
            "the model's bins or hinges have other edges than this data's; read it for the model: "
            "blocks_from(X, y, model=model), or train both from one model that has edges"
        )
    if known.width is not None:
        _check_against_columns(known, given)
    elif given.width is not None:
        _check_columns(known, given.width, given.lowest)
    elif not (learning or given.open_vocabulary) and _are_shifted(known, given):
        raise DataError(
            f"this data has ids from {given.lowest} to {given.highest}, and the model's go from {known.lowest} to "
            f"{known.highest}: number both from 0, or both from 1, such as with load_svmlight_file(zero_based=True)"
        )
    elif not (_both_named_or_numbered(known, given) or (learning and given.open_vocabulary)):
        has, brings = ("name", "number") if known.named else ("number", "name")
        which = f" ({known.lowest} to {known.highest})" if known.numbered else ""
        raise DataError(
            f"the model knows its features by {has}{which}, and this data has them by {brings}; "
            f"give data of the kind it was learnt from, or train a model on this kind"
        )
    return _union(known, given)


def _are_shifted(known: FeatureSpace, given: FeatureSpace) -> bool:
    """Whether one counts ids from 0 and the other from 1: an id 0 that was never seen, or all moved by one."""
    if not (known.numbered and given.numbered) or known.named or {known.lowest, given.lowest} != {0, 1}:
        return False
    return given.lowest == 0 or given.highest == (known.highest or 0) + 1


def _both_named_or_numbered(known: FeatureSpace, given: FeatureSpace) -> bool:
    return (known.named and given.named) or (known.numbered and given.numbered)


def _union(known: FeatureSpace, given: FeatureSpace) -> FeatureSpace:
    lowest = [space.lowest for space in (known, given) if space.lowest is not None]
    highest = [space.highest for space in (known, given) if space.highest is not None]
    news = bool(given.kinds) and given.kinds != known.kinds
    decided = {column: kind for column, kind in known.kinds.items() if kind != UNDECIDED}
    kinds = {**known.kinds, **given.kinds, **decided} if news else known.kinds
    return FeatureSpace(
        known.named or (given.named and known.width is None),
        min(lowest, default=None),
        max(highest, default=None),
        known.width,
        kinds,
        _mixed(known, given, kinds),
        known.open_vocabulary or given.open_vocabulary,
        given.indicator if known.indicator is None else known.indicator or bool(given.indicator),
        known.derived,
        known.edges or given.edges,
    )


def _mixed(known: FeatureSpace, given: FeatureSpace, kinds: Mapping[str, str]) -> Mapping[str, str]:
    """The other kind of columns that have had both, in one of the spaces or one in each."""
    if kinds is known.kinds and given.mixed in ({}, known.mixed):
        return known.mixed
    both = {column for column, kind in given.kinds.items() if OTHER.get(kind) == known.kinds.get(column, "")}
    columns = sorted({*known.mixed, *given.mixed, *both})
    return {column: OTHER[kinds[column]] for column in columns if kinds.get(column) in OTHER}


def _check_columns(known: FeatureSpace, width: int, lowest: int | None) -> None:
    """Refuse an array for a model whose ids are not the numbers of its columns."""
    if known.named:
        raise DataError(
            "the model knows its features by name, and an array has no names; give a data frame with those columns, "
            "or dictionaries"
        )
    assert known.highest is not None
    wanted = known.highest + 1
    base = known.lowest == 0 or lowest is None or lowest > 0
    if width != wanted or not base:
        raise DataError(
            f"the matrix has {width} columns{'' if base else ', and numbers in column 0'}; the model's ids go from "
            f"{known.lowest} to {known.highest}: give {wanted} columns in which column k is id k, "
            f"load_svmlight_file(path, zero_based=True, n_features={wanted})"
        )


def _check_against_columns(known: FeatureSpace, given: FeatureSpace) -> None:
    """Refuse data that does not fit a model learnt from arrays."""
    width = known.width
    assert width is not None
    if given.width is not None:
        if given.width != width:
            raise DataError(f"the array has {given.width} columns, and the model was learnt from arrays of {width}")
        if given.kinds and known.kinds and list(given.kinds) != list(known.kinds):
            raise DataError("the columns have other names, or another order, than those the model was learnt from")
    elif given.named and known.kinds:
        raise DataError(
            "the model goes by the columns of its array, and this data was hashed by name; read it for the model: "
            "blocks_from(X, y, model=model)"
        )
    elif given.named:
        raise DataError(
            f"the model was learnt from arrays of {width} columns without names, and this data has names; "
            f"give an array of {width} columns, or train the model on data with names"
        )
    elif given.highest is not None and given.highest >= width:
        if given.open_vocabulary:
            raise DataError(f"there is no feature {given.highest}: the model was learnt from arrays of {width} columns")
        raise DataError(
            f"this data has the id {given.highest}, and the model was learnt from arrays of {width} columns, 0 to "
            f"{width - 1}; train it on load_svmlight_file(path, zero_based=True), or on the file itself"
        )
    elif not given.open_vocabulary and (given.lowest == 0) != (known.lowest == 0):
        raise DataError(
            f"this data has ids from {given.lowest}, and the model was learnt from arrays filled from column "
            f"{known.lowest}; train it on load_svmlight_file(path, zero_based=True), or on the file itself"
        )
