"""Classes with nothing to tune: several linear models learn the stream at once, and a tiny one weighs their margins.

You rarely know the right loss, step size and scaling until the stream is over. Features are standardised as they come
where they are dense (`standardisation.py`); of each example models of the first and of the second order take their
steps (`two_classes.py`, `several_classes.py`); their margins are weighed by online Newton steps that forget
(`mixing.py`). A state of two classes has one margin, and becomes one of several as the third class appears. By
another loss than the logistic one only the unit of the margins differs (`sharing.py`). Pairs to rank are learnt by
the same models in `ranking.py`; numbers by `regression.py`, and by other losses than the squared one by
`other_numbers.py`.
"""

from __future__ import annotations

import importlib
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from ouzel.deferred import deferred
from ouzel.layout import allocate, flat, require
from ouzel.learners.auto import (
    effect_columns,
    effects,
    mixing,
    newton_block,
    sharing,
    standardisation,
    two_classes,
)
from ouzel.learners.auto.two_classes import MEAN, ROOT, VARIANCE, WEIGHT, Settings, TwoClasses, is_of_two
from ouzel.learners.rows import Rows
from ouzel.terms.losses import REGRESSION, Squared

if TYPE_CHECKING:
    from ouzel.learners import fading
    from ouzel.learners.auto import class_gains, discriminant, several_classes
    from ouzel.learners.auto.several_classes import SeveralClasses
else:
    fading = deferred("ouzel.learners.fading")  # with a half-life
    class_gains = deferred("ouzel.learners.auto.class_gains")  # of workers
    discriminant = deferred("ouzel.learners.auto.discriminant")  # from the third class on
    several_classes = deferred("ouzel.learners.auto.several_classes")

MULTICLASS = True
STANDARDIZES = True  # by itself
LATE = 1.0  # below 0 a class that comes late starts so far

__all__ = ["Settings"]


def module_for(task: str, loss: Any, settings: Any = None) -> Any:
    """The module that learns such a task by this loss."""
    name = "ranking" if task == "ranking" else "classification"
    if task == "regression" and isinstance(loss, REGRESSION):
        name = "regression" if isinstance(loss, Squared) else "other_numbers"
    return importlib.import_module(f"ouzel.learners.auto.{name}")


def rule_of(state: Any) -> Any:
    """The module whose kernels a state is for."""
    return two_classes if isinstance(state, TwoClasses) else several_classes


def layout(dimension: int, classes: int, settings: Settings) -> Any:
    """What a state with room for so many slots and classes is made of."""
    if classes <= 2:
        return two_classes.layout(dimension, settings.budget)
    return several_classes.layout(dimension, classes, settings.budget)


def init(dimension: int, classes: int, settings: Settings) -> Any:
    """A state that has seen nothing, of so many slots and classes."""
    return allocate(layout(dimension, classes, settings))


def grow(state: Any, dimension: int, classes: int, settings: Settings) -> Any:
    """The same state with room for so many slots and classes."""
    known = 2 if isinstance(state, TwoClasses) else state.table.shape[2]
    if known == 2 and classes > 2:
        state, known = _parted(state, settings.budget), 2
    larger = layout(dimension, max(classes, known), settings)
    shapes = [part.shape for _, part in flat(larger)]
    if shapes == [array.shape for _, array in flat(state)]:
        return state
    grown = _filled(allocate(larger), state)
    opened = grown.effects.opened[effects.OF_TWO]
    opened[:] = np.minimum(opened, effect_columns.rooms_of_pairs(grown.effects))
    if not isinstance(state, TwoClasses) and classes > known:
        _begin_late(grown, known)
    return grown


def check(state: Any, settings: Settings) -> None:
    """Refuse a state whose parts do not fit each other."""
    standardisation.check(state.features)
    newton_block.check(state.block, state.places)
    for mixture in (state.mixture, state.scale):
        mixing.check(mixture)
    if "effects" in state._fields:
        effects.check(state.effects)
    if not isinstance(state, TwoClasses):
        discriminant.check(state.discriminant, state.block.totals[newton_block.MEMBERS])
        sums = (*several_classes.SQUARES, several_classes.VARIANCE)
        require((state.table[:, sums] >= 0.0).all(), "table has sums of squares or variances below 0")


