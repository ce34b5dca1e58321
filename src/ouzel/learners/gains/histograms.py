"""Histograms of numbers that workers have seen: masses by centre, which add up."""

from __future__ import annotations

import numpy as np

from ouzel.learners.gains.parts import Rows, add
from ouzel.sketches import running_quantile
from ouzel.sketches.running_quantile import State

SMALLEST = 1e-12  # part of the mass that is rounding


def gains(base: State, state: State) -> Rows:
    """What a worker has counted beyond its base."""
    before = _rows(base)
    return _sum(_rows(state), before._replace(values=-before.values))


def onto(base: State, counted: Rows) -> State:
    """The histogram of a base and of what workers have counted beyond it.

    Where a worker has merged bins of its base with bins of its own, it lacks mass near a place where it has too much:
    the mass up to a centre is that of the centres up to it, and never falls.
    """
    rows = _sum(_rows(base), counted)
    centres = rows.places.view(np.float64)
    order = np.argsort(centres)
    up_to = np.maximum.accumulate(np.maximum(np.cumsum(rows.values[order]), 0.0))
    masses = np.diff(up_to, prepend=0.0)
    filled = masses > SMALLEST * up_to[-1:].sum()
    return running_quantile.of_masses(centres[order][filled], masses[filled])


def _sum(one: Rows, other: Rows) -> Rows:
    found: Rows = add({"": one}, {"": other})[""]
    return found


def _rows(state: State) -> Rows:
    """Masses by centre; the bits of a centre are its place."""
    used = int(state.used[0])
    places = (state.centres[:used] + 0.0).view(np.int64)  # -0 is 0
    order = np.argsort(places)
    return Rows(places[order], state.masses[:used][order])
