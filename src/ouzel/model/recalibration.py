"""Probabilities that can be taken at their word: a map of a model's probabilities that is learnt as the stream goes.

What is mapped is, of two classes, the probability of the second; of several, that of the class on top, and the others
keep their shares of the rest (Gupta & Ramdas, 2022, "Top-label Calibration and Multiclass-to-binary Reductions",
ICLR). So one map of the log-odds z serves any number of classes. Four maps are mixed:

0. the probability as it was;
1. Platt's σ(a z + b), learnt online (Gupta & Ramdas, 2023, "Online Platt Scaling with Calibeating", ICML): a Newton
   step an example, whose curvature is the larger of p (1 - p) and (p - y)², and fades over a thousand examples;
2. and 3. the first two, calibeaten (Foster & Hart, 2023, "Calibeating: Beating Forecasters at Their Own Game"): moved
   by the mean gap between what came and what was promised in their bin, of some thousand examples.

Each is weighed by its likelihood so far, and 0 has `TRUST` from the beginning. Log loss is mixable: in sum the mixture
is worse than the probability as it was by at most -log(TRUST), .03, and 3 `FLOOR` an example (Cesa-Bianchi & Lugosi,
2006, "Prediction, Learning, and Games", 3.3). The class on top stays on top where there are several; with two the label
is that of the probability. Every probability is given before its label is learnt; examples of importance 0 are not.
"""

from __future__ import annotations

from math import exp, inf, log, log1p
from typing import Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline, kernel
from ouzel.layout import allocate, float64, require

MAPS, PLATT, BINS = 4, 1, 20
KEPT = 1.0 - 1.0 / 1_000  # of the curvature, an example
PRIOR = 1.0  # curvature of a and of b before any example
LEAST, MOST, SHIFT = 1e-3, 20.0, 20.0  # bounds of a, and of |b|
TRUST, FLOOR, TINY, SMALLEST = (
    0.97,
    1e-6,
    1e-15,
    1e-300,
)  # shares of maps: that of no map at first, the least; likelihoods
LASTING, PSEUDO = 1_000.0, 5.0  # examples that a bin remembers, and those without a gap that it begins with
NEAREST = 1e-4  # to 0 and 1, of what bins move
FARTHEST = 34.0  # log-odds that differ from certainty
COUNT, CAME, PROMISED = range(3)  # of bins
TWO, SEVERAL = 1.0, 2.0  # classes that the maps are of


class State(NamedTuple):
    shares: np.ndarray  # (4,) float64  of the maps, whose sum is 1
    platt: np.ndarray  # (5,) float64  a, b; curvature of a twice, of a and b, of b twice
    bins: np.ndarray  # (2, 20, 3) float64  of maps 0 and 1: examples, how many came, and what was promised
    seen: np.ndarray  # (2,) float64  examples, and which classes they were of: 0 none, 1 two, 2 several


def layout() -> State:
    """A `State` of descriptions in place of arrays."""
    return State(
        shares=float64(MAPS, least=0.0, most=1.0),
        platt=float64(5, least=(0.0, -SHIFT, 0.0, -inf, 0.0), most=(MOST, SHIFT, inf, inf, inf)),
        bins=float64(2, BINS, 3, least=0.0),
        seen=float64(2, least=0.0, most=(inf, SEVERAL)),
    )


def init() -> State:
    """A state that has seen nothing."""
    found: State = allocate(layout())
    begin(found, 0.0)
    return found


def check(state: State) -> None:
    """Refuse shares that do not add up, and a curvature of nothing."""
    require(abs(state.shares.sum() - 1.0) < 1e-6, "shares of maps do not add up to 1")
    a, _, along, across, above = state.platt.tolist()
    require(a >= LEAST and along * above > across * across, "a map without a slope or a curvature")


@kernel
def begin(state, kind):
    """Know nothing of so many classes."""
    state.shares[:] = (1.0 - TRUST) / (MAPS - 1)
    state.shares[0] = TRUST
    state.platt[:] = PRIOR
    state.platt[0], state.platt[1], state.platt[3] = 1.0, 0.0, 0.0
    state.bins[:] = 0.0
    state.seen[0], state.seen[1] = 0.0, kind


