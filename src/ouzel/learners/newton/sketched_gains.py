"""What workers of sketched online Newton have learnt beyond a base (see `learners.gains`).

Weights, as they multiply the features' own values, move by the mean of the workers', each by the growth of the slot's
sum of squared gradients D where that has grown, and by examples elsewhere: a step moves weights along directions, of
slots that the example has not. D adds up, the largest sizes are those of any worker. Directions are those of the worker
that has learnt most, which began from the base's; what they stand for grows by what all workers have added.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ouzel.layout import copied
from ouzel.learners.gains.narrowing import Narrowing
from ouzel.learners.gains.parts import First, Gains, Rows, dense, peaks_of, rows_of
from ouzel.learners.newton.scaled_features import first_scale, is_normalised, level
from ouzel.sketches.spectral.protocol import settled
from ouzel.terms.starts import GIVEN


def scales_of(state: Any, settings: Any) -> np.ndarray:
    """What a value of each slot is multiplied by."""
    found: np.ndarray = state.sketch.table[:, 1] * (level(state.lengths) if is_normalised(settings) else 1.0)
    return found


def have_weights(sketch: Any, state: Any, weights: np.ndarray, settings: Any) -> None:
    """Let a settled state have these weights (d,) of slots that it has seen."""
    own, scales = state.sketch, scales_of(state, settings)
    wanted = np.divide(weights, scales, where=scales > 0.0, out=np.zeros_like(weights))
    if hasattr(sketch, "hold"):
        sketch.hold(own, wanted)
    else:
        own.table[:, 0] += wanted - own.table @ own.coefficients


def _list(merged: Any, slots: np.ndarray, scales: np.ndarray, largest: np.ndarray, welcome: Any) -> None:
    """Have a merged state know slots that are new to it, by scales (d,) and largest sizes (d,)."""
    if len(slots) > 0:
        welcome(merged.sketch, slots, np.ones(len(slots)), 1.0)
        merged.sketch.table[slots, 1] = scales[slots]
        if len(merged.largest) > 0:
            merged.largest[slots] = largest[slots]


def _squares(state: Any, settings: Any) -> np.ndarray:
    """D (d,) of slots seen, without that of before the first gradient; 0 of others."""
    scale = state.sketch.table[:, 1]
    seen = scale > 0.0
    if not settings.diagonal:
        return np.zeros(len(scale))
    unit = scale * state.largest if is_normalised(settings) else scale
    power = -4.0 if is_normalised(settings) else -2.0
    found = np.power(unit, power, out=np.zeros(len(scale)), where=seen & (unit > 0.0))
    return np.maximum(found - settings.first_square, 0.0) * seen


def _mass(sketch: Any, state: Any) -> float:
    """What the sketch stands for, summed over its directions."""
    return float(sketch.eigenvalues(state.sketch).sum() * max(state.sketch.counts[0], 1.0))


def _met(base: Any, state: Any) -> np.ndarray:
    own = (each.sketch for each in (base, state))
    if base.sketch._asdict().get("start", (None,))[0] == GIVEN:
        return np.arange(len(base.sketch.table))  # directions begin with slots by their numbers
    return np.unique(np.concatenate([each.touched[: int(each.counts[1])] for each in own])).astype(np.int64)


def _lists(sketch: Any) -> dict[str, np.ndarray]:
    """The arrays of a sketch that list slots."""
    return {name: part for name, part in sketch._asdict().items() if part.dtype == np.uint32}


def _narrowed(state: Any, slots: np.ndarray) -> Any:
    own = state.sketch
    lists = {name: np.searchsorted(slots, part[: len(slots)]).astype(part.dtype) for name, part in _lists(own).items()}
    largest = state.largest[slots] if len(state.largest) else state.largest
    return state._replace(sketch=own._replace(table=own.table[slots], **lists), largest=largest)


def _widened(base: Any, narrow: Any, slots: np.ndarray) -> Any:
    lists = {name: part.copy() for name, part in _lists(base.sketch).items()}
    for name, part in lists.items():
        part[: len(slots)] = slots[getattr(narrow.sketch, name)]
    table, largest = base.sketch.table.copy(), base.largest.copy()
    table[slots] = narrow.sketch.table
    if len(largest):
        largest[slots] = narrow.largest
    return narrow._replace(sketch=narrow.sketch._replace(table=table, **lists), largest=largest)


MET = Narrowing(_met, _narrowed, _widened)


def _by_slot(own: Any) -> Any:
    """A settled sketch whose table and list of slots seen are rows by slot; it has no other lists, nor epochs."""
    seen = own.touched[: int(own.counts[1])].astype(np.int64)
    order = np.argsort(seen)
    idle = dict.fromkeys([*_lists(own), *({"turns"} & set(own._fields))])
    rows = {"table": Rows(seen[order], own.table[seen[order]]), "touched": Rows(seen[order], order)}
    return own._replace(**idle | rows)


def _of_slots(rows: Any, base: Any) -> Any:
    """The sketch that `_by_slot` is of, with as many slots as a base."""
    idle = {name: np.zeros_like(getattr(base, name)) for name, part in rows._asdict().items() if part is None}
    touched = np.zeros_like(base.touched)
    touched[rows.touched.values] = rows.touched.places
    return rows._replace(table=dense(rows.table, len(base.table)), touched=touched, **idle)


def gains(sketch: Any, base: Any, state: Any, before: np.ndarray, after: np.ndarray, settings: Any) -> Gains:
    """What a worker has learnt beyond its base, of weights (d,) before and after."""
    examples = float(state.sketch.counts[0] - base.sketch.counts[0])
    growth = np.maximum(_squares(state, settings) - _squares(base, settings), 0.0)
    moved = after - before
    return {
        "moved": rows_of(np.column_stack([growth, growth * moved, examples * moved])),
        "seen": peaks_of((state.sketch.table[:, 1] > 0.0).astype(np.uint8)),
        "largest": peaks_of(state.largest),
        "examples": np.array([examples]),
        "mass": np.array([_mass(sketch, state) - _mass(sketch, base)]),
        "lengths": state.lengths - base.lengths,
        "sketch": First(examples, _by_slot(settled(sketch, state.sketch))),
    }


def onto(sketch: Any, base: Any, gains: Gains, before: np.ndarray, settings: Any) -> Any:
    """The state of a base of weights `before` (d,) and of what workers have learnt beyond it."""
    if not gains["examples"][0]:
        return base._replace(sketch=settled(sketch, base.sketch))
    lead = base._replace(sketch=copied(_of_slots(gains["sketch"].content, base.sketch)))
    largest = np.maximum(base.largest, dense(gains["largest"], len(base.largest))[:, 0])
    merged = lead._replace(largest=largest, lengths=base.lengths + gains["lengths"])
    own, moved = merged.sketch, dense(gains["moved"], len(before))
    seen = (dense(gains["seen"], len(before))[:, 0] > 0) | (base.sketch.table[:, 1] > 0.0)
    scales = np.full(len(seen), first_scale(settings))
    if settings.diagonal:
        squares = settings.first_square + _squares(base, settings) + moved[:, 0]
        scales = squares ** (-0.25 if is_normalised(settings) else -0.5)
    if is_normalised(settings):
        scales = np.divide(scales, largest, out=scales, where=largest > 0.0)
    _list(merged, np.flatnonzero(seen & (own.table[:, 1] == 0.0)).astype(np.uint32), scales, largest, sketch.welcome)
    factor = (_mass(sketch, base) + gains["mass"][0]) / max(_mass(sketch, lead), 1e-300)
    sketch.extrapolate(own, max(factor, 0.0))
    own.table[seen, 1] = scales[seen]
    own.counts[0] = base.sketch.counts[0] + gains["examples"][0]
    mean = moved[:, 2] / gains["examples"][0]
    np.divide(moved[:, 1], moved[:, 0], out=mean, where=moved[:, 0] > 0.0)
    have_weights(sketch, merged, before + mean, settings)
    return merged
