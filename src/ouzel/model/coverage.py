"""Intervals and sets of labels that hold the truth as often as was asked, whatever the stream does.

Every example is predicted before it is learnt, so what a model has not seen is scored as the stream goes. Of numbers
the score is the residual r = y - ŷ, of classes how far the label's margin falls behind the best other, -lead(y). An
interval is [ŷ + low, ŷ + high], a set has the labels whose scores are at most `high`.

`high` and `low` are quantiles that follow the stream. Each is a mixture of quantile trackers, one a step size
(θ += η s (miss - α), Gibbs & Candès, 2021, "Adaptive Conformal Inference Under Distribution Shift"; on scores, not on
levels, and in units s of their running size: Angelopoulos, Candès & Tibshirani, 2023, "Conformal PID Control"), weighed
by their pinball losses with a fixed share (Gibbs & Candès, 2022, "Conformal Inference for Online Prediction with
Arbitrary Distribution Shifts", and the AgACI of Zaffran et al., 2022; an expert's weight is divided by 1 + loss, which
is the exponential to first order, and the same on every machine). The tails have a mixture each: what is skewed has
an interval that is.

Coverage is what the debt D = Σ(miss - α) sees to (the integrator of conformal PID control): bounds move outwards by
s·`shift(D)`, which rises steeply near the ends, and beyond DEBT - 1 the interval is unbounded, or the set has all
labels. So D never leaves [-DEBT, DEBT], and in ANY stretch of T examples, of any stream, an adversary's too,

    misses <= α T + 2 DEBT,   that is coverage >= asked - 2 DEBT / T: a point in 2,000.

Sets become empty at the other end, so that their coverage is no higher either: |coverage - asked| <= 2 DEBT / T. An
interval does not become empty but a point, which matters only where predictions are exact. Labels that were not known
when they came have no score and are not counted; nor are examples of importance 0. Every other one counts once.
"""

from __future__ import annotations

from math import exp, inf
from typing import Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline, kernel
from ouzel.layout import allocate, float64, require
from ouzel.model.answers import estimates

STEPS = (0.005, 0.03, 0.2)  # of trackers, in units of the scores' size
EXPERTS = len(STEPS)
RATE, SHARE, WORST = 0.1, 0.001, 5.0  # of the mixture: how fast it learns, what is shared, the largest loss that counts
DEBT, KNEE, SLOPE = 10.0, 4.0, 0.03  # largest debt; from where bounds move out steeply; units per miss before
FAR = 0.5  # part of a tail's distance that is a unit
SHORTEST, JUMP = 0.01, 4.0  # part of a score in their running size; how many times it a score counts as, at most
LASTING = 1_000.0  # scores that a settled quantile is a mean over
FIRST = 16  # scores whose mean is the first size
LARGEST = 1e100  # score that is not infinite
SIZE, COUNT = range(2)  # places of `size`


class State(NamedTuple):
    places: np.ndarray  # (levels, 2, experts) float64  θ: quantiles of the scores, and of the scores below, negated
    shares: np.ndarray  # (levels, 2, experts) float64  weights of the experts, whose sum is 1
    debts: np.ndarray  # (levels,) float64  D
    settled: np.ndarray  # (levels, 2) float64  running means of the bounds
    size: np.ndarray  # (2,) float64  s, the running mean of |score|, and how many scores there were


class Covered(NamedTuple):
    """Whether intervals or sets hold the truth of examples, each before it was learnt."""

    hits: np.ndarray  # (n, levels) bool
    sizes: np.ndarray  # (n, levels) float64  widths, inf where unbounded, or labels in the set; NaN: it does not count
    groups: np.ndarray | None = None  # (n,) int64, keys of `group_coverage`, where each group has its own


def layout(levels: int) -> State:
    """A `State` of descriptions in place of arrays."""
    return State(
        places=float64(levels, 2, EXPERTS, least=-10.0 * LARGEST, most=10.0 * LARGEST),
        shares=float64(levels, 2, EXPERTS, fill=1.0 / EXPERTS, least=0.0, most=1.0 + 1e-9),
        settled=float64(levels, 2, least=-10.0 * LARGEST, most=10.0 * LARGEST),
        debts=float64(levels, least=-DEBT, most=DEBT),
        size=float64(2, least=0.0, most=(LARGEST, inf)),
    )


def init(levels: int) -> State:
    """A state that has seen nothing."""
    found: State = allocate(layout(levels))
    return found


