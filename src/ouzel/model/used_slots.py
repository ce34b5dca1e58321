"""Forgetting at the cost of the slots that examples have used, and not of all that names are hashed into.

Learners forget by rows: what they do to the row of a slot depends on that row, and on numbers of the whole state. A
slot that no example has used keeps the row that it has at first, which forgetting leaves as it is. So a state of the
used rows alone forgets, and these rows are written back: each has the bits that it would have in the whole state.
"""

from __future__ import annotations

import weakref
from operator import attrgetter
from typing import Any

import numpy as np

from ouzel.layout import Array, flat
from ouzel.model.changed_rows import changed_rows, common_row, first_row


class UsedSlots:
    """The slots that examples of a model have used, as far as its arrays are still those that they were noted for."""

    def __init__(self) -> None:
        self._by_slot: list[tuple[str, ...]] = []  # of each state the arrays with one row a slot
        self._arrays: list[weakref.ref[np.ndarray]] = []  # these arrays
        self._used = np.zeros(0, bool)
        self._noted: list[np.ndarray] = []  # slots, since the model last forgot

    def note(self, model: Any, slots: np.ndarray, fade: bool) -> None:
        """Note that examples which a model has learnt use slots; with `fade` have it forget."""
        self._noted.append(slots.copy())
        if fade:
            self.fade(model)

    def fade(self, model: Any) -> None:
        """Have a model forget a part of what it has learnt."""
        self._follow(model)
        for noted in self._noted:
            self._used[noted[noted < len(self._used)]] = True
        self._noted.clear()
        slots = np.flatnonzero(self._used)
        if 2 * len(slots) > len(self._used):
            model.preparation.fade(model.module, model.states, model.settings)
            return
        states = _states_of(model)
        parts = [_rows_of(state, names, slots) for state, names in zip(states, self._by_slot, strict=True)]
        preparation = model.preparation.emptied()
        preparation.columns = model.preparation.columns
        preparation.features = parts[-1] if len(parts) > len(model.states) else None
        preparation.fade(model.module, parts[: len(model.states)], model.settings)
        for state, names, part in zip(states, self._by_slot, parts, strict=True):
            for array, rows in zip(_named(state, names), _named(part, names), strict=True):
                array[slots] = rows

    def _follow(self, model: Any) -> None:
        """Look for used slots anew where the model's arrays are others than before: it grew, was loaded, or merged."""
        states = _states_of(model)
        if len(states) == len(self._by_slot):
            arrays = [array for pair in zip(states, self._by_slot, strict=True) for array in _named(*pair)]
            if all(known() is array for known, array in zip(self._arrays, arrays, strict=True)):
                return
        layouts, doubled = (_layouts_of(model, slots) for slots in (model.capacity, 2 * model.capacity))
        self._by_slot = [arrays_by_slot(*pair) for pair in zip(layouts, doubled, strict=True)]
        self._arrays, self._used = [], np.zeros(model.capacity, bool)
        for state, layout, names in zip(states, layouts, self._by_slot, strict=True):
            for array, part in zip(_named(state, names), _named(layout, names), strict=True):
                self._arrays.append(weakref.ref(array))
                self._used |= _is_changed(array, part)


def _states_of(model: Any) -> list[Any]:
    """The states of a model, and after them the moments by which features are standardised, if any."""
    return [*model.states, *([] if model.preparation.features is None else [model.preparation.features])]


def _layouts_of(model: Any, slots: int) -> list[Any]:
    """What these are made of with so many slots."""
    shape = slots, *model.task.shape(model)[1:]
    layouts = [model.module.layout(*shape, model.preparation.sized(model.settings))] * len(model.states)
    return layouts + [part for name, part in model.preparation.layouts(slots).items() if name == "features"]


def arrays_by_slot(layout: Any, doubled: Any) -> tuple[str, ...]:
    """Names of the arrays with one row a slot, of the layouts for some slots and twice as many.

    None where other arrays depend on the number of slots: then the whole state forgets.
    """
    names, rows = [], max((part.shape[0] for _, part in flat(layout) if part.shape), default=0)
    for (name, part), (_, larger) in zip(flat(layout), flat(doubled), strict=True):
        if part.shape != larger.shape:
            if part.shape[0] != rows or (2 * rows, *part.shape[1:]) != larger.shape:
                return ()
            names.append(name)
    return tuple(names)


def _named(state: Any, names: tuple[str, ...]) -> list[Any]:
    """The arrays of a state with such names."""
    return [attrgetter(name)(state) for name in names]


def _rows_of(state: Any, names: tuple[str, ...], slots: np.ndarray, prefix: str = "") -> Any:
    """The state whose named arrays have the rows of `slots` alone; it shares the others."""
    parts: list[Any] = []
    for field, part in state._asdict().items():
        if not isinstance(part, np.ndarray):
            part = _rows_of(part, names, slots, f"{prefix}{field}.")
        elif prefix + field in names:
            part = part[slots]
        parts.append(part)
    return type(state)(*parts)


def _is_changed(array: np.ndarray, part: Array) -> np.ndarray:
    """Whether each row (n,) of an array is unlike the most frequent one; all of them where none is frequent."""
    first = first_row(part)
    like = None if first is None else common_row(array, first)
    rows = None if like is None else changed_rows(array, like)
    found = np.full(len(array), rows is None)
    found[[] if rows is None else rows] = True
    return found
