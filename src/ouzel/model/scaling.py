"""Features as a learner sees them: as they are, or scaled from the first row on, or from the first that needs it.

`learners/feature_scaling.py` is the rule for learners that keep a number for every feature, and
`learners/budget/scaled_columns.py` that within a byte budget. Rows decide, and blocks do not: those before the first
row that needs scales stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ouzel.deferred import deferred
from ouzel.errors import OuzelError
from ouzel.kernels.jit import specialise
from ouzel.layout import bytes_of
from ouzel.learners import feature_moments, protocol
from ouzel.learners.catalogue import Learner
from ouzel.learners.feature_moments import in_sample
from ouzel.learners.protocol import Settings
from ouzel.learners.rows import Rows

if TYPE_CHECKING:
    from ouzel.learners import feature_scaling
    from ouzel.learners.budget import scaled_columns
else:
    feature_scaling = deferred("ouzel.learners.feature_scaling")
    scaled_columns = deferred("ouzel.learners.budget.scaled_columns")

AUTO = "auto"  # `standardize`: from the first row on that is beyond the limit of `feature_scaling`
STANDARDIZE: dict[str, bool | str] = {"auto": "auto", "yes": True, "no": False}  # as the command line says it
_in_sample = getattr(in_sample, "py_func", in_sample)  # not to call a kernel for one number


class Scaling:
    """Moments of features, and scales of those that a learner does not see as they are.

    Where it standardises by itself `features` stay None, and with `standardize` "auto" until rows say that data are
    not of one scale (`feature_scaling`); `moments` are None where there are features, whose scales are moments already,
    and where the learner keeps to a byte budget. That has `columns` if its first example needs scales.
    """

    features: Any = None
    columns: Any = None
    moments: Any = None
    looks = False  # at single examples: they have scales, or whether they need any is not settled
    surplus: int | None = None  # of rows beyond the limit against others, from the first that is learnt until it begins
    earlier: Any = None  # moments until scaling began, of which remarks are made once

    def __init__(self, learner: Learner, module: Any, standardize: bool | str, groups: bool) -> None:
        scales = standardize is not False and not isinstance(module, protocol.Standardizing)
        self.automatic = scales and standardize == AUTO  # it begins with the first row that needs it
        self.scales = scales and not self.automatic  # at present
        self.within, self.places = self.automatic and learner.budgeted, 0  # of a budget: columns with scales
        self.looks = self.automatic and not self.within
        by_itself = isinstance(module, protocol.Standardizing) and not groups  # which it learns the differences of
        self.counts = not (learner.budgeted or self.scales or by_itself)
        if self.scales and learner.budgeted:
            raise OuzelError(
                f"{learner.name} keeps to a byte budget, and moments of all features to standardize by do not; "
                "leave the option out, and columns of large numbers are scaled within the budget"
            )

    def weights_of_raw(self, weights: np.ndarray) -> np.ndarray:
        """The weights of features as they are, of those of features as the learner sees them."""
        return weights if self.features is None else feature_scaling.weights_of_raw(self.features, weights, self.limit)

    @property
    def limit(self) -> float:
        """Size beyond which values of rare features are divided by their largest; 0 where all are."""
        return feature_scaling.LIMIT if self.automatic else 0.0

    def sized(self, settings: Settings) -> Settings:
        """The settings within which states are kept: what is left of a budget beside the scales of columns."""
        if not self.places:
            return settings
        budget = cast(Any, settings).budget - bytes_of(scaled_columns.layout(self.places))
        return settings._replace(budget=float(budget))

    def top_of_raw(self, found: list[tuple[np.ndarray, np.ndarray]]) -> list[tuple[np.ndarray, np.ndarray]]:
        """Slots and weights of the heaviest within a budget, of features as they are."""
        return found if self.columns is None else [scaled_columns.top_of_raw(self.columns, *column) for column in found]

    def check_columns(self) -> None:
        """Refuse scales of columns that contradict each other."""
        if self.columns is not None:
            scaled_columns.check(self.columns)

    def begin_scaling(self) -> None:
        """Have features in scales of their own from now on."""
        if not self.scales:
            self.earlier, self.moments = self.moments, None
            self.scales, self.surplus, self.features = True, None, feature_scaling.init(len(self.earlier.sums))

    def rows(self, rows: Rows) -> Rows:
        """Rows to predict, as the learner sees them."""
        if self.features is not None:
            return feature_scaling.scaled_rows(self.features, rows, limit=self.limit)
        if self.columns is not None:
            return scaled_columns.scaled_rows(self.columns, rows)
        return self._cut(rows) if self.is_beyond(rows.values) else rows

    def rows_to_learn(self, rows: Rows, importances: np.ndarray, before: int) -> Rows:
        """Rows to learn, as the learner sees them, after they are counted; `before` them came so many examples."""
        if self.columns is not None:
            return scaled_columns.scaled_rows(self.columns, rows, importances)
        if self.features is None and self.within:
            return self._cut(rows) if self.is_beyond(rows.values) else rows
        if self.features is None and self.automatic:
            if self.surplus is None or self.is_beyond(rows.values):
                return self._rows_until_scaled(rows, importances, before)
            if self.looks:
                self.note_surplus(self.surplus - int(np.count_nonzero(importances > 0.0)))
        if self.moments is not None:
            feature_moments.add_rows(self.moments, rows, importances, before)
        if self.features is None:
            return rows
        return feature_scaling.scaled_rows(self.features, rows, importances, self.limit)

    def _rows_until_scaled(self, rows: Rows, importances: np.ndarray, before: int) -> Rows:
        """Rows of a block in which the learner begins to scale, unless those that are beyond are not learnt."""
        late, surplus = self.surplus is not None, np.array([self.surplus or 0])
        if not late:
            surplus[0] = feature_scaling.UNBEGUN
        first, seen = int(feature_scaling.first_to_scale(rows, importances, surplus)), self._cut(rows)
        if surplus[0] != feature_scaling.UNBEGUN:
            self.note_surplus(int(surplus[0]))
        if first == len(importances):
            if self.moments is not None:
                feature_moments.add_rows(self.moments, rows, importances, before)
            return seen
        if self.moments is not None:
            head = Rows(rows.offsets[: first + 1], rows.indices, rows.values)
            feature_moments.add_rows(self.moments, head, importances[:first], before)
        self.begin_scaling()
        rest = Rows(rows.offsets[first:], rows.indices, rows.values)
        scaled = feature_scaling.scaled_rows(self.features, rest, importances[first:], self.limit)
        late |= bool((importances[:first] > 0.0).any())  # then the row is learnt as it was predicted
        return joined([between(seen, 0, first + late), between(scaled, int(late))])

    def note_surplus(self, surplus: int) -> None:
        """Take note of a surplus; at the fewest, examples without large values are learnt without a look at it."""
        self.surplus = min(max(surplus, feature_scaling.FEWEST), feature_scaling.ENOUGH - 1)
        self.looks = self.surplus > feature_scaling.FEWEST

    def _cut(self, rows: Rows) -> Rows:
        """Rows as a learner sees them that scales nothing."""
        return rows._replace(values=feature_scaling.cut(rows.values))

    def is_beyond(self, values: np.ndarray) -> bool:
        """Whether a value is one that a learner which begins to scale by itself does not see as it is."""
        return self.automatic and bool(feature_scaling.beyond(values, feature_scaling.LIMIT))

    def one(
        self, slots: np.ndarray, values: np.ndarray, importance: np.float32 | None, before: int = 0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Slots and values of one example as the learner sees them, to be learnt or, without importance, predicted.

        `before` it came so many examples.
        """
        rows = Rows(np.array([0, len(slots)], np.uint64), slots, values)
        if importance is None:
            found = self.rows(rows)
        else:
            found = self.rows_to_learn(rows, np.array([importance], np.float32), before)
        end = int(found.offsets[1])
        return found.indices[:end], found.values[:end]

    def scales_one(self, values: np.ndarray, compiled: dict[tuple[str, int], tuple[Any, Any]]) -> bool:
        """Whether a learner sees one example by `one`, and not as it is; `compiled` holds the kernel that looks."""
        if self.features is not None or self.columns is not None or not self.automatic:
            return self.features is not None or self.columns is not None
        if not self.within and self.surplus != feature_scaling.FEWEST:
            return True
        look = compiled.get(("beyond", 0))
        if look is None:
            found = specialise(feature_scaling.beyond, values, feature_scaling.LIMIT)
            look = compiled["beyond", 0] = None, found
        return bool(look[1](values, feature_scaling.LIMIT))

    def count_one(
        self, slots: np.ndarray, values: np.ndarray, before: int, compiled: dict[tuple[str, int], tuple[Any, Any]]
    ) -> None:
        """Count the features of one example behind so many, if it is in the sample; `compiled` holds the kernel."""
        if not _in_sample(before):
            return
        known, count = compiled.get(("moments", 0), (None, None))
        if known is not self.moments:
            count = specialise(feature_moments.add_row, self.moments, slots, values)
            compiled["moments", 0] = self.moments, count
        count(self.moments, slots, values)


