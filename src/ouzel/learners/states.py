"""What is done to whole states, alike for many learners."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

import numpy as np

from ouzel.layout import copied


def negating(*names: str) -> Callable[[Any], Any]:
    """`swap_classes` of a learner whose arrays of these names change their sign with the classes, and no others do."""

    def swap_classes(state: Any) -> Any:
        """The state that exchanged classes would have led to."""
        copy = copied(state)
        for array in map(attrgetter, names):
            np.negative(array(copy), out=array(copy))
        return copy

    return swap_classes


def negating_first(name: str) -> Callable[[Any], Any]:
    """`swap_classes` of a learner that keeps what changes its sign with the classes in the first column of a table."""

    def swap_classes(state: Any) -> Any:
        """The state that exchanged classes would have led to."""
        copy = copied(state)
        getattr(copy, name)[:, 0] *= -1.0
        return copy

    return swap_classes


def added(states: list[Any], settings: Any) -> Any:
    """`merge` of a learner whose state is sums over the examples: that of one pass over all the workers' gradients."""
    return type(states[0])(*(np.sum(arrays, axis=0) for arrays in zip(*states, strict=True)))


def with_places_moved(state: Any, places: np.ndarray) -> Any:
    """`renumber` of a learner whose `place` says where what it knows of a slot lies."""
    place = np.empty_like(state.place)
    place[places] = state.place
    return state._replace(place=place)


def place_all(merged: Any, states: list[Any]) -> np.ndarray:
    """Give a merged state a place for each slot that has one in any worker's; those slots (n,), in order."""
    placed = np.flatnonzero(np.any([state.place > 0 for state in states], axis=0))
    merged.place[placed] = np.arange(1, len(placed) + 1)
    return placed
