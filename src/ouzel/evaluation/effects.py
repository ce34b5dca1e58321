"""The effect of a column of numbers, or of a pair of columns, on what the default learner predicts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ouzel.errors import OuzelError, suggest
from ouzel.model.answers import effects_of, shown_weights
from ouzel.model.average_example import means_and_spreads
from ouzel.model.cut_values import CutValues
from ouzel.model.explainer import explainer_of
from ouzel.model.importance import importance
from ouzel.model.model import Model
from ouzel.streams.feature_columns import columns_of_feature, word_of_feature
from ouzel.streams.feature_space import CATEGORY, DATE
from ouzel.streams.missing import NA_FEATURE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ouzel.streams.labels import Label

BETWEEN = "*"  # between the names of a pair
FAR = 100.0  # standard deviations, which a learner that cuts numbers cuts
MOST_NAMED = 12  # columns that an error lists
MOST_WORDS = 1000  # of a column, the heaviest


class Effect(NamedTuple):
    """The contribution of a column, or of a pair of columns, to margins: a line, and a curve in small steps."""

    columns: tuple[str, ...]  # one name, or two
    edges: tuple[np.ndarray, ...]  # (m,) float32 of each column, rising; a number on an edge is above it
    values: np.ndarray  # (m + 1, K), of a pair (m_1 + 1, m_2 + 1, K)  added in each interval, 0 on average
    slopes: np.ndarray  # (K,) of the line, which is 0 at `mean`; 0 of a pair
    mean: float  # of the column in the examples learnt; 0 of a pair
    reach: tuple[float, float]  # beyond which the line goes on level, as the learner cuts numbers there
    classes: list[Label]  # which the K margins speak for; empty of numbers
    numbers: np.ndarray  # (n, 1 or 2) float32  of a sample of the examples learnt, where none is missing
    categories: tuple[bool, ...]  # whether each column is 1 for the examples of a category, and 0 for others
    logarithms: bool = False  # whether margins are logarithms of the numbers predicted
    is_date: bool = False  # whether the numbers of the column are seconds since 1970

    def at(self, numbers: Any) -> np.ndarray:
        """Return the contribution (n, K) to margins at numbers (n,) of the column, or (n, 2) of the pair."""
        numbers = np.asarray(numbers, np.float64).reshape(-1, len(self.columns))
        bins = [np.searchsorted(edges, column, "right") for edges, column in zip(self.edges, numbers.T, strict=True)]
        found: np.ndarray = self.values[tuple(bins)] + (np.clip(numbers[:, :1], *self.reach) - self.mean) * self.slopes
        return found

    def plot(self, path: str | None = None, title: str = "") -> Figure:
        """Draw the curve over the density of the sample, or a pair as a heat map.

        Of several classes the ten with the largest effects are drawn. Writes an .svg, .png or .pdf file if one is
        named, and returns a figure of matplotlib, which a notebook shows.
        """
        from ouzel.evaluation.effect_plots import draw_effect

        return draw_effect(self, path, title)


class WordEffect(NamedTuple):
    """The contribution of each word of a column to the average example's margins, the largest first."""

    columns: tuple[str]
    words: list[str]
    values: np.ndarray  # (m, K)
    shares: np.ndarray  # (m,)  of the examples learnt
    classes: list[Label]  # which the K margins speak for; empty of numbers
    logarithms: bool = False  # whether margins are logarithms of the numbers predicted

    def plot(self, path: str | None = None, title: str = "") -> Figure:
        """Draw a bar for each of the 20 words that add most, or most rarely; as `Effect.plot`."""
        from ouzel.evaluation.effect_plots import draw_words

        return draw_words(self, path, title)


def effect(model: Any, column: Any) -> Effect | WordEffect:
    """Return the effect of a column, or of a pair such as "age*hours", on the margin of a model.

    A column of words has a `WordEffect`, by any learner that knows its weights: what each word adds to the margin of
    the average example, with what the other words of the column would have added.

    A pair may be a tuple, ("age", "hours"), and a column of an array its number.

    `model` is a `Model`, or an estimator, of the default learner, whose linear part gives a column one slope, and whose
    curve adds what is left (Lou, Caruana, Gehrke & Hooker, 2013, "Accurate Intelligible Models with Pairwise
    Interactions", KDD). A pair adds what its columns do not add each by itself. Of two classes there is one margin,
    positive for the second of the sorted labels, in log-odds; of several, one score a class; of numbers, the margin is
    the prediction in the units of labels, by the Poisson loss its logarithm. Probabilities of the parts are averaged,
    so sums of effects are the margin nearly, not exactly. A model that has no effects of columns, and a column that has
    none, are refused: OuzelError.

    Examples
    --------
    >>> import numpy as np, ouzel
    >>> X = np.random.default_rng(0).normal(size=(3000, 2))
    >>> model = ouzel.OnlineRegressor().fit(X, np.abs(X[:, 0]) + X[:, 1])
    >>> found = ouzel.effect(model, "0")
    >>> found.values.shape[0] == len(found.edges[0]) + 1 # one value an interval
    True
    >>> bool(found.at([-2.0]) > found.at([0.0]) + 1.0)
    True
    """
    model = model if isinstance(model, Model) else getattr(model, "model_", None)
    name = BETWEEN.join(map(str, column)) if isinstance(column, (tuple, list)) else str(column)
    if model is not None and not model.budgeted and model.examples:
        found = _effect_of_words(model, name)
        if found is not None:
            return found
    effects = None if model is None else effects_of(model)
    if model is None or effects is None:
        said = "" if model is None else f" ({model.learner.name}, {model.examples:,} examples)"
        raise OuzelError(
            f"this model{said} has no effects of columns; the default learner, auto, makes them of tables with columns "
            "of numbers, from 32 examples on, unless forms=raw"
        )
    return _effect_of_numbers(model, effects, name)