def learn_rows(
    state: Any, rows: Rows, targets: np.ndarray, importances: np.ndarray, settings: Settings, scores: np.ndarray
) -> None:
    """Learn a block; `scores` (n, classes) takes the predictions made before learning each example."""
    rule_of(state).learn_rows(state, rows, targets, importances, settings, scores)


def predict_rows(state: Any, rows: Rows, settings: Settings, scores: np.ndarray) -> None:
    """Write the scores of a block to `scores` (n, classes)."""
    rule_of(state).predict_rows(state, rows, settings, scores)


def bytes_used(state: Any) -> int:
    """Bytes of all arrays."""
    return sum(array.nbytes for _, array in flat(state))


def weights(state: Any, settings: Settings) -> np.ndarray:
    """The weights (d, classes) of the features as they are, the constant's with the means of the dense ones taken off.

    They are those of the models, weighed as their margins are where these are near 0: beyond, probabilities are
    averaged and not margins, and the prediction is not linear in the features. Nor is it where a feature lies 3
    standard deviations from its mean, or where a model's margin is cut.
    """
    slopes, shifts = standardisation.units(state.features, reaching=True)
    slopes[0] = 1.0
    known = np.flatnonzero(slopes)
    models = sharing.combined(state.shares, state.mixture.weights)
    parts = np.stack([part @ models for part in weights_by_class(state, known)], axis=1)
    parts[0] -= shifts[known] @ parts
    found = np.zeros((len(slopes), parts.shape[1]))
    found[known] = parts * slopes[known, None] * sharing.margin_factor(settings.loss, state.scale)
    return found


def fade(state: Any, kept: float, settings: Settings) -> None:
    """Decay sums of squares, precisions and moments; the mixture and the shares forget by themselves."""
    prior = two_classes.prior_variance(state.features)
    if "effects" in state._fields:
        effects.fade(state.effects, kept)
    if is_of_two(state):
        state.table[:, ROOT : ROOT + 4] /= np.float32(sqrt(kept))
        if isinstance(state, TwoClasses):
            state.counts[:] *= kept
        variance = state.table[:, VARIANCE]
    else:
        state.table[:, several_classes.SQUARES] *= np.float32(kept)
        variance = state.table[:, several_classes.VARIANCE]
        discriminant.fade(state.discriminant, kept)
    variance[...] = fading.faded_variances(variance, kept, prior)
    newton_block.fade(state.block, kept, newton_block.PRIOR, standardisation.fade(state.features, kept))


def reorder(state: Any, places: list[int]) -> Any:
    """The state of the same classes in another order: class k of it is class `places[k]` of this one."""
    copied = _filled(allocate_like(state), state)
    if not is_of_two(state):
        copied.table[:] = state.table[:, :, places]
        copied.block.weights[:] = state.block.weights[:, places]
        copied.block.shares[:] = state.block.shares[places]
        for name in ("means", "weights", "norms", "counts"):
            getattr(copied.discriminant, name)[:] = getattr(state.discriminant, name)[..., places]
        copied.effects.cells[:] = state.effects.cells[:, :, places]
    elif places == [1, 0]:
        copied.table[:, [*range(WEIGHT, WEIGHT + 4), MEAN]] *= -1.0
        copied.block.weights[:] *= -1.0
        if isinstance(copied, TwoClasses):
            copied.effects.cells[:, 0] *= -1.0
            copied.counts[:] = state.counts[::-1]
    return copied


def allocate_like(state: Any) -> Any:
    """A state of the same shapes."""
    return type(state)(*(allocate_like(part) if isinstance(part, tuple) else part.copy() for part in state))


