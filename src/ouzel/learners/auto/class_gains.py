"""What workers of the default have learnt of classes beyond a base: of two or of several (see `auto.gains`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ouzel.layout import copied
from ouzel.learners.auto import (
    discriminant,
    effect_gains,
    moments,
    newton_block,
    several_classes,
    standardisation,
    two_classes,
)
from ouzel.learners.auto import gains as parts
from ouzel.learners.auto.narrowing import MET
from ouzel.learners.auto.standardisation import SEEN
from ouzel.learners.gains.narrowing import PAIR
from ouzel.learners.gains.parts import Gains, Peak, Rows

OF_TWO = [*range(two_classes.WEIGHT, two_classes.WEIGHT + 4), two_classes.MEAN]
ROOTS = [*range(two_classes.ROOT, two_classes.ROOT + 4)]
OF_SEVERAL = [*several_classes.WEIGHTS]
ALMOST = 0.999  # of the prior's precision, so that all who know a feature count for something
SQUARES = [*several_classes.SQUARES]


def _linear(state: Any) -> parts.Linear:
    """The models of the first order; AROW's last."""
    table = state.table.astype(np.float64)
    if two_classes.is_of_two(state):
        table = table[:, :, None]
        weights, roots, variance = table[:, OF_TWO], table[:, ROOTS], table[:, two_classes.VARIANCE]
        squares = np.divide(1.0, roots**2, out=np.zeros(roots.shape), where=roots > 0.0)
    else:
        weights, squares, variance = table[:, OF_SEVERAL], table[:, SQUARES], table[:, several_classes.VARIANCE]
    precision = np.divide(1.0, variance, out=np.zeros(variance.shape), where=variance > 0.0)
    return parts.Linear(state.features, weights, np.concatenate([squares, precision[:, None]], axis=1), 0.0)


def _weighing(state: Any) -> list[str]:
    """The parts of a state that weigh models or scale their margins, averaged by examples."""
    return [name for name in ("mixture", "shares", "scale") if name in state._fields]


def _with_prior(base: parts.Linear, features: Any, others: np.ndarray) -> parts.Linear:
    """A base that has the prior's precision, of features whose moments are these, where others began from that.

    That is where `others` (d, K) have a precision and the base has none, or had more before its feature turned. Others
    that began when the prior's was smaller may have less: what they have learnt counts, too.
    """
    squares, prior = base.squares.copy(), ALMOST / two_classes.prior_variance(features)
    began = (others > 0.0) & ((squares[:, -1] == 0.0) | (squares[:, -1] > others))
    squares[:, -1] = np.where(began, np.minimum(prior, ALMOST * others), squares[:, -1])
    return base._replace(squares=squares)


@MET.gains
def gains(base: Any, state: Any) -> Gains:
    """What a worker has learnt beyond its base."""
    examples = float(state.features.totals[SEEN] - base.features.totals[SEEN])
    after = _linear(state)
    before = _with_prior(_linear(base), state.features, after.squares[:, -1])
    return {
        "examples": examples,
        "features": moments.gains(base.features, state.features),
        **parts.gains_of_linear(before, after),
        "block": parts.gains_of_block(base, state, examples, 0.0),
        **_gains_of_discriminant(base, state, examples),
        **{name: parts.gains_of_mixture(getattr(state, name), examples) for name in _weighing(state)},
        **({"counts": state.counts - base.counts} if isinstance(base, two_classes.TwoClasses) else {}),
        **effect_gains.gains(base, state, examples),
    }


@MET.onto
def onto(base: Any, gains: Gains) -> Any:
    """The state of a base and of what workers have learnt beyond it."""
    examples = gains["examples"]
    if not examples > 0.0:
        return copied(base)
    features = moments.onto(base.features, gains["features"])
    linear = _linear(base)
    weights, growth = parts.linear_onto(linear, features, gains, 0.0)
    known = _with_prior(linear, features, np.where(growth[:, -1] > 0.0, np.inf, 0.0))
    block, places = parts.block_onto(base, features, gains["block"], examples, newton_block.PRIOR, 0.0)
    return base._replace(
        features=features,
        table=_table(base, weights, known.squares + growth),
        places=places,
        block=block,
        **_discriminant_onto(base, features, block, places, gains, examples),
        **{name: parts.mixture_onto(getattr(base, name), gains[name], examples) for name in _weighing(base)},
        **({"counts": base.counts + gains["counts"]} if isinstance(base, two_classes.TwoClasses) else {}),
        **effect_gains.onto(base, gains, examples),
    )


