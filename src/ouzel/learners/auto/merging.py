"""One state of the default's classes of several workers'."""

from __future__ import annotations

from typing import Any

import numpy as np

from ouzel.learners.auto import mixing, moments, newton_block, several_classes, sharing, standardisation
from ouzel.learners.auto.standardisation import NORMS, SEEN, Features
from ouzel.learners.auto.two_classes import MEAN, PRIOR, ROOT, VARIANCE, WEIGHT, TwoClasses


def merge(states: list[Any]) -> Any:
    """The state of all workers' examples (`classification.merge`)."""
    seen = np.array([state.features.totals[SEEN] for state in states])
    share = seen / seen.sum() if seen.any() else np.full(len(seen), 1.0 / len(seen))
    features = moments.merged([state.features for state in states])
    two = isinstance(states[0], TwoClasses)
    states = [in_units_of(features, state, _columns(two)[0]) for state in states]
    table = np.tensordot(share, np.stack([state.table for state in states]), 1).astype(np.float32)
    _add_sums(table, states, features, two)
    block, place = merged_blocks(states, features, share, newton_block.PRIOR)
    mixture = mixing.merged([state.mixture for state in states], share)
    shares = sharing.merged([state.shares for state in states], share)
    parts = {
        "features": features,
        "table": table,
        "places": place,
        "block": block,
        "mixture": mixture,
        "shares": shares,
    }
    return states[0]._replace(**parts)


def merged_blocks(states: list[Any], features: Features, share: np.ndarray, variance: float) -> tuple[Any, np.ndarray]:
    """The block of all workers' members, and the places of its members."""
    places = [state.places for state in states]
    counts = features.moments[:, standardisation.COUNT]
    block = newton_block.merged([state.block for state in states], places, counts, share, variance)
    place = np.zeros_like(places[0])
    members = int(block.totals[newton_block.MEMBERS])
    place[block.slots[:members]] = np.arange(1, members + 1)
    return block, place


def _columns(two: bool) -> tuple[list[int], list[int]]:
    """Where weights and where sums of squares are in the table."""
    if two:
        return [*range(WEIGHT, WEIGHT + 4), MEAN], [*range(ROOT, ROOT + 4)]
    return [*several_classes.WEIGHTS], [*several_classes.SQUARES]


def in_units_of(features: Features, state: Any, columns: list[int] | slice) -> Any:
    """A copy of a worker's state whose weights mean the same to raw features in the units of other moments.

    Those of rare features are the largest |x| (`standardisation.units`).
    """
    old, old_shift = standardisation.units(state.features)
    new, new_shift = standardisation.units(features)
    factor = np.divide(old, new, out=np.zeros(len(old)), where=new > 0.0)
    part = factor * new_shift - old_shift  # what the constant takes of a weight
    factor[0], part[0] = 1.0, 0.0
    table = state.table.astype(float)
    block = type(state.block)(*(array.copy() for array in state.block))
    members = np.flatnonzero(state.places)
    places = state.places[members].astype(np.int64) - 1
    if state.places[0]:
        block.weights[state.places[0] - 1] += part[members] @ block.weights[places]
    block.weights[places] *= factor[members, None]
    taken = np.tensordot(part, table[:, columns], 1)
    table[:, columns] *= factor.reshape(-1, *(1,) * (table.ndim - 1))
    table[0, columns] += taken
    return state._replace(table=table, block=block)


def _add_sums(table: np.ndarray, states: list[Any], features: Features, two: bool) -> None:
    """Add up sums of squares, and what AROW's precisions have above their priors."""
    column = VARIANCE if two else several_classes.VARIANCE
    sums = _columns(two)[1]
    squares = np.sum([_squares(state.table[:, sums], two) for state in states], axis=0)
    if two:
        squares = np.divide(1.0, np.sqrt(squares), out=np.zeros(squares.shape), where=squares > 0.0)
    table[:, sums] = squares
    prior = prior_variance(features)
    gained, touched = np.zeros(table[:, column].shape), np.zeros(table[:, column].shape, bool)
    for state in states:
        variance = state.table[:, column]
        known = variance > 0.0
        touched |= known
        mine = np.divide(1.0, variance, out=np.zeros(variance.shape), where=known)
        gained += np.where(known, np.maximum(mine - 1.0 / prior_variance(state.features), 0.0), 0.0)
    table[:, column] = np.where(touched, 1.0 / (1.0 / prior + gained), 0.0)


def prior_variance(features: Features) -> float:
    """AROW's, of the weights of features whose moments are these."""
    return float(PRIOR * max(features.totals[SEEN], 1.0) / max(features.totals[NORMS], 1.0))


def _squares(sums: np.ndarray, two: bool) -> np.ndarray:
    """Sums of squares, of the inverses of whose roots the table of two classes is."""
    if not two:
        return sums
    return np.divide(1.0, sums**2, out=np.zeros(sums.shape), where=sums > 0.0)
