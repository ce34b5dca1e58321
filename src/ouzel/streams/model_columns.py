"""Checks that data to predict has columns of the model."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ouzel.errors import DataError, listed
from ouzel.streams.feature_columns import columns_of_feature
from ouzel.streams.feature_space import FeatureSpace
from ouzel.streams.options import MOST_KNOWN

FEW = 5  # names in a line


def columns_of_model(columns: Sequence[str], space: FeatureSpace, name: str, say: Callable[[str], None]) -> list[str]:
    """The columns of the table `name` that the model knows; says which others there are, and which are missing.

    >>> space = FeatureSpace(named=True, kinds={"a": "number", "b": "number"})
    >>> columns_of_model(["b", "c"], space, "t.csv", print)
    t.csv: columns c are not known to the model, and left out
    t.csv: columns a are missing: their values count as absent
    ['b']
    """
    require_shared(columns, space, name)
    for what, odd in (
        ("are not known to the model, and left out", [column for column in columns if column not in space.kinds]),
        ("are missing: their values count as absent", [column for column in space.kinds if column not in columns]),
    ):
        if odd:
            say(f"{name}: columns {listed(odd, FEW)} {what}")
    return [column for column in columns if column in space.kinds]


def require_shared(columns: Sequence[str], space: FeatureSpace, name: str, of_objects: bool = False) -> None:
    """Refuse the data `name` if the model knows none of its columns: every prediction would be that of an empty row.

    Members of objects may be features, such as `city=Rome`. Nothing is refused where the model may know more names than
    it has columns.

    >>> require_shared(["c"], FeatureSpace(named=True, kinds={"a": "number"}), "t.csv")
    Traceback (most recent call last):
    ouzel.errors.DataError: t.csv: has none of the columns that the model knows (a); it has c; give data with ...
    """
    known = space.kinds
    if not known or not (columns or space.fixed_columns) or (space.open_vocabulary and len(known) >= MOST_KNOWN):
        return
    for column in columns:
        of_feature = columns_of_feature(column, space) if of_objects else (column,)
        if column in known or any(one in known for one in of_feature):
            return
    theirs = f"has none of the columns that the model knows ({listed(list(known), FEW)})"
    own = f"it has {listed(columns, FEW)}" if columns else "it has no others"
    raise DataError.at(name, f"{theirs}; {own}", advice="give data with the model's columns")