def between(rows: Rows, start: int, stop: int | None = None) -> Rows:
    """Rows `start` to `stop` of some rows."""
    return rows._replace(offsets=rows.offsets[start : None if stop is None else stop + 1])


def joined(parts: Sequence[Rows]) -> Rows:
    """Rows one after the other.

    >>> rows = Rows(np.array([0, 2, 3], np.uint64), np.array([7, 7, 5], np.uint32), np.ones(3, np.float32))
    >>> joined([rows, between(rows, 1)])[:2]
    (array([0, 2, 3, 4], dtype=uint64), array([7, 7, 5, 5], dtype=uint32))
    """
    lengths = [np.zeros(1, np.uint64), *(np.diff(part.offsets) for part in parts)]
    spans = [slice(int(part.offsets[0]), int(part.offsets[-1])) for part in parts]
    return Rows(
        np.cumsum(np.concatenate(lengths), dtype=np.uint64),
        np.concatenate([part.indices[span] for part, span in zip(parts, spans, strict=True)]),
        np.concatenate([part.values[span] for part, span in zip(parts, spans, strict=True)]),
    )


def check_standardize(given: Any) -> bool | str:
    """Whether features are standardised, as given: "auto", or yes or no; or an OuzelError of one line.

    >>> check_standardize("auto"), check_standardize("yes"), check_standardize(False)
    ('auto', True, False)
    >>> check_standardize("always")
    Traceback (most recent call last):
    ouzel.errors.OuzelError: standardize must be auto, yes or no; got 'always'
    """
    if given is None:
        return "auto"
    if isinstance(given, str):
        if given not in STANDARDIZE:
            raise OuzelError(f"must be auto, yes or no; got {given!r:.80}", subject="standardize")
        return STANDARDIZE[given]
    if isinstance(given, (bool, int, np.bool_)) and given in (0, 1):
        return bool(given)
    raise OuzelError(f"must be auto, yes or no; got {given!r:.80}", subject="standardize")
