"""Closed form of a model: how values are transformed, the weights they are multiplied by, and how sums are combined.

Most learners have one weight for each feature, and a column of them for each class. Others clip or standardise values
first, or are several linear models whose margins are combined; an expression describes all of them in the same way.
"""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import numpy as np

from ouzel.learners.auto import (
    constants,
    effect_slopes,
    narrowing,
    number_gains,
    other_numbers,
)
from ouzel.learners.auto.classification import weights_by_class
from ouzel.learners.auto.effects import NUMBERS, SEVERAL, TWO, Effects
from ouzel.learners.auto.regression import State as Numbers
from ouzel.learners.auto.regression import weights_by_model
from ouzel.learners.auto.regrets import weights_of
from ouzel.learners.auto.several_classes import SeveralClasses
from ouzel.learners.auto.sharing import margin_factor
from ouzel.learners.auto.standardisation import DENSE, Features, renumbered
from ouzel.learners.auto.two_classes import TwoClasses
from ouzel.learners.budget import scaled_columns
from ouzel.learners.gradient import metagrad_full
from ouzel.learners.rows import Rows
from ouzel.learners.target_scaling import State as ScaledTargets
from ouzel.learners.target_scaling import unit_of
from ouzel.model.cut_values import largest_sizes
from ouzel.model.model import Model

PROBE_VALUE = 4096.0  # of a single feature; large, so that the shift of every margin is rounded little
FEW = 2  # slots per slot with a weight; from there on, slots without weights are left out


class Linear(NamedTuple):
    """The sums are the margins, cut to [-limit, limit]."""

    limit: float


class TwoClassMixture(NamedTuple):
    """Margins of several models for two classes, mixed by exponential weights (`auto/sharing.py`)."""

    scales: np.ndarray  # (E,)
    mixture: np.ndarray  # (E,)
    shares: np.ndarray  # (E + 1,)


class MultiClassMixture(TwoClassMixture):
    """Scores of several models for several classes, mixed likewise; sums go by model, then class."""


class Residuals(NamedTuple):
    """Residuals of several models about a mean, within the range of the seen labels (`auto/regression.py`)."""

    mean: float
    low: float
    high: float
    mixture: np.ndarray  # (E,)


class Experts(NamedTuple):
    """Experts on such residuals and two more sums, mixed by their regrets (`auto/other_numbers.py`)."""

    residuals: Residuals
    floors: np.ndarray  # (2,) of the numbers of which logarithms are taken; minus infinity where none are
    constant: float
    shift: float
    low: float
    high: float
    weights: np.ndarray  # (E,)


class MixedMargins(NamedTuple):
    """Margins of several models for each column, cut and weighted (`metagrad_full`).

    Sums go by column, then model.
    """

    end: float
    weights: np.ndarray  # (columns, models)


class Expression(NamedTuple):
    """The steps that turn the values x of slots into margins, in this order."""

    features: Features | None  # standardised by these moments first
    reach: np.ndarray | None  # (d,) then cut to [-reach, reach], a slot its own
    weights: np.ndarray  # (d, sums) then multiplied by these and added up
    combine: Linear | TwoClassMixture | Residuals | Experts | MixedMargins
    shift: np.ndarray | float = 0.0  # (columns,) or one number is added to what comes of that
    slots: np.ndarray | None = None  # (d,) int64, rising, which the rows are of; None of all from 0 on
    effects: tuple[Effects, int] | None = None  # of columns beyond the margins, and for what kind of prediction
    scale: float = 1.0  # of the margins, effects of columns included, where nothing is shifted
    limit: float = 0.0  # of |value|; where it is above 0, values beyond it alone are divided, or cut there


def expression_of(model: Model) -> Expression:
    """Return the expression of the margins of a model, before classes are sorted for display."""
    if model.budgeted:
        return _restricted(_probed(model))
    expression = _unrestricted(model)
    weights = expression.weights[: model.slots].astype(float)
    if model.slot_map is not None:  # the graph goes by ids
        weights = model.slot_map.spread(weights.T, model.dimension).T
        if expression.features is not None:
            numbers = model.slot_map.numbers
            expression = expression._replace(features=renumbered(expression.features, numbers, model.dimension))
    if not model.intercept:
        weights[0] = 0.0
    reach = None if expression.reach is None else expression.reach[: model.dimension].astype(float)
    return _restricted(expression._replace(weights=weights, reach=reach))


def _restricted(expression: Expression) -> Expression:
    """Return an expression restricted to the slots with weights, if these are few; the others contribute nothing."""
    touched = (expression.weights != 0.0).any(axis=1)
    touched[0] = True
    if expression.features is not None:
        touched[expression.features.dense[: int(expression.features.totals[DENSE])]] = True
    slots = np.flatnonzero(touched)
    if FEW * len(slots) > len(touched) or len(slots) == 1:
        return expression
    return expression._replace(
        features=None if expression.features is None else narrowing.MET.narrowed(expression.features, slots),
        reach=None if expression.reach is None else expression.reach[slots],
        weights=expression.weights[slots],
        slots=slots,
    )


