"""What learners that keep the weights of some features alone do alike, whatever they keep a feature for.

Their states have a `heap` and a `scale`, and the weights over the scale in `values`, or in the heap where those are
also what the features are kept for.
"""

from __future__ import annotations

from math import inf
from typing import Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline, kernel
from ouzel.layout import copied, float64
from ouzel.learners.budget.decaying_weights import SMALLEST_SCALE
from ouzel.sketches import top_k

SCALE = float64(2, fill=(1.0, 0.0), least=(SMALLEST_SCALE, 0.0), most=(1.0, inf))
"""The global scale, multiplied into the weights where it is small, and t: what `scale` of the states is."""


class State(NamedTuple):
    heap: top_k.State  # slots, and what they are kept for
    values: np.ndarray  # (k,) float32  weights over the scale
    scale: np.ndarray  # (2,) float64  the global scale; t


@force_inline
def value_of(state, entry):
    """The weight of an entry, over the scale, where features are kept for something else."""
    return state.values[entry]


@force_inline
def fold_values(state):
    """Multiply the scale into those weights."""
    for entry in range(len(state.values)):
        state.values[entry] *= np.float32(state.scale[0])
    state.scale[0] = 1.0


@kernel
def entries_for(state, nonzeros):
    """Room to work in for examples of up to so many non-zeros: the entries of their features."""
    return np.empty(nonzeros, np.int64)


def begin(state: Any, settings: Any) -> None:
    """Let whatever comes enter, and let random numbers begin as the seed says."""
    top_k.begin(state.heap)


def check(state: Any, settings: Any) -> None:
    """Refuse features that could not be found."""
    top_k.check(state.heap)


def members(state: Any) -> np.ndarray:
    """Slots that are kept."""
    return top_k.keys(state.heap).astype(np.int64)


def _over_the_scale(state: Any) -> np.ndarray:
    weights: np.ndarray = state.values if hasattr(state, "values") else state.heap.weights
    return weights


def _weights(state: Any) -> np.ndarray:
    return (_over_the_scale(state) * state.scale[0])[: state.heap.taken[0]]


def estimates(state: Any, slots: np.ndarray, settings: Any) -> np.ndarray:
    """Weights of the given slots: 0 for those not kept."""
    kept = dict(zip(members(state).tolist(), _weights(state).tolist(), strict=True))
    return np.array([kept.get(int(slot), 0.0) for slot in slots])


def top(state: Any, n: int, settings: Any) -> tuple[np.ndarray, np.ndarray]:
    """Slots and weights of the n heaviest."""
    weights = _weights(state)
    order = np.lexsort((members(state), -np.abs(weights)))[:n]
    return members(state)[order], weights[order]


def swap_classes(state: Any) -> Any:
    """The state that exchanged classes would have led to."""
    copy = copied(state)
    _over_the_scale(copy)[...] *= -1.0
    return copy


def slots_of_any(states: list[Any]) -> np.ndarray:
    """Slots (n,) uint32 that any of the workers keeps, in rising order."""
    return np.unique(np.concatenate([top_k.keys(state.heap) for state in states]))


ALIKE = check, estimates, members, swap_classes, top
"""What all of these learners do by the functions above."""
