"""What a model computes, in closed form: what values become, the weights they are multiplied by, and what of the sums.

Most learners are one weight a feature, and a column of them a class. Others see values cut or standardised first, or
are several linear models whose margins are combined; a form says it of all of them in the same few words.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ouzel.learners.auto import constants, narrowing, number_gains, other_losses, other_numbers, stacking
from ouzel.learners.auto.classification import weights_by_class
from ouzel.learners.auto.regression import State as Numbers
from ouzel.learners.auto.regression import weights_by_model
from ouzel.learners.auto.regrets import weights_of
from ouzel.learners.auto.several_classes import SeveralClasses
from ouzel.learners.auto.standardisation import DENSE, Features, renumbered
from ouzel.learners.auto.two_classes import TwoClasses
from ouzel.learners.rows import Rows
from ouzel.learners.target_scaling import State as ScaledTargets
from ouzel.learners.target_scaling import unit_of
from ouzel.model.cut_values import largest_sizes
from ouzel.model.model import Model

ASKED = 4096.0  # the value that a feature alone is given, beside which what is added to every margin rounds little
FEW = 2  # times as many slots as have weights, from which on the others are left out


class Linear(NamedTuple):
    """The sums are the margins, cut to [-limit, limit]."""

    limit: float


class Odds(NamedTuple):
    """Several models' margins of two classes, by exponential weights (`auto/sharing.py`)."""

    scales: np.ndarray  # (E,)
    mixture: np.ndarray  # (E,)
    shares: np.ndarray  # (E + 1,)


class Chances(Odds):
    """The same of several classes' scores; sums are by model and then by class."""


class Residuals(NamedTuple):
    """Several models' residuals about a mean, within the range of the labels seen (`auto/regression.py`)."""

    mean: float
    low: float
    high: float
    mixture: np.ndarray  # (E,)


class Experts(NamedTuple):
    """What experts make of such residuals, and of two sums more, by their regrets (`auto/other_numbers.py`)."""

    residuals: Residuals
    floors: np.ndarray  # (2,) of the numbers of which logarithms are taken; minus infinity where none are
    constant: float
    shift: float
    low: float
    high: float
    weights: np.ndarray  # (E,)


class Stacks(NamedTuple):
    """Of each column several models' margins, cut and weighed (`auto/stacking.py`); sums are by column, then model."""

    ends: np.ndarray  # (columns,)
    weights: np.ndarray  # (columns, models)


class Form(NamedTuple):
    """What is done with values x of slots, in this order."""

    features: Features | None  # standardised by these moments first
    reach: np.ndarray | None  # (d,) then cut to [-reach, reach], a slot its own
    weights: np.ndarray  # (d, sums) then multiplied by these and added up
    combine: Linear | Odds | Residuals | Experts | Stacks
    shift: np.ndarray | float = 0.0  # (columns,) or one number is added to what comes of that
    slots: np.ndarray | None = None  # (d,) int64, rising, which the rows are of; None of all from 0 on


def form_of(model: Model) -> Form:
    """The form of a model: of its margins as it has them, before classes are put in the order shown."""
    if model.budgeted:
        return _restricted(_asked(model))
    form = _form(model)
    weights = form.weights[: model.slots].astype(float)
    if model.slot_map is not None:  # the graph goes by ids
        weights = model.slot_map.spread(weights.T, model.dimension).T
        if form.features is not None:
            numbers = model.slot_map.numbers
            form = form._replace(features=renumbered(form.features, numbers, model.dimension))
    if not model.intercept:
        weights[0] = 0.0
    reach = None if form.reach is None else form.reach[: model.dimension].astype(float)
    return _restricted(form._replace(weights=weights, reach=reach))


