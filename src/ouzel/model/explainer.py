"""What each column of a table adds to the margin of an example, beyond that of the average example.

Half of what a pair of columns adds counts for each of them.
"""

from __future__ import annotations

from functools import cached_property
from operator import is_
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ouzel.learners.rows import Rows
from ouzel.model.answers import shown, shown_weights
from ouzel.model.average_example import AverageExample
from ouzel.model.model import Model
from ouzel.streams.feature_columns import word_of_feature
from ouzel.streams.missing import NA_FEATURE

if TYPE_CHECKING:
    from ouzel.learners.auto.effect_terms import Added


class Parts(NamedTuple):
    """What is added to the margins of one example, classes in the order shown."""

    margins: np.ndarray  # (K,)
    average: np.ndarray  # (K,)  of the average example
    owners: np.ndarray  # (C + P, K)  by columns alone, and by pairs; these and the average add up to the margins
    places: np.ndarray  # (m,)  of the features that the example has
    values: np.ndarray  # (m,)  as they came
    own: np.ndarray  # (m, K)  by these features themselves, without curves and absent features
    curves: np.ndarray  # (C', K)  by curves of columns
    weights: np.ndarray  # (m, K)  what one more of each adds
    slopes: np.ndarray  # (K, E, K')  what scores count for, of the K' columns that the model has
    unknown: frozenset[int]  # ids + 1 of features that the example has and the model does not
    gap: np.ndarray  # (K,)  what was left of the margins, and went to owners by their size: rounding


