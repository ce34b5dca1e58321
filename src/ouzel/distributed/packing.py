"""Compact serialisation of models, without what a fresh state has anyway and rows that were not touched.

So tables of hash functions, which follow from the seed, and the empty parts of large tables are made again on arrival.
"""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np

from ouzel.layout import allocate, flat
from ouzel.learners.gains.parts import Rows
from ouzel.model.changed_rows import changed_rows
from ouzel.model.model import Model

PROTOCOL = 5


def packed(model: Model) -> bytes:
    """Serialise a model."""
    bare = copy.copy(model)
    bare.states, bare.preparation = [], model.preparation.emptied()
    parts = [*model.states, *model.preparation.arrays().values()]
    arrays = [_differences(fresh, part) for fresh, part in zip(_fresh(model), parts, strict=True)]
    return pickle.dumps((bare, arrays), protocol=PROTOCOL)


def unpacked(data: bytes) -> Model:
    """Deserialise a model; its arrays are its own and writable."""
    model: Model
    model, arrays = pickle.loads(data)
    parts = _fresh(model)
    for part, changed in zip(parts, arrays, strict=True):
        for (_, array), difference in zip(flat(part), changed, strict=True):
            if isinstance(difference, Rows):
                array[difference.places] = difference.values
            elif difference is not None:
                array[...] = difference
    count = model.task.count(model.classes)
    model.take(parts[:count])
    model.preparation.take(dict(zip(model.preparation.layouts(model.capacity), parts[count:], strict=True)))
    return model


def _fresh(model: Model) -> list[Any]:
    """Return fresh states of the model's shape, followed by the moments of features."""
    shape = model.task.shape(model, len(model.classes))
    states = [
        model.module.init(*shape, model.preparation.sized(model.settings))
        for _ in range(model.task.count(model.classes))
    ]
    return states + [allocate(layout) for layout in model.preparation.layouts(model.capacity).values()]


def _differences(fresh: Any, state: Any) -> list[Any]:
    """Return the difference of each array from a fresh one: None, rows, or all of it."""
    return [_difference(old, new) for (_, old), (_, new) in zip(flat(fresh), flat(state), strict=True)]


def _difference(old: np.ndarray, new: np.ndarray) -> Any:
    """Return the difference of two arrays: None, the rows that changed, or all of the new one."""
    if not new.size:
        return None
    places = changed_rows(np.atleast_1d(new), np.atleast_1d(old))
    if places is None:
        return np.ascontiguousarray(new)
    return Rows(places, new[places]) if len(places) else None