def _unrestricted(model: Model) -> Expression:
    expression, state = _of_lines(model), cast(Any, model.states[0])
    if "effects" in state._fields and state.effects.opened.any():
        kind = {TwoClasses: TWO, SeveralClasses: SEVERAL}.get(type(state), NUMBERS)
        return expression._replace(effects=(state.effects, kind))
    return expression


def _of_lines(model: Model) -> Expression:
    """The expression but for effects of columns."""
    state, mean, spread = model.states[0], 0.0, 1.0
    states = model.states[: model.task.columns(len(model.classes))]
    if isinstance(state, ScaledTargets):
        mean, spread = unit_of(state.targets)
        states = [state.learner]
        state = states[0]
    if isinstance(state, (TwoClasses, SeveralClasses)):
        by_class, mixture, scale = weights_by_class(state), _mixture(state), margin_factor(model.loss, state.scale)
        if isinstance(state, TwoClasses):
            return Expression(state.features, None, by_class[1], TwoClassMixture(*mixture), scale=scale)
        weights = np.stack(by_class, axis=2).reshape(len(state.table), -1)
        return Expression(state.features, None, weights, MultiClassMixture(*mixture), scale=scale)
    if isinstance(state, Numbers):
        return Expression(state.features, None, weights_by_model(state), _residuals(state, model.intercept))
    if isinstance(state, other_numbers.State):
        others = state.table[:, [other_numbers.FROM_CONSTANT, other_numbers.FROM_SQUARED]]
        weights = np.column_stack([weights_by_model(state), others])
        return Expression(state.features, None, weights, _experts(state, model.loss, model.intercept))
    features, limit = model.preparation.features, model.preparation.limit
    if isinstance(state, metagrad_full.State):
        own, parts = map(np.stack, zip(*map(metagrad_full.experts_by_part, states), strict=True))
        mixed = MixedMargins(model.settings.largest * spread, parts)
        return Expression(features, None, spread * own.reshape(-1, own.shape[2]).T, mixed, mean, limit=limit)
    weights = model.task.weights(model).T.astype(float)
    weights[0] -= mean
    linear = Linear(float(getattr(model.settings, "largest", np.inf)) * spread)
    return Expression(features, largest_sizes(model), weights, linear, mean, limit=limit)


def _mixture(state: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the scales, the mixture weights and the shares of the default learner."""
    return state.shares.scales, state.mixture.weights, state.shares.weights


def _residuals(state: Any, centred: bool) -> Residuals:
    low, high = float(state.labels[number_gains.LOW]), float(state.labels[number_gains.HIGH])
    mean = float(state.labels[number_gains.MEAN]) if centred else 0.0
    return Residuals(mean, low, high, state.mixture.weights)


def _experts(state: other_numbers.State, loss: Any, centred: bool) -> Experts:
    residuals, numbers = _residuals(state, centred), state.constants.numbers
    constant, floors = float(numbers[constants.LEVEL]), np.full(2, -np.inf)
    low, high = residuals.low, residuals.high
    if effect_slopes.of_logarithms(loss):
        mean = float(other_numbers.mean_for_logarithms(state.labels))
        floors = mean * np.array(other_numbers.FLOORS)
        constant, low, high = (
            float(other_numbers.margin_of(loss, number, mean, floor))
            for number, floor in ((mean, 1.0), (low, other_numbers.FARTHEST), (high, 1.0))
        )
    shift, weights = float(numbers[constants.SHIFT]), weights_of(state.regrets, float(constants.lead_of(loss)))
    return Experts(residuals, floors, constant * centred, shift, low, high, weights)


def _probed(model: Model) -> Expression:
    """Return the expression of a learner within a byte budget, by the margin of each feature alone."""
    slots = np.arange(max(model.dimension, (1 << model.bits) + 1 if model.space.named else 0), dtype=np.uint32)
    offsets = np.concatenate([np.arange(len(slots) + 1), [len(slots)]]).astype(np.uint64)
    margins = model.task.margins(model, Rows(offsets, slots, np.full(len(slots), PROBE_VALUE, np.float32)))
    margins = margins.reshape(len(slots) + 1, -1)
    columns, limit = model.preparation.columns, model.preparation.limit
    features = None if columns is None else scaled_columns.of_slots(columns, len(slots))
    weights = (margins[:-1] - margins[-1]) / PROBE_VALUE
    return Expression(features, None, weights, Linear(np.inf), margins[-1], limit=limit)