def _gains_of_discriminant(base: Any, state: Any, examples: float) -> Gains:
    """Counts, sums and products of a worker's discriminant, in the features' own units from the base's means on.

    As of all that forgets, they are means of the workers, by examples; products are those of all values, not of what
    they differ from the means of their classes by, for these do add up.
    """
    if "discriminant" not in state._fields:
        return {}
    found = state.discriminant
    known = state.places > 0
    known[known] = np.diagonal(found.inverse)[state.places[known].astype(np.int64) - 1] > 0.0
    scale, moved = _units(base, state.features)
    slots = np.flatnonzero(known & (scale > 0.0))
    places, scale, moved = state.places[slots].astype(np.int64) - 1, scale[slots], moved[slots]
    means = (found.means[places] + moved[:, None]) / scale[:, None] * (found.counts > 0.0)
    within = parts.inverse_of(found.inverse[np.ix_(places, places)]) - discriminant.PRIOR * np.eye(len(slots))
    products = within / np.outer(scale, scale) + (means * found.counts) @ means.T
    pairs = slots[:, None] * PAIR + slots
    gained = {
        "counts": examples * found.counts,
        "sums": Rows(slots, examples * found.counts * means),
        "products": Rows(pairs.ravel(), examples * products.ravel()),
        "below": Peak(found.below),
    }
    return {"discriminant": gained}


def _discriminant_onto(
    base: Any, features: Any, block: Any, places: np.ndarray, gains: Gains, examples: float
) -> dict[str, Any]:
    """The discriminant of base and workers, as a field of the state."""
    if "discriminant" not in base._fields:
        return {}
    gained, found = gains["discriminant"], copied(base.discriminant)
    slots, sums = gained["sums"]
    scale, moved = _units(base, features)
    chosen = (places[slots] > 0) & (scale[slots] > 0.0)
    slots, sums = slots[chosen], sums[chosen] / examples
    scale, moved = scale[slots], moved[slots]
    found.counts[:], found.below[:] = gained["counts"] / examples, gained["below"].values
    means = np.divide(sums, found.counts, out=np.zeros(sums.shape), where=found.counts > 0.0)
    pairs = (slots[:, None] * PAIR + slots).ravel()
    products = gained["products"].values[np.searchsorted(gained["products"].places, pairs)]
    products = products.reshape(len(slots), len(slots)) / examples
    within = (products - (means * found.counts) @ means.T) * np.outer(scale, scale)
    here = places[slots].astype(np.int64) - 1
    found.means[:], found.inverse[:] = 0.0, 0.0
    most, values, vectors = discriminant.FURTHEST_MEAN, *np.linalg.eigh(within)
    found.means[here] = np.clip(means * scale[:, None] - moved[:, None], -most, most) * (found.counts > 0.0)
    found.inverse[np.ix_(here, here)] = vectors / (np.maximum(values, 0.0) + discriminant.PRIOR) @ vectors.T
    discriminant.refresh(found)
    return {"discriminant": found}


def _units(base: Any, features: Any) -> tuple[np.ndarray, np.ndarray]:
    """a and b (d,) of z = a x - b, for x from the base's means of dense features on."""
    scale, moved = standardisation.units(features)
    return scale, moved - scale * moments.origin_of(base.features)


def _table(base: Any, weights: np.ndarray, squares: np.ndarray) -> np.ndarray:
    """The table of new weights, sums of squares and AROW's precisions, both (d, E, K)."""
    precision = squares[:, -1]
    variance = np.divide(1.0, precision, out=np.zeros(precision.shape), where=precision > 0.0)
    table = base.table.copy()
    if two_classes.is_of_two(base):
        roots = np.divide(1.0, np.sqrt(squares[:, :-1]), out=np.zeros(squares[:, :-1].shape), where=squares[:, :-1] > 0)
        table[:, OF_TWO], table[:, ROOTS] = weights[:, :, 0], roots[:, :, 0]
        table[:, two_classes.VARIANCE] = variance[:, 0]
    else:
        table[:, OF_SEVERAL], table[:, SQUARES] = weights, squares[:, :-1]
        table[:, several_classes.VARIANCE] = variance
    return table