@force_inline
def _sigmoid(z):
    small = exp(-abs(z))
    return 1.0 / (1.0 + small) if z >= 0.0 else small / (1.0 + small)


@force_inline
def _bin(p):
    return min(int(p * BINS), BINS - 1)


@force_inline
def _told(state, z, least, maps):
    """The probability of an event of log-odds z, `least` at least; writes those of maps, and their bases."""
    maps[0], maps[PLATT] = _sigmoid(z), _sigmoid(state.platt[0] * z + state.platt[1])
    for k in range(2):
        p, place = maps[k], _bin(maps[k])
        maps[MAPS + k] = p
        gap = (state.bins[k, place, CAME] - state.bins[k, place, PROMISED]) / (state.bins[k, place, COUNT] + PSEUDO)
        maps[2 + k] = min(max(p + gap, min(p, NEAREST)), max(p, 1.0 - NEAREST))
    found = 0.0
    for k in range(MAPS):
        maps[k] = max(maps[k], least)
        found += state.shares[k] * maps[k]
    return min(max(found, SMALLEST), 1.0 - TINY)


@force_inline
def _learn(state, z, came, maps, importance):
    """Learn whether an event of log-odds z came, of which the `maps` said this."""
    total, y = 0.0, 1.0 if came else 0.0
    for k in range(MAPS):
        likelihood = max(maps[k] if came else 1.0 - maps[k], TINY)
        share = state.shares[k] * (likelihood if importance == 1.0 else likelihood**importance)
        state.shares[k] = share
        total += share
    least, kept = max(FLOOR * total, SMALLEST), 0.0
    for k in range(MAPS):
        state.shares[k] = max(state.shares[k], least)
        kept += state.shares[k]
    scale = 1.0 / kept
    p = maps[MAPS + PLATT]
    for k in range(MAPS):
        state.shares[k] *= scale
    for k in range(2):
        promised = maps[MAPS + k]
        place = _bin(promised)
        fading = 1.0 - 1.0 / LASTING if state.bins[k, place, COUNT] >= LASTING else 1.0
        state.bins[k, place, COUNT] = fading * state.bins[k, place, COUNT] + importance
        state.bins[k, place, CAME] = fading * state.bins[k, place, CAME] + importance * y
        state.bins[k, place, PROMISED] = fading * state.bins[k, place, PROMISED] + importance * promised
    gap = p - y
    bend = importance * max(p * (1.0 - p), gap * gap)
    along = PRIOR + (state.platt[2] - PRIOR) * KEPT + bend * z * z
    across = state.platt[3] * KEPT + bend * z
    above = PRIOR + (state.platt[4] - PRIOR) * KEPT + bend
    step = importance * gap / (along * above - across * across)
    state.platt[0] = min(max(state.platt[0] - step * (above * z - across), LEAST), MOST)
    state.platt[1] = min(max(state.platt[1] - step * (along - across * z), -SHIFT), SHIFT)
    state.platt[2], state.platt[3], state.platt[4] = along, across, above
    state.seen[0] += importance


@kernel
def recalibrate_two(state, margins, targets, importances, learns, found, losses, promised):
    """Write the recalibrated log-odds of margins (n,) to `found` (n,); where it `learns`, examples are learnt.

    `losses` (n,) are the log losses, `promised` (n, 3) probabilities before and after, and whether the class came.
    """
    maps = np.empty(MAPS + 2)
    if learns and len(margins) > 0 and state.seen[1] != TWO:
        begin(state, TWO)
    for i in range(len(margins)):
        came = targets[i] == 1
        found[i], promised[i, 0], promised[i, 1], promised[i, 2] = margins[i], np.nan, np.nan, came
        if margins[i] == margins[i]:
            z = min(max(margins[i], -FARTHEST), FARTHEST)
            promised[i, 0] = promised[i, 1] = _sigmoid(margins[i])
            if state.seen[1] == TWO:
                promised[i, 1] = p = _told(state, z, 0.0, maps)
                above, below = log(p), log1p(-p)
                found[i], losses[i] = above - below, -above if came else -below
                if learns and importances[i] > 0.0:
                    _learn(state, z, came, maps, np.float64(importances[i]))


