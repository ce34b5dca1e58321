"""Effects of columns for people: which matter most, and what they add to the prediction of an example."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ouzel.model.answers import Feature, effects_of, shown_weights

if TYPE_CHECKING:
    from ouzel.learners.auto.effect_terms import Term
    from ouzel.learners.rows import Rows
    from ouzel.model.model import Model

MOST_TERMS = 64  # that are listed of an example
OTHERS = "(other effects of columns)"


def terms_of_model(model: Any, numbers: np.ndarray) -> list[Term]:
    """What each column, and each pair, adds to the margins of examples with these numbers (n, columns)."""
    from ouzel.learners.auto.effect_terms import terms_of
    from ouzel.learners.auto.sharing import margin_factor

    state = model.states[0]
    unit = margin_factor(model.loss, state.scale) if "scale" in state._fields else 1.0
    return [term._replace(added=unit * term.added) for term in terms_of(state.effects, numbers)]


def important_effects(model: Model) -> list[list[Feature]]:
    """The effects of each column of weights; each is called by where it is strongest, and weighs what it adds there.

    Its importance is the standard deviation of what it adds to the margins of the examples kept.
    """
    from ouzel.learners.auto.effect_terms import sample_of

    effects = effects_of(model)
    numbers = sample_of(effects)
    terms = terms_of_model(model, numbers)
    columns: list[list[Feature]] = [[] for _ in range(effects.cells.shape[2])]
    for term in terms:
        change = term.added - term.added.mean(axis=0)
        for k, spread in enumerate(change.std(axis=0).tolist()):
            if spread > 0.0:
                place = int(np.argmax(np.abs(change[:, k])))
                columns[k].append(Feature(_name(model, effects, term, numbers[place]), float(change[place, k]), spread))
    return columns


def added_by_effects(model: Model, rows: Rows) -> tuple[list[list[list[tuple[str, float]]]], np.ndarray]:
    """Names, and what effects add beyond their mean, of each example and shown class; and their mean (columns,)."""
    effects = effects_of(model)
    if effects is None:
        return [], np.zeros(max(model.columns, 1))
    from ouzel.learners.auto.effect_terms import numbers_of, sample_of

    numbers = numbers_of(effects, rows.offsets, rows.indices, rows.values)
    means = np.stack([term.added.mean(axis=0) for term in terms_of_model(model, sample_of(effects))])  # (terms, K)
    terms = terms_of_model(model, numbers)
    added = np.stack([term.added for term in terms], axis=1) - means  # (n, terms, K)
    added = np.stack([shown_weights(model.classes, example.T) for example in added]) if len(added) else added
    found = []
    for i, by_class in enumerate(added):
        names = [_name(model, effects, term, numbers[i]) for term in terms]
        found.append([_listed(names, column) for column in by_class])
    return found, shown_weights(model.classes, means.sum(axis=0)[:, None])[:, 0]


def _listed(names: list[str], added: np.ndarray) -> list[tuple[str, float]]:
    order = np.argsort(-np.abs(added), kind="stable")
    most = [(names[place], float(added[place])) for place in order[:MOST_TERMS].tolist() if added[place] != 0.0]
    rest = float(added[order[MOST_TERMS:]].sum())
    return [*most, (OTHERS, rest)] if rest else most


def _name(model: Model, effects: Any, term: Term, numbers: np.ndarray) -> str:
    from ouzel.learners.auto.effect_terms import interval_of, is_category, named

    parts = []
    for column in term.columns:
        name = str(model.feature_name(int(effects.columns[column]) - 1))
        interval = interval_of(effects, column, float(numbers[column]), len(term.columns) > 1)
        if is_category(effects, column):
            parts.append(name if interval[0] == 1.0 else f"not {name}")
        else:
            parts.append(named(name, interval))
    return " × ".join(parts)
