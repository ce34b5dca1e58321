"""How much a model depends on each column, each feature and each pair of columns: how far they usually move the margin.

The importance of a column is how far the margin moves where the column's values are exchanged among examples: the root
of half the mean square, which is the standard deviation of what the column adds where that does not depend on others.
The default learner exchanges values of the examples that it keeps, where it has effects of columns; moves of margins
count by what they would cost in log loss (`sampled_margins.py`). Otherwise the standard deviation is that by means and
variances of features in all examples: words of which an example has one are correlated, and other features are taken as
independent.

The importance of a feature is |weight| × its standard deviation, with its curve where it has one. That of a pair is the
standard deviation of what only both columns together add.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ouzel.deferred import deferred
from ouzel.model.answers import Feature, shown_features, shown_weights
from ouzel.model.average_example import means_and_spreads
from ouzel.model.model import INTERCEPT, Model
from ouzel.streams.labels import Label

if TYPE_CHECKING:
    from ouzel.model import explainer, sampled_margins
    from ouzel.model.explainer import Explainer
else:
    explainer = deferred("ouzel.model.explainer")  # which needs the means
    sampled_margins = deferred("ouzel.model.sampled_margins")

Columns = list[tuple[Label | None, list[Feature]]]  # of each class, in the order shown
Ranked = list[tuple[str, float]]  # names and importances, largest first

NOTHING = 1e-9  # of margins, which pairs add that a model does not believe in
DEVIATIONS = 2.0  # of scores from their means, between which slopes are averaged where no examples are kept


class Importance(NamedTuple):
    """Standard deviations of what is added to margins, classes in the order of the model."""

    pairs: np.ndarray  # (P, K)
    features: np.ndarray  # (d, K)
    weights: np.ndarray  # (d, K)  what one more of each feature adds on average
    effect_slopes: np.ndarray  # (K, 2, K)  how much counts what curves, and pairs, add to scores
    columns: np.ndarray | None = None  # (C, K)  once they were asked for


def heaviest(model: Model, n: int) -> Columns:
    """The n features of the largest |weight| of each class, heaviest first, the intercept among them."""
    columns = [[Feature(model.feature_name(id_), weight) for id_, weight in column] for column in model.top(n)]
    return shown_features(model.classes, columns)


def most_important(model: Model, n: int) -> Columns:
    """The n features of each class that move its margin most, most important first; the intercept comes last.

    Learners of a byte budget do not know the spread of features; of these the heaviest come first.
    """
    if model.budgeted:
        return heaviest(model, n)
    found, known = importance(model), explainer.explainer_of(model)
    columns: list[list[Feature]] = []
    for k in range(found.features.shape[1]):
        weights, sizes = found.weights[:, k], found.features[:, k]
        order = np.lexsort((known.ids, -np.abs(weights), -sizes))
        order = order[(weights[order] != 0.0) | (sizes[order] > 0.0)][:n]
        names = [known.model.feature_name(number - 1) for number in known.ids[order].tolist()]
        given = zip(names, weights[order].tolist(), sizes[order].tolist(), strict=True)
        column = [Feature(*each) for each in given]
        constant = _constant(model, k)
        if len(column) < n and constant:
            column.append(Feature(INTERCEPT, constant, 0.0))
        columns.append(column)
    return shown_features(model.classes, columns)


def _constant(model: Model, k: int) -> float:
    """The weight of the constant feature."""
    return float(np.atleast_2d(model.slot_weights())[k, 0]) if model.intercept else 0.0


def column_importance(model: Model) -> list[tuple[Label | None, Ranked]]:
    """Return all columns of each class with their importance, the most important first.

    Learners of a byte budget know their heaviest weights alone: a column's importance is the root of the sum of their
    squares.
    """
    if model.budgeted:
        return [(label, _by_weight(model, features)) for label, features in heaviest(model, model.capacity)]
    found, known = importance(model), explainer.explainer_of(model)
    sizes = _column_sizes(known, found) if found.columns is None else found.columns
    known.importance = found._replace(columns=sizes)
    return _by_class(model, known.columns, sizes)


def pair_importance(model: Model) -> list[tuple[Label | None, Ranked]]:
    """Return the pairs of columns of each class with the importance of what only both add, the largest first."""
    if model.budgeted:
        return [(label, []) for label, _ in heaviest(model, 1)]
    found, known = importance(model), explainer.explainer_of(model)
    names = [" × ".join(owner) for owner in known.owners[len(known.columns) :]]
    return [
        (label, [each for each in ranked if each[1] > NOTHING])
        for label, ranked in _by_class(model, names, found.pairs)
    ]


def as_json(model: Model, features: Columns, n: int) -> list[dict[str, Any]]:
    """Return what programs get of each class: its `n` first columns, the given features, and its `n` first pairs."""
    columns, pairs = column_importance(model), pair_importance(model)
    return [
        {
            "class": label,
            "columns": own[:n],
            "features": [[str(feature.name), feature.weight] for feature in listed],
            "importances": [feature.importance for feature in listed],
            "pairs": both[:n],
        }
        for (label, listed), (_, own), (_, both) in zip(features, columns, pairs, strict=True)
    ]


def overall(by_class: list[tuple[Label | None, Ranked]]) -> Ranked:
    """Return one importance of each name: the root mean square of those of classes."""
    sums: dict[str, float] = {}
    for _, ranked in by_class:
        for name, size in ranked:
            sums[name] = sums.get(name, 0.0) + size * size / len(by_class)
    return sorted(((name, float(np.sqrt(size))) for name, size in sums.items()), key=lambda each: -each[1])


def _by_class(model: Model, names: list[str], sizes: np.ndarray) -> list[tuple[Label | None, Ranked]]:
    shown = np.abs(shown_weights(model.classes, sizes.T))
    labels = explainer.labels_of_margins(model)
    found = []
    for label, row in zip(labels, shown, strict=True):
        order = np.argsort(-row, kind="stable")
        found.append((label, [(names[place], float(row[place])) for place in order.tolist()]))
    return found


def _by_weight(model: Model, features: list[Feature]) -> Ranked:
    from ouzel.streams.feature_columns import columns_of_feature

    sums: dict[str, float] = {}
    for feature in features:
        if feature.name != INTERCEPT:
            columns = columns_of_feature(feature.name, model.space)
            for column in columns:
                sums[column] = sums.get(column, 0.0) + feature.weight**2 / len(columns)
    return sorted(((name, float(np.sqrt(size))) for name, size in sums.items()), key=lambda each: -each[1])


def importance(model: Model) -> Importance:
    """Return the importance of what a model knows, of a learner that knows its weights; its explainer keeps it."""
    known = explainer.explainer_of(model)
    if known.importance is None:
        known.importance = _of_sample(known) if known.effects is not None else _of_moments(known)
    return known.importance


def _of_moments(known: Explainer) -> Importance:
    spreads = means_and_spreads(known.model)[1][known.slots]
    slopes = known.slopes_nearby(DEVIATIONS * np.sqrt(np.tensordot(spreads**2, known.weights**2, 1)))
    weights = np.einsum("fek,cek->fc", known.weights, slopes)
    owners, sizes = _variances(known, weights, spreads), np.abs(weights) * spreads[:, None]
    classes = weights.shape[1]
    _with_words(known, weights, sizes, spreads)
    return Importance(np.sqrt(owners[len(known.columns) :]), sizes, weights, np.zeros((classes, 2, classes)))


def _with_words(known: Explainer, weights: np.ndarray, sizes: np.ndarray, spreads: np.ndarray) -> None:
    """Have words, which are 0 or 1, weigh what they add to the average example, where that is no sum of scores."""
    if known.function is not None:
        words = np.flatnonzero(known.is_word() & (spreads > 0.0))
        weights[words] = known.of_words(words)
        sizes[words] = np.abs(weights[words]) * spreads[words, None]


def _column_sizes(known: Explainer, found: Importance) -> np.ndarray:
    """How far the margin moves where the values of a column are exchanged (C, K)."""
    if known.effects is not None:
        return sampled_margins.SampledMargins(known).exchanged()
    spreads = means_and_spreads(known.model)[1][known.slots]
    sizes: np.ndarray = np.sqrt(known.by_column(_variances(known, found.weights, spreads)))
    return sizes


def _of_sample(known: Explainer) -> Importance:
    sample = sampled_margins.SampledMargins(known)
    own, by_pairs, slopes, effect_slopes = sample.parts()
    spreads = means_and_spreads(known.model)[1][known.slots]
    weights = np.einsum("fek,cek->fc", known.weights, slopes)
    sizes = np.abs(weights) * spreads[:, None]
    pairs = _variances(known, weights, spreads)
    by_owner = np.zeros((len(by_pairs), *pairs.shape))
    for place, owner in enumerate(known.pair_owner.tolist()):
        by_owner[:, owner] += by_pairs[:, place]
    pairs += sample.variances(by_owner)
    sizes[known.effect_features] = np.sqrt(sample.variances(own))
    _with_words(known, weights, sizes, spreads)
    return Importance(np.sqrt(pairs[len(known.columns) :]), sizes, weights, effect_slopes)


def _variances(known: Explainer, weights: np.ndarray, spreads: np.ndarray) -> np.ndarray:
    """The variance (owners, K) of what the features of each add together."""
    found = np.zeros((len(known.owners), weights.shape[1]))
    np.add.at(found, known.owner, (weights * spreads[:, None]) ** 2)
    exclusive = known.is_exclusive()[known.owner]  # the covariances of their features are products of means
    means, products = np.zeros_like(found), weights[exclusive] * known.means[exclusive, None]
    np.add.at(means, known.owner[exclusive], products)
    np.add.at(found, known.owner[exclusive], products**2)
    return np.maximum(found - means**2, 0.0)
