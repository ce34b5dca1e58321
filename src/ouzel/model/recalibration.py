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
is worse than the probability as it was by at most -log(TRUST), .03, and `FLOOR` an example (Cesa-Bianchi & Lugosi,
2006, "Prediction, Learning, and Games", 3.3). The class on top stays on top where there are several; with two the label
is that of the probability told. Every probability is told before its label is learnt; examples of importance 0 are not.
"""

from __future__ import annotations

from math import exp, inf, log, log1p
from typing import Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline, kernel
from ouzel.layout import allocate, float64, require
from ouzel.model.tasks.task import Outcome

MAPS, PLATT, BINS = 4, 1, 20
KEPT = 1.0 - 1.0 / 1_000  # of the curvature, an example
PRIOR = 1.0  # curvature of a and of b before any example
LEAST, MOST, SHIFT = 1e-3, 20.0, 20.0  # bounds of a, and of |b|
TRUST, FLOOR, TINY = 0.97, 1e-6, 1e-15  # shares of maps: that of no map at first, the least; the least likelihood
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


@force_inline
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
    return 1.0 / (1.0 + exp(-z)) if z >= 0.0 else exp(z) / (1.0 + exp(z))


@force_inline
def _bin(p):
    return min(int(p * BINS), BINS - 1)


@force_inline
def _told(state, z, least, maps):
    """The probability told of an event of log-odds z, `least` at least; those of the `maps` (4,)."""
    maps[0], maps[PLATT] = _sigmoid(z), _sigmoid(state.platt[0] * z + state.platt[1])
    for k in range(2):
        place = _bin(maps[k])
        gap = (state.bins[k, place, CAME] - state.bins[k, place, PROMISED]) / (state.bins[k, place, COUNT] + PSEUDO)
        maps[2 + k] = min(max(maps[k] + gap, min(maps[k], NEAREST)), max(maps[k], 1.0 - NEAREST))
    found = 0.0
    for k in range(MAPS):
        found += state.shares[k] * max(maps[k], least)
    return found


@force_inline
def _learn(state, z, came, least, maps, importance):
    """Learn whether an event came, of which the `maps` told this."""
    total, y = 0.0, 1.0 if came else 0.0
    for k in range(MAPS):
        told = max(maps[k], least)
        likelihood = max(told if came else 1.0 - told, TINY)
        state.shares[k] *= likelihood if importance == 1.0 else likelihood**importance
        total += state.shares[k]
    kept = 0.0
    for k in range(MAPS):
        state.shares[k] = max(state.shares[k] / total, FLOOR) if total > 0.0 else 1.0 / MAPS
        kept += state.shares[k]
    for k in range(MAPS):
        state.shares[k] /= kept
    for k in range(2):
        counts = state.bins[k, _bin(maps[k])]
        if counts[COUNT] >= LASTING:
            counts *= 1.0 - 1.0 / LASTING
        counts[COUNT] += importance
        counts[CAME] += importance * y
        counts[PROMISED] += importance * maps[k]
    p = maps[PLATT]
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
def recalibrate_two(state, margins, targets, importances, learns, told):
    """Write the log-odds told of margins (n,) to `told` (n,); where it `learns`, each example is learnt after that."""
    maps = np.empty(MAPS)
    for i in range(len(margins)):
        if learns and state.seen[1] != TWO:
            begin(state, TWO)
        told[i] = margins[i]
        if margins[i] == margins[i] and state.seen[1] == TWO:
            z = min(max(margins[i], -FARTHEST), FARTHEST)
            p = _told(state, z, 0.0, maps)
            told[i] = log(max(p, 1e-300)) - log1p(-min(p, 1.0 - 1e-16))
            if learns and importances[i] > 0.0:
                _learn(state, z, targets[i] == 1, 0.0, maps, np.float64(importances[i]))


@force_inline
def _logs(margins, joint, logs):
    """Write the logarithms of the probabilities of classes to `logs` (classes,); the place of the largest."""
    top = 0
    for k in range(len(margins)):
        z = margins[k]
        logs[k] = z if joint else (-log1p(exp(-z)) if z > 0.0 else z - log1p(exp(z)))
        top = k if logs[k] > logs[top] else top
    total, highest = 0.0, logs[top]
    for k in range(len(margins)):
        total += exp(logs[k] - highest)
    for k in range(len(margins)):
        logs[k] -= highest + log(total)
    return top


@kernel
def recalibrate_many(state, margins, targets, importances, joint, learns, told):
    """The same of margins (n, classes): of classes learnt jointly, or of one class against the rest each."""
    maps, logs = np.empty(MAPS), np.empty(margins.shape[1])
    for i in range(len(margins)):
        if learns and state.seen[1] != SEVERAL:
            begin(state, SEVERAL)
        told[i] = margins[i]
        sound = state.seen[1] == SEVERAL
        for k in range(len(logs)):
            sound = sound and abs(margins[i, k]) < inf
        if sound:
            top = _logs(margins[i], joint, logs)
            rest, second = 0.0, -inf
            for k in range(len(logs)):
                if k != top:
                    rest += exp(logs[k] - logs[top])
                    second = max(second, logs[k])
            z = min(-log(rest), FARTHEST) if rest > 0.0 else FARTHEST  # of the class on top
            next_one = exp(second - logs[top]) / rest if rest > 0.0 else 0.0  # its part of the rest
            least = min(next_one / (1.0 + next_one) * (1.0 + 1e-9), 1.0)  # with which the class on top stays there
            p = _told(state, z, least, maps)
            left = log(max(1.0 - p, 1e-300)) - (log(rest) + logs[top] if rest > 0.0 else 0.0)
            for k in range(len(logs)):
                share = log(p) if k == top else logs[k] + left
                told[i, k] = share if joint else share - log1p(-min(exp(share), 1.0 - 1e-16))
            if learns and importances[i] > 0.0:
                _learn(state, z, targets[i] == top, least, maps, np.float64(importances[i]))


def told_of(
    state: State, task: Any, margins: np.ndarray, targets: Any = None, importances: Any = None, learns: bool = False
) -> np.ndarray:
    """The margins told, (n,) or (n, classes) as the model has them; where it `learns`, targets are learnt, too."""
    margins = np.ascontiguousarray(margins)
    targets = np.zeros(len(margins), np.int64) if targets is None else targets
    importances = np.zeros(len(margins), np.float32) if importances is None else importances
    told = np.empty_like(margins)
    if margins.ndim == 1:
        recalibrate_two(state, margins, targets, importances, learns, told)
    else:
        recalibrate_many(state, margins, targets, importances, task.joint, learns, told)
    return told


def told_of_one(
    state: State, task: Any, margins: list[float], target: int = 0, importance: float = 0.0, learns: bool = False
) -> list[float]:
    """The same of one example."""
    columns = np.array(margins) if len(margins) == 1 else np.array([margins])
    known = np.array([target]), np.array([importance], np.float32)
    found: list[float] = told_of(state, task, columns, *known, learns).ravel().tolist()
    return found


def recalibrated(state: State, task: Any, outcome: Outcome, learns: bool) -> Outcome:
    """An outcome with the margins told, and their losses where log loss is the loss, beside those of the learner."""
    told, losses, start = outcome.margins.copy(), outcome.losses.copy(), 0
    for part in task.parts(outcome):
        here = slice(start, start + len(part.targets))
        found = told_of(state, task, part.margins, part.targets, part.importances, learns)
        start = here.stop
        if found.ndim == 1:
            losses[here] = np.logaddexp(0.0, np.where(part.targets == 1, -found, found))
        elif task.joint:
            losses[here] = -found[np.arange(len(found)), part.targets]
        if found.ndim == told.ndim:
            told[(here, slice(found.shape[1])) if found.ndim > 1 else here] = found
        else:  # two classes, before others came
            told[here, 0], told[here, 1] = (0.0, found) if task.joint else (-found, found)
    return outcome._replace(margins=told, losses=losses, raw=outcome.margins)


def mirrored(state: State) -> State:
    """The same of two classes in the other order."""
    if state.seen[1] != TWO:
        return state
    bins = state.bins[:, ::-1].copy()
    bins[:, :, CAME], bins[:, :, PROMISED] = (bins[:, :, COUNT] - bins[:, :, k] for k in (CAME, PROMISED))
    platt = state.platt * np.array([1.0, -1.0, 1.0, -1.0, 1.0])
    return state._replace(bins=np.maximum(bins, 0.0), platt=platt)


def gains(base: State, state: State) -> dict[str, np.ndarray]:
    """What a worker has learnt beyond its base: sums, and the map as its mean times the examples."""
    fresh = base if base.seen[1] == state.seen[1] else init()
    count = state.seen[0] - fresh.seen[0]
    return {
        "shares": np.log(state.shares) - np.log(fresh.shares),
        "map": count * (state.platt[:2] - fresh.platt[:2]),
        "curvature": state.platt[2:] - fresh.platt[2:],
        "bins": state.bins - fresh.bins,
        "seen": np.array([count, state.seen[1] * (count > 0.0)]),
        "workers": np.array([float(count > 0.0)]),
    }


def onto(base: State, more: dict[str, np.ndarray]) -> State:
    """A base with the sums of its workers, and the mean of their maps; of other classes than the base's without it."""
    count, workers = more["seen"][0], more["workers"][0]
    if not count > 0.0:
        return base
    kind = min(round(more["seen"][1] / workers), SEVERAL)
    fresh = base if base.seen[1] == kind else init()
    logs = np.log(fresh.shares) + more["shares"]
    shares = np.maximum(np.exp(logs - logs.max()), FLOOR)
    a, b = fresh.platt[:2] + more["map"] / count
    along, across, above = fresh.platt[2:] + more["curvature"]
    along, above = max(along, PRIOR), max(above, PRIOR)
    across = across if across * across < along * above else 0.0
    platt = np.array([min(max(a, LEAST), MOST), min(max(b, -SHIFT), SHIFT), along, across, above])
    seen = np.array([fresh.seen[0] + count, kind])
    return State(shares / shares.sum(), platt, np.maximum(fresh.bins + more["bins"], 0.0), seen)
