"""The features of a model that matter most, by name: by how far they usually move the margin, or by their weights.

A feature's importance is |weight| × spread: how far one standard deviation of the feature moves the margin.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ouzel.deferred import deferred
from ouzel.learners import feature_moments
from ouzel.learners.auto import standardisation
from ouzel.model.answers import Feature, effects_of, important_slots, shown_features
from ouzel.model.model import INTERCEPT, Model
from ouzel.streams.labels import Label

if TYPE_CHECKING:
    from ouzel.model import column_effects
else:
    column_effects = deferred("ouzel.model.column_effects")  # a short stream has none

Columns = list[tuple[Label | None, list[Feature]]]  # of each class, in the order shown


def heaviest(model: Model, n: int) -> Columns:
    """The n features of the largest |weight| of each class, heaviest first, the intercept among them."""
    columns = [[Feature(model.feature_name(id_), weight) for id_, weight in column] for column in model.top(n)]
    return shown_features(model.classes, columns)


def most_important(model: Model, n: int) -> Columns:
    """The n features of each class that move its margin most, most important first; the intercept comes last.

    Effects of columns are among them, each called by the bin, or the pair of bins, in which it is strongest.

    Learners of a byte budget do not know the spread of features; of these the heaviest come first.
    """
    if model.budgeted:
        return heaviest(model, n)
    spreads = means_and_spreads(model)[1]
    columns: list[list[Feature]] = []
    effects = column_effects.important_effects(model) if effects_of(model) is not None else []
    for weights in model.slot_weights():
        slots = 1 + important_slots(weights[1:], spreads[1:], n)
        if len(slots) < n and model.intercept and weights[0] != 0.0:
            slots = np.append(slots, 0)
        sizes = np.abs(weights[slots]) * spreads[slots]
        numbers = slots if model.slot_map is None else model.slot_map.numbers[slots]
        names = [model.feature_name(number - 1) for number in numbers.tolist()]
        found = [Feature(*each) for each in zip(names, weights[slots].tolist(), sizes.tolist(), strict=True)]
        columns.append(_merged(found, effects[len(columns)], n) if effects else found)
    return shown_features(model.classes, columns)


def _merged(features: list[Feature], effects: list[Feature], n: int) -> list[Feature]:
    """The n most important of features and effects; an intercept stays last."""
    constant = [feature for feature in features if feature.name == INTERCEPT]
    rest = [feature for feature in features if feature.name != INTERCEPT] + effects
    rest.sort(key=lambda feature: -(feature.importance or 0.0))
    return [*rest[:n], *constant][:n]


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
