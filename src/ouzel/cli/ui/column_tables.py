"""Importance of columns, and of pairs of columns, as `ouzel top` and `ouzel train` show it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ouzel.model.answers import Feature
    from ouzel.model.importance import Ranked
    from ouzel.model.model import Model

    Listed = Sequence[tuple[Any, Sequence[Feature]]]  # features of each class, by its label

ROWS = 10  # columns, and pairs, that are shown
LEAST_PAIR = 0.01  # of the importance of the first column, below which pairs are not shown
TWO_SCALES = """importance of a column: how far the margin moves where its values are exchanged;
of a feature: |weight| × its standard deviation; the two do not compare"""


def columns_to_show(model: Model, features: Listed, ranked: Sequence[Ranked]) -> list[Ranked]:
    """Return the columns of each class that are shown: all of `ranked`, or none where they are its features.

    `features` are those that are shown of each class.
    """
    from ouzel.model.answers import effects_of
    from ouzel.model.model import INTERCEPT

    plain = model.budgeted or effects_of(model) is None
    names = [{str(feature.name) for feature in listed} - {INTERCEPT} for _, listed in features]
    return [
        [] if plain and own <= {name for name, _ in columns} else columns
        for own, columns in zip(names, ranked, strict=True)
    ]


def pairs_to_show(model: Model, ranked: Sequence[Ranked]) -> list[Ranked]:
    """Return the pairs of columns of each class that are shown, given its columns in `ranked`."""
    from ouzel.model.importance import pair_importance

    least = [LEAST_PAIR * max((size for _, size in columns), default=0.0) for columns in ranked]
    pairs = [of_class for _, of_class in pair_importance(model)]
    return [[pair for pair in each if pair[1] > bound] for each, bound in zip(pairs, least, strict=True)]
