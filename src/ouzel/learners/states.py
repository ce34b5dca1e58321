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


def with_places_moved(state: Any, places: np.ndarray) -> Any:
    """`renumber` of a learner whose `place` says where what it knows of a slot lies."""
    place = np.empty_like(state.place)
    place[places] = state.place
    return state._replace(place=place)