def weights_by_class(state: Any, slots: Any = slice(None)) -> list[np.ndarray]:
    """The models' weights (d, models) of every class, in units of z; of two classes the first has none.

    `slots` (n,) are those that are asked for, in the place of all.
    """
    members, places = np.flatnonzero(state.places), state.places[np.flatnonzero(state.places)].astype(np.int64) - 1
    resting = float(newton_block.is_worthwhile(state.block.totals))
    found = []
    if not is_of_two(state):
        by_place, constant = discriminant.weights_of(state.discriminant)
    for c in range(state.block.weights.shape[1]):
        second = np.zeros(len(state.places))
        second[members] = resting * state.block.weights[places, c]
        if is_of_two(state):
            parts = [state.table[slots, WEIGHT + e] for e in range(4)] + [state.table[slots, MEAN], second[slots]]
            weights = np.stack(parts, axis=1, dtype=float)
            return [np.zeros_like(weights), weights]
        first, third = several_classes.WEIGHTS, np.zeros(len(state.places))
        third[members] = resting * by_place[places, c]
        third[0] = resting * constant[c]
        parts = [*(state.table[slots, e, c] for e in first), second[slots], third[slots]]
        found.append(np.stack(parts, axis=1, dtype=float))
    return found


def _filled(larger: Any, state: Any) -> Any:
    """`larger` with the content of `state` at the beginning of its arrays."""
    for new, old in zip(larger, state, strict=True):
        if isinstance(old, tuple):
            _filled(new, old)
        else:
            here = tuple(slice(min(sizes)) for sizes in zip(old.shape, new.shape, strict=True))  # cells may be fewer
            new[here] = old[here]
    return larger


def _parted(state: TwoClasses, budget: float) -> SeveralClasses:
    """Two classes as the first two of several: half a margin for the one, half against the other."""
    found = allocate(several_classes.layout(len(state.table), 2, budget))
    pairs = ((found.features, state.features), (found.block, state.block), (found.effects, state.effects))
    for mine, old in (*pairs, (found.effects.pool, state.effects.pool), (found.effects.pairs, state.effects.pairs)):
        for name in set(mine._fields) - {"weights", "shares", "cells", "pool", "pairs", "slopes", "squares"}:
            getattr(mine, name)[...] = getattr(old, name)
    for mine, old in ((found.effects.pool, state.effects.pool), (found.scale, state.scale)):
        mine.weights[:] = old.weights
    found.scale.curvature[:] = state.scale.curvature
    found.places[:] = state.places
    cells = state.effects.cells[: len(found.effects.cells)]
    found.effects.cells[: len(cells), 0] = cells[:, 0] * np.array([-0.5, 0.5], np.float32)
    found.effects.cells[: len(cells), 1] = cells[:, 1]
    roots = state.table[:, [ROOT, ROOT + 2, ROOT + 3]].astype(float)
    squares = np.divide(1.0, roots**2, out=np.zeros(roots.shape), where=roots > 0.0)
    for c, sign in ((0, -1.0), (1, 1.0)):
        found.table[:, several_classes.SOFTMAX, c] = 0.5 * sign * state.table[:, WEIGHT]
        found.table[:, several_classes.HINGE, c] = sign * state.table[:, WEIGHT + 2]
        found.table[:, several_classes.BOLD, c] = 0.5 * sign * state.table[:, WEIGHT + 3]
        found.table[:, several_classes.BOLD_SQUARES, c] = squares[:, 2]
        found.table[:, several_classes.MEAN, c] = 0.5 * sign * state.table[:, MEAN]
        found.table[:, several_classes.SOFTMAX_SQUARES, c] = squares[:, 0]
        found.table[:, several_classes.HINGE_SQUARES, c] = squares[:, 1]
        found.table[:, several_classes.VARIANCE, c] = 0.5 * state.table[:, VARIANCE]
        found.block.weights[:, c] = 0.5 * sign * state.block.weights[:, 0]
    found.block.shares[:] = 0.5 * max(state.block.totals[newton_block.CURVATURE], 1.0)
    return found


def _begin_late(state: SeveralClasses, known: int) -> None:
    """Let classes from the number `known` on start below the others, as they have not been seen so far."""
    if state.features.totals[standardisation.SEEN] > 0.0:
        for e in several_classes.WEIGHTS:
            state.table[0, e, known:] = -LATE


def gains(base: Any, state: Any, settings: Settings) -> Any:
    """What a worker has learnt beyond its base; see `class_gains`."""
    return class_gains.gains(base, state)


def onto(base: Any, gains: Any, settings: Settings) -> Any:
    """The state of a base and of what workers have learnt beyond it."""
    return class_gains.onto(base, gains)