def check(state: State) -> None:
    """Refuse weights of experts that are not shares of 1, and a size of no scores."""
    require(np.allclose(state.shares.sum(axis=-1), 1.0, atol=1e-6), "shares of experts do not add up to 1")
    require(state.size[COUNT] > 0.0 or state.size[SIZE] == 0.0, "a size of no scores")


@force_inline
def shift(debt):
    """How far a debt moves bounds outwards, in units of the scores' size."""
    beyond = abs(debt) - KNEE
    steep = SLOPE * debt
    if beyond > 0.0:
        more = 2.0 * SLOPE * (exp(beyond) - 1.0)
        steep += more if debt > 0.0 else -more
    return steep


@force_inline
def _mixed(state, level, side):
    """The quantile that the experts of a tail tell together."""
    found = 0.0
    for k in range(EXPERTS):
        found += state.shares[level, side, k] * state.places[level, side, k]
    return found


@force_inline
def _unit(state, mixed):
    """What steps and shifts of a tail are measured in: the scores' size, and of a far tail its own distance."""
    return max(state.size[SIZE], FAR * abs(mixed))


@force_inline
def _follow(state, level, side, score, tail):
    """Let the experts of a tail, which has this part of the scores, learn a score."""
    mixed = _mixed(state, level, side)
    size, total = _unit(state, mixed), 0.0
    part, most = RATE / (tail * size) if size > 0.0 else 0.0, RATE * WORST / tail
    bound = mixed + size * shift(state.debts[level])
    state.settled[level, side] += (bound - state.settled[level, side]) / min(state.size[COUNT], LASTING)
    for k in range(EXPERTS):
        gap = score - state.places[level, side, k]
        loss = gap * (1.0 - tail) if gap > 0.0 else -gap * tail
        share = state.shares[level, side, k] / (1.0 + min(loss * part, most))
        state.shares[level, side, k] = share
        total += share
        state.places[level, side, k] += STEPS[k] * size * ((1.0 if gap > 0.0 else 0.0) - tail)
    kept = (1.0 - SHARE) / total
    for k in range(EXPERTS):
        state.shares[level, side, k] = kept * state.shares[level, side, k] + SHARE / EXPERTS


@force_inline
def _owe(state, level, missed, alpha):
    """Count a miss, or a hit, in the debt of a level; a point that still hits owes no more than it can."""
    state.debts[level] = max(-DEBT, min(DEBT, state.debts[level] + (1.0 if missed else 0.0) - alpha))


@force_inline
def _grow(state, score, two_sided):
    """Count a score in their running size; all quantiles begin at the first one."""
    away, count = abs(score), state.size[COUNT]
    if count == 0.0:
        for level in range(len(state.debts)):
            for k in range(EXPERTS):
                state.places[level, 0, k] = away if two_sided else score
                state.places[level, 1, k] = away
    state.size[COUNT] = count + 1.0
    size = state.size[SIZE]
    if count >= FIRST and size > 0.0:
        state.size[SIZE] = size + SHORTEST * (min(away, JUMP * size) - size)
    else:
        state.size[SIZE] = size + (away - size) / (min(count, FIRST) + 1.0)


@force_inline
def _high(state, level):
    """The largest score of labels in a set."""
    debt = state.debts[level]
    if state.size[COUNT] == 0.0 or debt > DEBT - 1.0:
        return inf
    mixed = _mixed(state, level, 0)
    return -inf if debt < 1.0 - DEBT else mixed + _unit(state, mixed) * shift(debt)


@force_inline
def _ends(state, level):
    """The ends of an interval about a prediction of 0."""
    debt = state.debts[level]
    if state.size[COUNT] == 0.0 or debt > DEBT - 1.0:
        return -inf, inf
    above, below, out = _mixed(state, level, 0), _mixed(state, level, 1), shift(debt)
    low, high = -below - _unit(state, below) * out, above + _unit(state, above) * out
    if low > high:
        low = high = 0.5 * (low + high)
    return low, high


@force_inline
def _settled_ends(state, level):
    """The ends of an interval about a prediction of 0 of any example, without the debt of the last ones."""
    if state.size[COUNT] == 0.0:
        return -inf, inf
    return -state.settled[level, 1], state.settled[level, 0]


