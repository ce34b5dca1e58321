"""Quantiles of all numbers so far, in fixed memory: a histogram whose bins are made of the numbers themselves.

Ben-Haim & Tom-Tov (2010), "A Streaming Parallel Decision Tree Algorithm", JMLR 11, keep so many centres with their
masses, and merge the nearest two for each new one. Here a full table is merged to half of it at once: neighbours become
their mean while both have 4 / BINS of the mass at most. So a bin is off by that in rank; a number as frequent as that
has a bin of its own, and stays what it is: where most numbers are 0, the median is 0. Up to BINS - 1 different numbers
the quantiles are exact: the smallest number of which, with all below it, there are more than tau of the mass; its mean
with the next one where there are just tau.
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

import numpy as np

from ouzel.kernels.jit import inline_source, kernel
from ouzel.layout import allocate, float64, int64, require

BINS = 256
COARSE = 4.0 / BINS  # of the mass, in bins that are merged


class State(NamedTuple):
    centres: np.ndarray  # (BINS,) float64, rising
    masses: np.ndarray  # (BINS,) float64, 0 behind the bins in use
    total: np.ndarray  # (1,) float64  the mass of all
    used: np.ndarray  # (1,) int64  bins in use


def layout() -> State:
    """What a histogram without numbers is made of."""
    return State(float64(BINS), float64(BINS, least=0.0), float64(1, least=0.0), int64(1, most=BINS - 1))


def check(state: State) -> None:
    """Refuse centres out of order."""
    used = int(state.used[0])
    require((np.diff(state.centres[:used]) > 0.0).all(), "centres of a histogram are out of order")
    require(not state.masses[used:].any(), "a histogram has mass behind its bins")


@inline_source
def learn(state, number, mass):
    """Count a number with a mass above 0."""
    centres, masses, used = state.centres, state.masses, state.used[0]
    low, high = 0, used
    while low < high:
        middle = (low + high) // 2
        if centres[middle] < number:
            low = middle + 1
        else:
            high = middle
    state.total[0] += mass
    if low < used and centres[low] == number:
        masses[low] += mass
    else:
        for k in range(used, low, -1):
            centres[k], masses[k] = centres[k - 1], masses[k - 1]
        centres[low], masses[low] = number, mass
        if used + 1 == len(centres):
            state.used[0] = coarsen(centres, masses, used + 1, COARSE * state.total[0])
        else:
            state.used[0] = used + 1


@kernel
def coarsen(centres, masses, used, most):
    """Merge the first `used` bins, neighbours of a mass of `most` at most together; return how many are left."""
    kept = 0
    for k in range(used):
        together = masses[kept - 1] + masses[k] if kept else inf
        if together <= most:
            share = masses[k] / together if together > 0.0 else 1.0
            mean = centres[kept - 1] * (1.0 - share) + centres[k] * share
            centres[kept - 1] = min(max(mean, centres[kept - 1]), centres[k])  # rounding keeps their order
            masses[kept - 1] = together
        else:
            centres[kept], masses[kept] = centres[k], masses[k]
            kept += 1
    centres[kept:used] = 0.0
    masses[kept:used] = 0.0
    return kept


@inline_source
def quantile(state, tau):
    """The tau-quantile; 0 before any number."""
    used, reach = state.used[0], tau * state.total[0]
    below, found = 0.0, 0.0
    for k in range(used):
        found = state.centres[k]
        below += state.masses[k]
        if below >= reach:
            if below == reach and k + 1 < used:
                found = 0.5 * found + 0.5 * state.centres[k + 1]
            break
    return found


def fade(state: State, kept: float) -> None:
    """Let past numbers count for a part of what they did."""
    state.masses[...] *= kept
    state.total[...] *= kept


def of_masses(centres: np.ndarray, masses: np.ndarray) -> State:
    """The histogram of numbers (n,), rising, with masses (n,) above 0."""
    used, total = len(centres), float(masses.sum())
    centres, masses = centres.copy(), masses.copy()
    if used >= BINS:
        used = coarsen(centres, masses, used, COARSE * total)
    found: State = allocate(layout())
    found.centres[:used], found.masses[:used] = centres[:used], masses[:used]
    found.total[0], found.used[0] = total, used
    return found
