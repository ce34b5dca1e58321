"""Gains over the slots that are met, which are few beside those of a table that names are hashed into.

States are narrowed to these slots, numbered by their order; what comes of them is numbered as before. A pair of slots
is one number, a * PAIR + b, which is b alone where a is 0: where there are pairs, slot 0 is the first to be met.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ouzel.learners.gains.parts import Best, Gains, Rows, places_of

PAIR = 1 << 32
Function = Callable[..., Any]


class Narrowing(NamedTuple):
    """How states of a kind are narrowed; slots (n,) int64, rising."""

    met: Callable[[Any, Any], np.ndarray]  # slots that gains of one state beyond another follow from
    narrowed: Callable[[Any, np.ndarray], Any]  # a state of some slots
    widened: Callable[[Any, Any, np.ndarray], Any]  # of a base, a narrowed state and its slots: the state it stands for

    def gains(self, gains: Function) -> Function:
        """`gains(base, state, ...)` that is told of narrowed states."""

        @functools.wraps(gains)
        def found(base: Any, state: Any, *rest: Any) -> Gains:
            slots = self.met(base, state)
            narrow = gains(self.narrowed(base, slots), self.narrowed(state, slots), *rest)
            renumbered: Gains = _renumbered(narrow, lambda places: slots[places])
            return renumbered

        return found

    def onto(self, onto: Function) -> Function:
        """`onto(base, gains, ...)` that is told of a narrowed base."""

        @functools.wraps(onto)
        def merged(base: Any, gains: Gains, *rest: Any) -> Any:
            slots = np.unique(np.concatenate([self.met(base, base), *_slots_in(gains)]))
            narrow = _renumbered(gains, lambda places: np.searchsorted(slots, places))
            return self.widened(base, onto(self.narrowed(base, slots), narrow, *rest), slots)

        return merged

    def both(self, gains: Function, onto: Function) -> tuple[Function, Function]:
        """The two of a learner."""
        return self.gains(gains), self.onto(onto)


def slot_by_slot(*tables: str) -> Narrowing:
    """Of learners that learn each slot by itself: of all their arrays, these have a row for each."""

    def met(base: Any, state: Any) -> np.ndarray:
        changed = [places_of(getattr(base, name) != getattr(state, name)) for name in tables]
        return functools.reduce(np.union1d, changed)

    def narrowed(state: Any, slots: np.ndarray) -> Any:
        return state._replace(**{name: getattr(state, name)[slots] for name in tables})

    def widened(base: Any, narrow: Any, slots: np.ndarray) -> Any:
        whole = {name: getattr(base, name).copy() for name in tables}
        for name, table in whole.items():
            table[slots] = getattr(narrow, name)
        return narrow._replace(**whole)

    return Narrowing(met, narrowed, widened)


def _renumbered(gains: Any, number: Callable[[np.ndarray], np.ndarray]) -> Any:
    """Gains whose slots have other numbers, in the same order."""
    if isinstance(gains, (Rows, Best)):
        first, second = np.divmod(gains.places, PAIR)
        return gains._replace(places=number(first) * PAIR + number(second) if first.any() else number(second))
    if isinstance(gains, dict):
        return {name: _renumbered(part, number) for name, part in gains.items()}
    if isinstance(gains, tuple):
        parts = [_renumbered(part, number) for part in gains]
        return type(gains)(*parts) if hasattr(gains, "_fields") else tuple(parts)
    return gains


def _slots_in(gains: Any) -> list[np.ndarray]:
    if isinstance(gains, (Rows, Best)):
        return [*np.divmod(gains.places, PAIR)] if len(gains.places) and gains.places[-1] >= PAIR else [gains.places]
    parts = gains.values() if isinstance(gains, dict) else gains if isinstance(gains, tuple) else ()
    return [slots for part in parts for slots in _slots_in(part)]
