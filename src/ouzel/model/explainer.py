"""What each column of a table adds to the margin of an example, beyond that of the average example.

A margin is a function of scores, and scores are sums over features: one score of a linear learner, which is the margin,
or those of the models inside the default one (`learners/auto/attribution.py`) and of its effects of columns
(`effect_terms.py`). Features belong to columns (`streams/feature_columns.py`), crosses and effects of pairs to a pair
of columns. Half of what a pair adds counts for each of its columns.
"""

from __future__ import annotations

from functools import cached_property
from operator import is_
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ouzel.learners.rows import Rows
from ouzel.model.answers import effects_of, shown, shown_weights
from ouzel.model.cut_values import CutValues
from ouzel.model.importance import means_and_spreads
from ouzel.model.model import Model
from ouzel.streams.feature_columns import columns_of_feature

if TYPE_CHECKING:
    from ouzel.learners.auto.attribution import Function
    from ouzel.learners.auto.effect_terms import Added


ROUNDING = 1e-3  # of means of words
FULL = 1.01  # sum of the shares of words of a column of which an example has one at most


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


class Explainer:
    """The weights of a model by feature, the columns of its features, and the average example; see `explainer_of`.

    `rows` are those to be explained of a learner of a byte budget. It lists no weights and knows no means, so there an
    example is compared with one that has no features.
    """

    function: Function | None = None  # of scores; None where they are the margins
    cuts: CutValues | None = None
    importance: Any = None  # once it was asked for (`importance.py`)

    def __init__(self, model: Model, known: dict[int, tuple[str, ...]], rows: Rows | None = None) -> None:
        self.model, self.states, self.examples, self.space = model, [*model.states], model.examples, model.space
        self.effects = None if model.budgeted else effects_of(model)
        self.pair_features = np.empty((0, 2), np.int64)
        if rows is not None:
            self._take_weights_alone(rows)
        else:
            self._take_weights()
        self._take_owners(known)
        self.absent = np.zeros((len(self.owners), *self.weights.shape[1:]))  # (C + P, E, K)  added if all are absent
        np.add.at(self.absent, self.owner, self.weights * (self.zeros - self.means)[:, None, None])

    # What the model is made of.

    def _take_weights(self) -> None:
        """Take weights and means by feature from the model, those of features that have any weight."""
        model, models = self.model, None
        if model.states and hasattr(model.states[0], "mixture"):
            from ouzel.learners.auto.attribution import linear_models

            models = linear_models(model.states[0], model.settings)
        if models is None:
            weights = np.atleast_2d(model.slot_weights())
            slots = np.flatnonzero((weights[:, 1:] != 0.0).any(axis=0)) + 1
            constants, weights = weights[None, :, 0] * model.intercept, weights[:, None, slots].transpose(2, 1, 0)
        else:
            slots, weights, constants, self.function = models
        ids = slots if model.slot_map is None else model.slot_map.numbers[slots].astype(np.int64)
        order = np.argsort(ids, kind="stable")
        self.ids, self.slots, self.weights = ids[order], slots[order], weights[order]
        self.means = means_and_spreads(model)[0][self.slots]
        self.base = constants + np.tensordot(self.means, self.weights, 1)  # (E, K)
        self.cuts = CutValues(model, self.slots)
        self.zeros = self.cuts.of(np.arange(len(self.slots)), np.zeros(len(self.slots)))

    def _take_weights_alone(self, rows: Rows) -> None:
        """Take the weights of the features of some rows: margins of each alone, less that of no feature."""
        model = self.model
        ids = np.unique(np.append(rows.indices, np.uint32(0)))
        offsets = np.append(np.arange(len(ids) + 1), len(ids)).astype(np.uint64)
        alone = model.task.margins(model, Rows(offsets, ids, np.ones(len(ids), np.float32)))
        alone = np.atleast_2d(alone.T).T.astype(float)  # (d + 1, K)
        weights = alone[:-1] - alone[-1]
        self.base = (alone[-1] + weights[0] * model.intercept)[None]
        self.ids = self.slots = ids[1:].astype(np.int64)
        self.weights = weights[1:, None]
        self.means = self.zeros = np.zeros(len(self.ids))

    def _take_owners(self, known: dict[int, tuple[str, ...]]) -> None:
        """Find the columns of all features, and the pairs of columns that crosses and effects belong to."""
        model, keys = self.model, []
        for number in self.ids.tolist():
            key = known.get(number)
            if key is None:
                key = known[number] = columns_of_feature(model.feature_name(number - 1), model.space)
            keys.append(key)
        pairs = []
        if self.effects is not None:
            from ouzel.learners.auto.effect_terms import columns_with_effects, terms_of

            self.terms = terms_of(self.effects)
            slots = self.effects.columns[: columns_with_effects(self.effects)].astype(np.int64)
            self.effect_features = np.searchsorted(self.ids, slots)
            self.pair_features = self.effect_features[self.terms.pairs]
            for one, other in self.pair_features.tolist():
                pairs.append(tuple(dict.fromkeys(keys[other] + keys[one])))
        pairs = [tuple(sorted(key)) if len(key) > 1 else key for key in pairs]
        keys = [tuple(sorted(key)) if len(key) > 1 else key for key in keys]
        listed = dict.fromkeys(model.space.kinds)
        if not listed:
            listed = dict.fromkeys(map(str, range(model.space.width or 0)))
        listed |= dict.fromkeys(column for key in keys for column in key)
        self.columns = [*listed]
        self.owners = list(dict.fromkeys([*((column,) for column in listed), *keys, *pairs]))
        place = {key: number for number, key in enumerate(self.owners)}
        self.owner = np.array([place[key] for key in keys], np.int64)
        self.pair_owner = np.array([place[key] for key in pairs], np.int64)
        columns = {column: number for number, column in enumerate(self.columns)}
        several = [[columns[column] for column in key] for key in self.owners[len(columns) :]]
        self._halves = [(np.array(places), len(columns) + number) for number, places in enumerate(several)]

    @cached_property
    def effect_function(self) -> Function:
        from ouzel.learners.auto.attribution import with_effects

        assert self.function is not None
        assert self.effects is not None
        return with_effects(self.effects, self.function)

    @cached_property
    def start(self) -> np.ndarray:
        """The scores (3, K) of the average example: of the lines, and what curves and pairs add to it."""
        return np.vstack([self._line(self.base), self.terms.means])

    def _line(self, scores: np.ndarray) -> np.ndarray:
        """The score (K,) that the linear models make of theirs (E, K)."""
        line: np.ndarray = scores[0] if self.function is None else self.function.margins(scores[None])[0]
        return line

    @cached_property
    def average(self) -> np.ndarray:
        """The margins (K,) of the average example, in the model's order, before they are recalibrated."""
        if self.effects is None:
            return self.factor * self._line(self.base)
        found: np.ndarray = self.factor * self.effect_function.margins(self.start[None])[0]
        return found

    @cached_property
    def factor(self) -> float:
        """What log odds are multiplied by, to be margins."""
        if self.function is None:
            return 1.0
        from ouzel.learners.auto.attribution import factor_of

        return factor_of(self.model.states[0], self.model.loss)

    # One example.

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
        moved = self.start + np.stack([line - self.start[0], added.curves[0].sum(axis=0), self._by_pairs(added)])
        by_effects, _ = average_slopes(self.effect_function, self.start, moved)
        slopes = np.tensordot(by_effects[:, 0], slopes, 1)
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
        places, values = places[found], values[found].astype(np.float64)
        cut = values if self.cuts is None else self.cuts.of(places, values)
        scores = self.absent.copy()
        np.add.at(scores, self.owner[places], self.weights[places] * (cut - self.zeros[places])[:, None, None])
        added = self._added(places, values)
        slopes, effect_slopes = self.slopes(scores.sum(axis=0), added)
        owners, curves = self._owners(scores, added, slopes, effect_slopes)
        weights = np.einsum("fek,cek->fc", self.weights[places], slopes)
        average, owners, ratio, margins = self._fitted(owners, margins)
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
        """Return the average, owners that add up with it to the margins, their ratio to those given, and the margins.

        Where probabilities are recalibrated, margins are. The rest is rounding: it goes to owners by their size.
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
        return np.where(total > 0.0, average, margins), owners, ratio, margins

    def is_exclusive(self) -> np.ndarray:
        """Whether an example has one word of an owner's at most (C + P,), and nothing else."""
        spreads = means_and_spreads(self.model)[1][self.slots]
        is_word = np.abs(spreads**2 + self.means**2 - self.means) <= ROUNDING * self.means  # 0 or 1
        shares = np.bincount(self.owner, self.means, len(self.owners))
        found: np.ndarray = (np.bincount(self.owner, ~is_word, len(self.owners)) == 0) & (shares <= FULL)
        return found

    def added_by_features(self, places: np.ndarray) -> np.ndarray:
        """Return what each of some features (n,), as a word, adds to the average example's margins (n, K).

        The other words of its column are absent, and other columns are at their means.
        """
        found = np.zeros((len(places), self.base.shape[1]))
        for number, place in enumerate(places.tolist()):
            one, value = np.array([place]), np.ones(1)
            cut = value if self.cuts is None else self.cuts.of(one, value)
            owner = self.owner[place]
            scores = self.absent[owner] + self.weights[place] * (cut - self.zeros[place])
            added = self._added(one, value)
            if added is not None:
                from ouzel.learners.auto.effect_terms import Added

                inside = self.owner[self.effect_features] == owner
                added = Added(added.curves * inside[:, None], added.mains * inside[:, None], np.zeros_like(added.pairs))
            slopes, by_effects = self.slopes(scores, added)
            found[number] = np.einsum("ek,cek->c", scores, slopes)
            if added is not None:
                by_pairs = added.mains[0].sum(axis=0)
                found[number] += added.curves[0].sum(axis=0) @ by_effects[:, 0].T + by_pairs @ by_effects[:, 1].T
        return found

    def slopes_nearby(self, deviations: np.ndarray) -> np.ndarray:
        """Return how much scores count (K, E, K) from so far (E, K) below their means to so far above."""
        if self.function is None:
            return self.slopes(deviations, None)[0]
        from ouzel.learners.auto.attribution import average_slopes

        slopes, _ = average_slopes(self.function, self.base - deviations, self.base + deviations)
        return self.factor * slopes

    def by_column(self, owners: np.ndarray) -> np.ndarray:
        """What each column adds (C, K): by itself, and its part of what pairs add."""
        columns = owners[: len(self.columns)].copy()
        for places, owner in self._halves:
            columns[places] += owners[owner] / len(places)
        return columns


def explainer_of(model: Model, rows: Rows | None = None) -> Explainer:
    """The explainer of a model as it is now; it is made once, until the model learns again."""
    kept = model.__dict__.setdefault("explaining", {})  # is no part of a copy, or of a file
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
