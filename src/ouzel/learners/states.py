"""What is done to whole states, alike for many learners."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def negating(*names: str) -> Callable[[Any], Any]:
    """`swap_classes` of a learner whose arrays of these names change their sign with the classes, and no others do."""

    def swap_classes(state: Any) -> Any:
        """The state that exchanged classes would have led to."""
        copies = type(state)(*(array.copy() for array in state))
        return copies._replace(**{name: -getattr(copies, name) for name in names})

    return swap_classes
