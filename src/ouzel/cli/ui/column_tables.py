"""Importance of columns, and of pairs of columns, as `ouzel top` and `ouzel train` show it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from ouzel.model.answers import Feature
    from ouzel.model.importance import Ranked
    from ouzel.model.model import Model

ROWS = 10  # columns, and pairs, that are shown
LEAST_PAIR = 0.01  # of the importance of the first column, below which pairs are not shown
TWO_SCALES = """importance of a column: how far the margin moves where its values are exchanged;
of a feature: |weight| × its standard deviation; the two do not compare"""


class ByColumn(NamedTuple):
    """Columns of a class, and pairs of columns, with their importance, the largest first."""

    columns: Ranked  # none where they are the features
    pairs: Ranked


def by_column(model: Model, features: list[tuple[Any, list[Feature]]]) -> list[ByColumn]:
    """Return the columns and the pairs of each class, given the features that are shown of it."""
    from ouzel.model.answers import effects_of
    from ouzel.model.importance import column_importance, pair_importance
    from ouzel.model.model import INTERCEPT

    found = []
    for (_, listed), (_, columns), (_, pairs) in zip(
        features, column_importance(model), pair_importance(model), strict=True
    ):
        names = {str(feature.name) for feature in listed} - {INTERCEPT}
        alike = names <= {name for name, _ in columns} and (model.budgeted or effects_of(model) is None)
        least = LEAST_PAIR * max((size for _, size in columns), default=0.0)
        found.append(ByColumn([] if alike else columns, [each for each in pairs if each[1] > least]))
    return found