@kernel
def recalibrate_many(state, margins, targets, importances, joint, learns, found, losses, promised):
    """The same of margins (n, classes): of classes learnt jointly, or of one class against the rest each.

    The event is that the class on top comes; the losses of others than joint classes stay as they are.
    """
    maps, parts = np.empty(MAPS + 2), np.empty(margins.shape[1])
    if learns and len(margins) > 0 and state.seen[1] != SEVERAL:
        begin(state, SEVERAL)
    for i in range(len(margins)):
        top, sound = 0, True
        for k in range(len(parts)):
            found[i, k] = margins[i, k]
            sound = sound and abs(margins[i, k]) < inf
            top = k if margins[i, k] > margins[i, top] else top
        rest = second = 0.0
        for k in range(len(parts)):
            parts[k] = exp(margins[i, k] - margins[i, top]) if joint else _sigmoid(margins[i, k])
            if k != top:
                rest += parts[k]
                second = max(second, parts[k])
        came = targets[i] == top
        rest = max(rest, parts[top] * TINY)
        promised[i, 0] = promised[i, 1] = parts[top] / (parts[top] + rest) if rest > 0.0 else 1.0 / len(parts)
        sound = sound and rest > 0.0
        promised[i, 2] = came
        if sound and state.seen[1] == SEVERAL:
            z = min(log(parts[top] / rest), FARTHEST)
            least = min(second / (rest + second) * (1.0 + 1e-9), 1.0 - TINY)  # with which the class on top stays there
            promised[i, 1] = p = _told(state, z, least, maps)
            left = (1.0 - p) / rest
            for k in range(len(parts)):
                share = p if k == top else max(parts[k] * left, SMALLEST)
                found[i, k] = log(share) if joint else log(share / (1.0 - share))
            if joint:
                losses[i] = -found[i, targets[i]]
            if learns and importances[i] > 0.0:
                _learn(state, z, came, maps, np.float64(importances[i]))


def recalibrate_rows(
    state: State, task: Any, given: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray], learns: bool = False
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Recalibrated margins, (n,) or (n, classes), losses and what was promised; where it `learns`, targets are learnt.

    `given` are margins, targets (n,), importances (n,) float32 and losses (n,).
    """
    margins, targets, importances = np.ascontiguousarray(given[0]), *given[1:3]
    found, losses, promised = np.empty_like(margins), given[3].copy(), np.empty((len(margins), 3))
    if margins.ndim == 1:
        recalibrate_two(state, margins, targets, importances, learns, found, losses, promised)
    else:
        recalibrate_many(state, margins, targets, importances, task.joint, learns, found, losses, promised)
    return found, losses, promised


def recalibrate_margins(state: State, task: Any, margins: np.ndarray) -> np.ndarray:
    """The recalibrated margins of those of the learner."""
    nothing = np.zeros(len(margins))
    return recalibrate_rows(state, task, (margins, nothing.astype(np.int64), nothing.astype(np.float32), nothing))[0]


def recalibrate_one(
    state: State, task: Any, margins: list[float], target: int = 0, importance: float = 0.0, learns: bool = False
) -> list[float]:
    """The same of one example."""
    columns = np.array(margins) if len(margins) == 1 else np.array([margins])
    given = columns, np.array([target]), np.array([importance], np.float32), np.zeros(1)
    found: list[float] = recalibrate_rows(state, task, given, learns)[0].ravel().tolist()
    return found


def recalibrated(state: State, task: Any, outcome: Any, learns: bool) -> Any:
    """An outcome with the recalibrated margins, and their losses where log loss is the loss; none where it has none."""
    asked, margins = len(outcome.losses), outcome.margins.copy()
    outcome = outcome if asked else outcome._replace(losses=np.zeros(len(margins)))
    losses, start = outcome.losses.copy(), 0
    promised = np.empty((len(margins), 3))
    for part in task.parts(outcome):
        here = slice(start, start + len(part.targets))
        found, losses[here], promised[here] = recalibrate_rows(state, task, part[:4], learns)
        start = here.stop
        if found.ndim == margins.ndim:
            margins[(here, slice(found.shape[1])) if found.ndim > 1 else here] = found
        else:  # two classes, before others came
            margins[here, 0], margins[here, 1] = (0.0, found) if task.joint else (-found, found)
    return outcome._replace(margins=margins, losses=losses[:asked], promised=promised)