def _effect_of_numbers(model: Model, effects: Any, column: str) -> Effect:
    """Return the effect of a column of numbers, or of a pair."""
    from ouzel.learners.auto.effect_slopes import of_logarithms
    from ouzel.learners.auto.effect_terms import is_category, pairs_with, sample_of

    known, found = explainer_of(model), importance(model)
    names = _names(model, effects)
    listed = [part for name in names for part in columns_of_feature(name, model.space)]
    words = [name for name, kind in model.space.kinds.items() if kind == CATEGORY]
    places = _places(column, names, list(dict.fromkeys([*listed, *words])))
    terms, count = known.terms, len(known.terms.edges)
    edges = [own[own < np.inf] for own in terms.edges[places]]
    if len(places) == 1:
        (place,) = places
        intervals = np.arange(len(edges[0]) + 1)
        by_curve, by_pairs = found.effect_slopes[:, 0].T, found.effect_slopes[:, 1].T
        added = terms.curves[place, intervals] @ by_curve + terms.mains[place, intervals] @ by_pairs
    else:
        shape = tuple(len(own) + 1 for own in edges)
        intervals = np.zeros((int(np.prod(shape)), count), np.int64)
        intervals[:, places] = np.indices(shape).reshape(2, -1).T
        pair = np.flatnonzero((np.sort(terms.pairs, axis=1) == sorted(places)).all(axis=1))
        added = pairs_with(terms, intervals, pair).sum(axis=1) @ found.effect_slopes[:, 1].T
    values = shown_weights(model.classes, added.T).T
    slopes, mean, reach = np.zeros(values.shape[1]), 0.0, (-np.inf, np.inf)
    if len(places) == 1:
        feature = int(known.effect_features[places[0]])
        slopes = shown_weights(model.classes, found.weights[feature][:, None])[:, 0]
        mean, spread = float(known.means[feature]), float(means_and_spreads(model)[1][known.slots[feature]])
        cuts = CutValues(model, known.slots[[feature, feature]])
        low, high = cuts.of(np.arange(2), mean + np.array([-FAR, FAR]) * spread).tolist()
        reach = low, high
    sample = sample_of(effects)
    return Effect(
        tuple(names[place] for place in places),
        tuple(edges),
        values.reshape(*(len(own) + 1 for own in edges), -1),
        slopes,
        mean,
        reach,
        _classes(model),
        sample[_have_numbers(sample, names, places)][:, places],
        tuple(is_category(effects, place) for place in places),
        model.task.numbers and of_logarithms(model.loss),
        len(places) == 1 and model.space.kinds.get(names[places[0]]) == DATE,
    )


def _effect_of_words(model: Model, column: str) -> WordEffect | None:
    """Return the effect of a column of words; None where there is none of this name."""
    from ouzel.learners.auto.effect_slopes import of_logarithms

    known = explainer_of(model)
    if column not in known.columns:
        return None
    place = known.columns.index(column)
    features = np.flatnonzero(known.owner == place)
    names = [model.feature_name(number - 1) for number in known.ids[features].tolist()]
    words = [word_of_feature(name, column) for name in names]
    if None in words or not words:
        return None
    sizes = np.abs(importance(model).weights[features]).max(axis=1)
    most = features[np.sort(np.argsort(-sizes, kind="stable")[:MOST_WORDS])]
    added = known.of_words(most, whole=True)
    values = shown_weights(model.classes, added.T).T
    order = np.argsort(-np.abs(values).max(axis=1), kind="stable")
    spoken = dict(zip(features.tolist(), words, strict=True))
    return WordEffect(
        (column,),
        [str(spoken[feature]) for feature in most[order].tolist()],
        values[order],
        known.means[most[order]],
        _classes(model),
        bool(model.task.numbers and of_logarithms(model.loss)),
    )


def _classes(model: Model) -> list[Label]:
    classes = model.classes.in_order()
    return [] if model.task.numbers or model.task.groups else classes if len(classes) > 2 else classes[-1:]


def _names(model: Model, effects: Any) -> list[str]:
    """The names of the columns that have effects."""
    from ouzel.learners.auto.effect_terms import columns_with_effects

    return [str(model.feature_name(slot - 1)) for slot in effects.columns[: columns_with_effects(effects)].tolist()]


def _have_numbers(sample: np.ndarray, names: list[str], places: list[int]) -> np.ndarray:
    """Whether the columns have a number in each example of the sample; a missing one is 0 there, and has a mark."""
    marks = {f"{names[place]}={NA_FEATURE}" for place in places}
    found = (sample[:, [place for place, name in enumerate(names) if name in marks]] == 0).all(axis=1)
    return found if found.any() else ~found


def _places(column: str, names: list[str], columns: list[str]) -> list[int]:
    """The places of a column, or of the two of a pair; an error names the `columns` that have effects."""
    if column in names:
        return [names.index(column)]
    parts = column.split(BETWEEN)
    pairs = [(BETWEEN.join(parts[:k]).strip(), BETWEEN.join(parts[k:]).strip()) for k in range(1, len(parts))]
    for one, other in pairs:
        if one in names and other in names and one != other:
            return [names.index(one), names.index(other)]
    unknown = next((name for pair in pairs for name in pair if name not in names), column)
    more = len(columns) - MOST_NAMED
    listed = ", ".join(columns[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
    raise OuzelError(f"column {unknown!r} has no effect{suggest(unknown, columns)}Columns that have one: {listed}")