def _restricted(form: Form) -> Form:
    """The same form of the slots that have weights, if these are few: all others count for nothing."""
    touched = (form.weights != 0.0).any(axis=1)
    touched[0] = True
    if form.features is not None:
        touched[form.features.dense[: int(form.features.totals[DENSE])]] = True
    slots = np.flatnonzero(touched)
    if FEW * len(slots) > len(touched) or len(slots) == 1:
        return form
    return form._replace(
        features=None if form.features is None else narrowing.MET.narrowed(form.features, slots),
        reach=None if form.reach is None else form.reach[slots],
        weights=form.weights[slots],
        slots=slots,
    )


def _form(model: Model) -> Form:
    state, mean, spread = model.states[0], 0.0, 1.0
    states = model.states[: model.task.columns(len(model.classes))]
    if isinstance(state, ScaledTargets):
        mean, spread = unit_of(state.targets)
        states = [state.learner]
        state = states[0]
    if isinstance(state, TwoClasses):
        return Form(state.features, None, weights_by_class(state)[1], Odds(*_believed(state)))
    if isinstance(state, SeveralClasses):
        by_model = np.stack(weights_by_class(state), axis=2)
        return Form(state.features, None, by_model.reshape(len(by_model), -1), Chances(*_believed(state)))
    if isinstance(state, Numbers):
        return Form(state.features, None, weights_by_model(state), _residuals(state, model.intercept))
    if isinstance(state, other_numbers.State):
        others = state.table[:, [other_numbers.FROM_CONSTANT, other_numbers.FROM_SQUARED]]
        weights = np.column_stack([weights_by_model(state), others])
        return Form(state.features, None, weights, _experts(state, model.loss, model.intercept))
    features = model.preparation.features
    if isinstance(state, other_losses.State):
        models = slice(1, 1 + stacking.MODELS)
        stacks = Stacks(
            np.array([stacking.FURTHEST * known.counts[2] for known in states]),
            np.stack([known.stack * spread for known in states]),
        )
        weights = np.concatenate([known.table[:, models] for known in states], axis=1)
        return Form(features, largest_sizes(model), weights, stacks, mean)
    weights = model.task.weights(model).T.astype(float)
    weights[0] -= mean
    limit = float(getattr(model.settings, "largest", np.inf)) * spread
    return Form(features, largest_sizes(model), weights, Linear(limit), mean)


def _believed(state: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What the default believes of its models."""
    return state.shares.scales, state.mixture.weights, state.shares.weights


def _residuals(state: Any, centred: bool) -> Residuals:
    low, high = float(state.labels[number_gains.LOW]), float(state.labels[number_gains.HIGH])
    mean = float(state.labels[number_gains.MEAN]) if centred else 0.0
    return Residuals(mean, low, high, state.mixture.weights)


def _experts(state: other_numbers.State, loss: Any, centred: bool) -> Experts:
    residuals, numbers = _residuals(state, centred), state.constants.numbers
    constant, floors = float(numbers[constants.LEVEL]), np.full(2, -np.inf)
    low, high = residuals.low, residuals.high
    if other_numbers.of_logarithms(loss):
        mean = float(other_numbers.mean_for_logarithms(state.labels))
        floors = mean * np.array(other_numbers.FLOORS)
        constant, low, high = (
            float(other_numbers.margin_of(loss, number, mean, floor))
            for number, floor in ((mean, 1.0), (low, other_numbers.FARTHEST), (high, 1.0))
        )
    shift, weights = float(numbers[constants.SHIFT]), weights_of(state.regrets, float(constants.lead_of(loss)))
    return Experts(residuals, floors, constant * centred, shift, low, high, weights)


def _asked(model: Model) -> Form:
    """Of a learner of a byte budget, which tells the margin of each feature alone; of sketches all names have one."""
    slots = np.arange(max(model.dimension, (1 << model.bits) + 1 if model.space.named else 0), dtype=np.uint32)
    offsets = np.concatenate([np.arange(len(slots) + 1), [len(slots)]]).astype(np.uint64)
    margins = model.task.margins(model, Rows(offsets, slots, np.full(len(slots), ASKED, np.float32)))
    margins = margins.reshape(len(slots) + 1, -1)
    return Form(None, None, (margins[:-1] - margins[-1]) / ASKED, Linear(np.inf), margins[-1])
