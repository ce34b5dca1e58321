"""The average example of a model: its scores, what they are made of, and the margins that other scores lead to.

A margin is a function of scores, and scores are sums over features: one score of a linear learner, which is the margin,
or those of the models inside the default one (`learners/auto/attribution.py`) and of its effects of columns
(`effect_terms.py`). Features belong to columns (`streams/feature_columns.py`), crosses and effects of pairs to a pair
of columns: their owners.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ouzel.learners import feature_moments
from ouzel.learners.auto import standardisation
from ouzel.learners.rows import Rows
from ouzel.model.answers import effects_of
from ouzel.model.cut_values import CutValues
from ouzel.model.model import Model
from ouzel.streams.feature_columns import columns_of_feature

if TYPE_CHECKING:
    from ouzel.learners.auto.attribution import Function

ROUNDING = 1e-3  # of means of words
FULL = 1.01  # sum of the shares of words of a column of which an example has one at most


def means_and_spreads(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation (slots,) of the features in the examples learnt, absent ones counting as 0.

    Those of a sample where features are not standardised; not known to learners of a byte budget.
    """
    scales = model.scales
    if scales is not None:
        mean, spread = standardisation.means_and_spreads(scales)
    else:
        mean, spread = feature_moments.means_and_spreads(model.preparation.moments)
    return mean[: model.slots], spread[: model.slots]


class AverageExample:
    """The weights of a model by feature, the columns of its features, and the average example; see `explainer_of`.

    `rows` are those to be explained of a learner of a byte budget. It lists no weights and knows no means, so there an
    example is compared with one that has no features.
    """

    function: Function | None = None  # of scores; None where they are the margins
    cuts: CutValues | None = None

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
        if model.preparation.columns is not None:
            self._take_scales_of_columns(ids, weights)
        self.ids = self.slots = ids[1:].astype(np.int64)
        self.weights = weights[1:, None]
        self.means = self.zeros = np.zeros(len(self.ids))

    def _take_scales_of_columns(self, ids: np.ndarray, weights: np.ndarray) -> None:
        """Have weights for features as they are, and the base with scaled columns that are absent."""
        from ouzel.learners.budget import scaled_columns

        model, size = self.model, int(self.model.intercept)
        weights *= scaled_columns.units(model.preparation.columns, ids)[0][:, None]
        nothing = Rows(np.array([0, size], np.uint64), np.zeros(size, np.uint32), np.ones(size, np.float32))
        margins = model.task.margins(model, model.preparation.rows(nothing))
        self.base = np.atleast_2d(margins.T).T.astype(float)
        self.cuts = CutValues(model, ids[1:].astype(np.int64))

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
        places = [place for key in several for place in key]
        numbers = [number for number, key in enumerate(several) for _ in key]
        shares = [1 / len(key) for key in several for _ in key]
        self.halves = np.array(places, np.int64), np.array(numbers, np.int64), np.array(shares)  # (n,)  see `by_column`
        counts = np.bincount(self.owner, minlength=len(self.owners))
        self.only = np.where(counts == 1, np.bincount(self.owner, np.arange(len(keys)), len(self.owners)), -1)
        self.only = self.only.astype(np.int64)  # (C + P,)  the feature of an owner that has only one, else -1

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

    # Other examples.

    def is_exclusive(self) -> np.ndarray:
        """Whether an example has one word of an owner's at most (C + P,), and nothing else."""
        shares = np.bincount(self.owner, self.means, len(self.owners))
        found: np.ndarray = (np.bincount(self.owner, ~self.is_word(), len(self.owners)) == 0) & (shares <= FULL)
        return found

    def is_word(self) -> np.ndarray:
        """Whether each feature (d,) is 0 or 1."""
        spreads = means_and_spreads(self.model)[1][self.slots]
        found: np.ndarray = np.abs(spreads**2 + self.means**2 - self.means) <= ROUNDING * self.means
        return found

    def margins(self, scores: np.ndarray, curves: np.ndarray, pairs: np.ndarray) -> np.ndarray:
        """Return margins (n, K) for what is added to the scores of the average example: (n, E, K), and (n, K) twice."""
        moved = self.base + scores
        lines = moved[:, 0] if self.function is None else self.function.margins(moved)
        if self.effects is not None:
            lines = self.effect_function.margins(np.stack([lines, *(self.start[1:, None] + (curves, pairs))], axis=1))
        return self.factor * lines

    def of_words(self, places: np.ndarray, whole: bool = False) -> np.ndarray:
        """Return how far some features (n,), as words, move the average example's margins (n, K).

        A word is compared with its absence; as a `whole` column with its usual words, and those are absent.
        """
        ones, count = np.ones(len(places)), self.base.shape[1]
        cut = ones if self.cuts is None else self.cuts.of(places, ones)
        change = (cut - self.zeros[places])[:, None, None] * self.weights[places]
        curves, pairs = np.zeros((2, len(places), count)), np.zeros((2, len(places), count))
        owner = self.owner[places]
        absent = self.absent[owner] if whole else (self.zeros - self.means)[places, None, None] * self.weights[places]
        if self.effects is not None:
            own = self.effect_features[None] == places[:, None]  # (n, C')
            moved = self.owner[self.effect_features][None] == owner[:, None] if whole else own
            numbers = np.zeros((2, moved.shape[1]), np.float32)
            numbers[1] = 1.0
            from ouzel.learners.auto.effect_terms import added_by_terms

            off_and_on = added_by_terms(self.terms, numbers)
            for part, by in ((curves, off_and_on.curves), (pairs, off_and_on.mains)):
                part[0] = moved @ by[0]
                part[1] = part[0] + own @ (by[1] - by[0])
        present = self.margins(absent + change, curves[1], pairs[1])
        return present - (self.average if whole else self.margins(absent, curves[0], pairs[0]))

    def slopes_nearby(self, deviations: np.ndarray) -> np.ndarray:
        """Return how much scores count (K, E, K) from so far (E, K) below their means to so far above."""
        if self.function is None:
            return np.eye(deviations.shape[1])[:, None]
        from ouzel.learners.auto.attribution import average_slopes

        slopes, _ = average_slopes(self.function, self.base - deviations, self.base + deviations)
        return self.factor * slopes
