"""States of the default, and moments, of some of their slots (see `learners.gains.narrowing`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ouzel.layout import copied
from ouzel.learners.auto.standardisation import Features
from ouzel.learners.gains.narrowing import Narrowing
from ouzel.learners.gains.parts import places_of


def _met(base: Any, state: Any) -> np.ndarray:
    known = [places_of(_features(each).moments != 0.0) for each in (base, state)]
    return np.unique(np.concatenate([[0], *known]))


def _features(state: Any) -> Features:
    found: Features = state if isinstance(state, Features) else state.features
    return found


def _narrowed(state: Any, slots: np.ndarray) -> Any:
    if isinstance(state, Features):
        dense = np.searchsorted(slots, state.dense[: len(slots)])
        return state._replace(
            moments=state.moments[slots], dense=dense.astype(state.dense.dtype), window=state.window[slots]
        )
    members = np.searchsorted(slots, state.block.slots)
    if "effects" in state._fields:
        columns = np.searchsorted(slots, state.effects.columns).astype(state.effects.columns.dtype)
        narrow = state.effects._replace(columns=columns, column_of=state.effects.column_of[slots])
        state = state._replace(effects=narrow)
    return state._replace(
        features=_narrowed(state.features, slots),
        table=state.table[slots],
        places=state.places[slots],
        block=state.block._replace(slots=members.astype(state.block.slots.dtype)),
    )


def _widened(base: Any, narrow: Any, slots: np.ndarray) -> Any:
    if isinstance(base, Features):
        whole = copied(base)._replace(totals=narrow.totals)
        whole.moments[slots], whole.dense[: len(slots)] = narrow.moments, slots[narrow.dense]
        whole.window[slots] = narrow.window
        return whole
    whole = narrow._replace(
        features=_widened(base.features, narrow.features, slots),
        table=base.table.copy(),
        places=base.places.copy(),
        block=narrow.block._replace(slots=slots[narrow.block.slots].astype(base.block.slots.dtype)),
    )
    whole.table[slots], whole.places[slots] = narrow.table, narrow.places
    if "effects" in base._fields:
        column_of = np.zeros_like(base.effects.column_of)
        column_of[slots] = narrow.effects.column_of
        columns = slots[narrow.effects.columns].astype(base.effects.columns.dtype)
        whole = whole._replace(effects=narrow.effects._replace(columns=columns, column_of=column_of))
    return whole


MET = Narrowing(_met, _narrowed, _widened)