@kernel
def cover_numbers(state, levels, predictions, targets, importances, learns, hits, sizes):
    """Judge intervals about predictions (n,), one example after the other; `learns` what they missed."""
    for i in range(len(targets)):
        residual = targets[i] - predictions[i]
        score = max(-LARGEST, min(LARGEST, residual)) if residual == residual else LARGEST
        for level in range(len(levels)):
            low, high = _ends(state, level) if learns else _settled_ends(state, level)
            hits[i, level] = min(low, high) <= score <= max(low, high) or high == inf
            sizes[i, level] = abs(high - low) if importances[i] > 0.0 else np.nan
        if learns and importances[i] > 0.0:
            _grow(state, score, True)
            for level in range(len(levels)):
                alpha = 1.0 - levels[level]
                _follow(state, level, 0, score, 0.5 * alpha)
                _follow(state, level, 1, -score, 0.5 * alpha)
                _owe(state, level, not hits[i, level], alpha)


@kernel
def cover_classes(state, levels, margins, targets, importances, known, learns, hits, sizes):
    """The same of sets of classes, by margins (n, classes) or (n, 1) of two; `known` classes come before."""
    classes = margins.shape[1]
    leads = np.empty(max(classes, 2))
    for i in range(len(targets)):
        target, counts = targets[i], importances[i] > 0.0 and targets[i] < known
        known = max(known, target + 1)
        leads_of(margins[i], leads)
        score = max(-LARGEST, min(LARGEST, -leads[target])) if leads[target] == leads[target] else LARGEST
        for level in range(len(levels)):
            high, held = _high(state, level) if learns else _settled_ends(state, level)[1], 0
            for k in range(len(leads)):
                held += high == inf or -leads[k] <= high
            hits[i, level] = high == inf or score <= high
            sizes[i, level] = held if counts else np.nan
        if learns and counts:
            _grow(state, score, False)
            for level in range(len(levels)):
                alpha = 1.0 - levels[level]
                _follow(state, level, 0, score, alpha)
                _owe(state, level, not hits[i, level], alpha)


@force_inline
def leads_of(margins, leads):
    """Write how far each class is ahead of the best other, from margins (classes,), or (1,) of the second of two."""
    if len(margins) == 1:
        leads[0], leads[1] = -margins[0], margins[0]
        return
    best, second, at = -inf, -inf, 0
    for k in range(len(margins)):
        if margins[k] > best:
            best, second, at = margins[k], best, k
        elif margins[k] > second:
            second = margins[k]
    for k in range(len(margins)):
        leads[k] = margins[k] - (second if k == at else best)


@kernel
def leads_of_block(margins, leads):
    """Write the leads (n, classes) of a block's margins."""
    for i in range(len(margins)):
        leads_of(margins[i], leads[i])


@kernel
def ends_of(state, settled, ends):
    """Write the ends (levels, 2) of intervals about a prediction of 0, of the next example or, settled, of any."""
    for level in range(len(ends)):
        low, high = _settled_ends(state, level) if settled else _ends(state, level)
        ends[level, 0], ends[level, 1] = min(low, high), max(low, high)


@kernel
def highs_of(state, settled, highs):
    """Write the largest score (levels,) of labels in a set, of the next example or, settled, of any."""
    for level in range(len(highs)):
        highs[level] = _settled_ends(state, level)[1] if settled else _high(state, level)


def covered(state: State, levels: np.ndarray, task: Any, outcome: Any, known: int, learns: bool = True) -> Covered:
    """Judge the intervals or sets of the examples of an outcome, and learn from them; `known` classes came before them.

    Where nothing `learns` it is settled intervals and sets that are judged.
    """
    rows = len(outcome.targets)
    found = Covered(np.zeros((rows, len(levels)), np.bool_), np.empty((rows, len(levels))))
    if task.numbers:
        predictions = estimates(task.loss, outcome.margins)
        cover_numbers(state, levels, predictions, outcome.targets, outcome.importances, learns, *found[:2])
        return found
    start = 0
    for part in task.parts(outcome):
        here = slice(start, start + len(part.targets))
        margins = np.ascontiguousarray(np.atleast_2d(part.margins.T).T)
        judged = found.hits[here], found.sizes[here]
        cover_classes(state, levels, margins, part.targets, part.importances, known, learns, *judged)
        known = max(known, int(part.targets.max(initial=-1)) + 1)
        start = here.stop
    return found


def covered_one(
    state: State, levels: np.ndarray, task: Any, margins: list[float], target: float, importance: float, known: int
) -> None:
    """The same of one example, by its margins and its number or the place of its class."""
    given = np.array([target]), np.array([importance], np.float32)
    found = np.zeros((1, len(levels)), np.bool_), np.empty((1, len(levels)))
    if task.numbers:
        cover_numbers(state, levels, estimates(task.loss, np.array(margins)), *given, True, *found)
    else:
        cover_classes(state, levels, np.array([margins]), *given, known, True, *found)