class Explainer(AverageExample):
    """Parts a margin into what owners of features add to that of the average example; see `explainer_of`."""

    importance: Any = None  # once it was asked for (`importance.py`)

    @cached_property
    def numeric(self) -> dict[int, bool]:
        """By place, whether a column has had only numbers; filled by `has_only_numbers`."""
        return {}

    @cached_property
    def names(self) -> dict[int, tuple[str | int, str | None]]:
        """By place of a feature, its name, and what it says its column is; filled by `_spoken`."""
        return {}

    def name_of(self, feature: int) -> str | int:
        """The name of a feature, by its place among all."""
        return self._spoken(feature)[0]

    def word_of(self, feature: int) -> str | None:
        """What a feature says its column is; None of a number."""
        return self._spoken(feature)[1]

    def _spoken(self, feature: int) -> tuple[str | int, str | None]:
        found = self.names.get(feature)
        if found is None:
            name = self.model.feature_name(int(self.ids[feature]) - 1)
            owner = int(self.owner[feature])
            word = word_of_feature(name, self.columns[owner]) if owner < len(self.columns) else None
            found = self.names[feature] = name, word
        return found

    def lacks(self, column: str, unknown: frozenset[int]) -> bool:
        """Whether an example with these `unknown` features says that a column is missing, which never was before."""
        if not unknown:
            return False
        found = self.model.space.id_of(f"{column}={NA_FEATURE}", self.model.seed, self.model.bits)
        return found is not None and found + 1 in unknown

    def has_only_numbers(self, place: int) -> bool:
        """Whether a column has had numbers and missing values alone, so that nothing in its place is 0."""
        if place not in self.numeric:
            only = int(self.only[place])
            features = [only] if only >= 0 else np.flatnonzero(self.owner == place)[:3].tolist()
            words = {*map(self.word_of, features)}
            self.numeric[place] = None in words and words <= {None, NA_FEATURE}
        return self.numeric[place]

    def slopes(self, scores: np.ndarray, added: Added | None) -> tuple[np.ndarray, np.ndarray]:
        """Return how much scores (E, K) beyond the average count, (K, E, K), and what effects add, (K, 2, K)."""
        count = scores.shape[1]
        if self.function is None:
            slopes = np.eye(count)[:, None]
        else:
            from ouzel.learners.auto.attribution import average_slopes

            slopes, line = average_slopes(self.function, self.base, self.base + scores)
        slopes = self.factor * slopes
        if added is None:
            return slopes, np.zeros((count, 2, count))
        change = np.array([line - self.start[0], added.curves[0].sum(axis=0), self._by_pairs(added)])
        by_effects, _ = average_slopes(self.effect_function, self.start, self.start + change)
        slopes = (by_effects[:, 0] @ slopes.reshape(count, -1)).reshape(slopes.shape)
        return slopes, self.factor * by_effects[:, 1:]

    @staticmethod
    def _by_pairs(added: Added) -> np.ndarray:
        total: np.ndarray = added.mains[0].sum(axis=0) + added.pairs[0].sum(axis=0)
        return total

    def parts(self, ids: np.ndarray, values: np.ndarray, margins: np.ndarray) -> Parts:
        """Return what features (ids + 1, and their values) add to the margins (K,), as the model has them."""
        ids = ids.astype(np.int64)
        places = np.minimum(np.searchsorted(self.ids, ids), max(len(self.ids) - 1, 0))
        found = self.ids[places] == ids if len(self.ids) else np.zeros(len(ids), bool)
        unknown: frozenset[int] = frozenset()
        if not found.all():
            unknown = frozenset(ids[~found].tolist())
            places, values = places[found], values[found]
        values = values.astype(np.float64)
        cut = values if self.cuts is None else self.cuts.of(places, values)
        scores = self.absent.copy()
        np.add.at(scores, self.owner[places], self.weights[places] * (cut - self.zeros[places])[:, None, None])
        added = self._added(places, values)
        slopes, effect_slopes = self.slopes(scores.sum(axis=0), added)
        owners, curves = self._owners(scores, added, slopes, effect_slopes)
        weights = np.einsum("fek,cek->fc", self.weights[places], slopes)
        average, owners, ratio, margins, gap = self._fitted(owners, margins)
        weights, curves = weights * ratio, curves * ratio
        classes = self.model.classes
        return Parts(
            shown(classes, margins[None] if len(margins) > 1 else margins).ravel(),
            shown(classes, average[None] if len(margins) > 1 else average).ravel(),
            shown_weights(classes, owners.T).T,
            places,
            values,
            shown_weights(classes, (weights * (cut - self.means[places])[:, None]).T).T,
            shown_weights(classes, curves.T).T,
            shown_weights(classes, weights.T).T,
            shown_weights(classes, slopes * ratio[:, None, None]),
            unknown,
            np.abs(gap),
        )

    def _added(self, places: np.ndarray, values: np.ndarray) -> Added | None:
        """What effects add to the scores of one example."""
        if self.effects is None:
            return None
        from ouzel.learners.auto.effect_terms import added_by_terms, numbers_of

        numbers = numbers_of(self.effects, self.slots[places], values)
        return added_by_terms(self.terms, numbers)

    def _owners(
        self, scores: np.ndarray, added: Added | None, slopes: np.ndarray, effect_slopes: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """What each owner adds to margins (C + P, K), and what curves add of these (C', K)."""
        owners = np.einsum("oek,cek->oc", scores, slopes)
        if added is None:
            return owners, np.zeros((0, owners.shape[1]))
        curves = added.curves[0] @ effect_slopes[:, 0].T + added.mains[0] @ effect_slopes[:, 1].T
        np.add.at(owners, self.owner[self.effect_features], curves)
        np.add.at(owners, self.pair_owner, added.pairs[0] @ effect_slopes[:, 1].T)
        return owners, curves

    def _fitted(self, owners: np.ndarray, margins: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return the average, owners that add up with it to the margins, their ratio to those given, margins and gap.

        Where probabilities are recalibrated, margins are. The gap is rounding: it goes to owners by their size.
        """
        average, ratio = self.average, np.ones(len(margins))
        if self.model.calibrate:
            ends = np.stack([margins, average])
            fitted = self.model.preparation.recalibrated(self.model.task, ends if len(margins) > 1 else ends[:, 0])
            fitted = fitted.reshape(ends.shape)
            ratio = np.divide(
                fitted[0] - fitted[1], margins - average, out=ratio, where=np.abs(margins - average) > 0.0
            )
            margins, average = fitted
        owners = owners * ratio
        gap, sizes = margins - average - owners.sum(axis=0), np.abs(owners)
        total = sizes.sum(axis=0)
        owners = owners + sizes * np.divide(gap, total, out=np.zeros(len(gap)), where=total > 0.0)
        return np.where(total > 0.0, average, margins), owners, ratio, margins, gap

    def by_column(self, owners: np.ndarray) -> np.ndarray:
        """What each column adds (C, K): by itself, and its part of what pairs add."""
        columns = owners[: len(self.columns)].copy()
        places, pairs, shares = self.halves
        np.add.at(columns, places, owners[len(columns) + pairs] * shares[:, None])
        return columns


def explainer_of(model: Model, rows: Rows | None = None) -> Explainer:
    """The explainer of a model as it is now; it is made once, until the model learns again."""
    kept = model.__dict__.setdefault("why", {})  # is no part of a copy, or of a file
    known = kept.setdefault("columns", {})
    if kept.get("kinds") != (model.space.kinds, model.space.derived):
        known.clear()
        kept["kinds"] = model.space.kinds, model.space.derived
    if model.budgeted:
        return Explainer(model, {}, rows)
    found: Explainer | None = kept.get("explainer")
    is_current = (
        found is not None
        and found.examples == model.examples
        and len(found.states) == len(model.states)
        and all(map(is_, found.states, model.states))
    )
    if not is_current:
        found = kept["explainer"] = Explainer(model, known)
    assert found is not None
    return found


def labels_of_margins(model: Model) -> list[Any]:
    """Return the class that each column of margins speaks for; of two, that of the positive margin."""
    known = model.classes.in_order()
    return known if len(known) > 2 else [known[-1] if known else None]
