"""MetaGrad, full: several learning rates at once, weighted by how well each does; an expert is an online Newton step.

Van Erven, Koolen & van der Hoeven (2021), "MetaGrad: Adaptation using Multiple Learning Rates in Online Learning",
JMLR 22(161), the full version, on weights that predict within [-C, C] as in the authors' experiments. With slope g of
the loss, x, and b = |g| (C + |z|) of a prediction z, learning rates, shares and when they begin anew are those of
`metagrad`, with one controller in place of one for each coordinate. The expert of eta has weights u, and Sigma
((D/3)^2 I at first); before a prediction u is projected upon |u'x| <= C in the norm of Sigma^-1, as by `ons`.
    z = sum eta p u'x / sum eta p.
Then with r = eta (z - u'x) g c, c the former B / B, shares are multiplied by exp(r - r^2), and
    Sigma^-1 += 2 (eta g)^2 x x',    u <- u - Sigma (eta g + 2 (eta g)^2 (u'x - z)) x.

An example costs the square of the number of slots seen for each expert; memory is the square of the room for them.
"""

from __future__ import annotations

from math import isfinite, ldexp
from typing import NamedTuple

import numpy as np

from ouzel.errors import OuzelError
from ouzel.kernels.jit import force_inline, kernel
from ouzel.kernels.vectors import square_norm
from ouzel.layout import MOST_COUNT, check_places, float64, int64, made_from
from ouzel.learners.fading import faded_covariance
from ouzel.learners.gains.parts import Gains, Peak, Rows
from ouzel.learners.gradient.metagrad import (
    LARGEST,
    LEAST_SHARE,
    LEAST_SIZE,
    PARTS,
    START,
    SUM,
    Settings,
    highest,
    note_size,
    score,
    used,
)
from ouzel.learners.limits import is_sound, learnable
from ouzel.learners.loops import learning_margins, predicting_margins
from ouzel.learners.newton import online_newton
from ouzel.learners.newton.online_newton import clip, downdate, placed, solve
from ouzel.learners.states import negating, with_places_moved
from ouzel.terms.losses import derivative

__all__ = ["Settings"]

MOST_SLOTS = 513  # features and the constant
WHOLE = 0.5  # the radius by which `sizes` are B itself
LEAST_POWER = 4096  # below that of any learning rate


class State(NamedTuple):
    place: np.ndarray  # (d,) int64  1 + where a slot lies in what follows, 0 while it has not been seen
    expert: np.ndarray  # (k, d) float64  u of the slots so placed, of the largest learning rate first
    inverse: np.ndarray  # (k, d, d) float64  Sigma by (D/3)^2
    share: np.ndarray  # (1, k) float64  p
    sizes: np.ndarray  # (1, 4) float64  B, S, B at the last start, and the sum of b / B
    counts: np.ndarray  # (2,) int64  t, slots placed


def layout(dimension: int, settings: Settings) -> State:
    """What a state with room for `dimension` slots is made of."""
    if dimension > MOST_SLOTS:
        raise OuzelError(
            f"metagrad with full=yes keeps a matrix over all features for each learning rate and takes up to "
            f"{MOST_SLOTS - 1} of them; there are more; leave full out"
        )
    if not isfinite(settings.largest):
        raise OuzelError("metagrad with full=yes keeps to a largest prediction; set largest")
    experts = int(settings.experts)
    return State(
        place=int64(dimension, most=dimension),
        expert=float64(experts, dimension),
        inverse=float64(experts, dimension, dimension),
        share=float64(1, experts, fill=1.0, least=LEAST_SHARE, most=1.0 / LEAST_SHARE),
        sizes=float64(1, 4, least=0.0),
        counts=int64(2, most=(MOST_COUNT, dimension)),
    )


def begin(state: State, settings: Settings) -> None:
    """Make every Sigma the identity."""
    for inverse in state.inverse:
        np.fill_diagonal(inverse, 1.0)


init, grow = made_from(layout, begin)


def check(state: State, settings: Settings) -> None:
    """Refuse slots that do not lie one to a place."""
    check_places(state.place, int(state.counts[1]), "places")


@force_inline
def experts_of(state):
    """How many experts there are."""
    return used(state.sizes[0, LARGEST], state.sizes[0, SUM], WHOLE, state.share.shape[1])


@force_inline
def free_margin(state, m, indices, values):
    """u'x of an expert."""
    margin = 0.0
    for k in range(len(indices)):
        place = state.place[indices[k]]
        if place > 0:
            margin += values[k] * state.expert[m, place - 1]
    return margin


@force_inline
def predict_row(state, indices, values, settings):
    """The margin of one example: the mean of the experts', each cut to the largest allowed."""
    total, mass, rate = 0.0, 0.0, 1.0
    for m in range(experts_of(state)):
        part = rate * state.share[0, m]
        total += part * clip(free_margin(state, m, indices, values), settings)
        mass += part
        rate *= 0.5
    return total / mass if mass > 0.0 else 0.0


@kernel
def teach(state, m, indices, values, margin, step, settings):
    """Project an expert and move it, `step` being eta g; return its margin."""
    own = state.expert[m]  # twice: `solve` reads no `moved`
    expert = online_newton.State(state.place, own, state.inverse[m], state.counts, own)
    variance, weight = settings.radius * settings.radius / 9.0, expert.weight[: state.counts[1]]
    along, square, _ = solve(expert, indices, values, state.counts[1])
    free = free_margin(state, m, indices, values)
    own = clip(free, settings)
    if square > 0.0 and learnable(step, square, free):
        if free != own:
            weight -= (free - own) / square * along
        size = 2.0 * variance * step * step
        shrink = 1.0 + size * square
        weight -= variance * (step + 2.0 * step * step * (own - margin)) / shrink * along
        downdate(expert, along, size / shrink)
    return own


@kernel
def begin_expert(state, m):
    """Let an expert be one that has learnt nothing."""
    state.expert[m] = 0.0
    state.inverse[m] = 0.0
    for i in range(state.inverse.shape[1]):
        state.inverse[m, i, i] = 1.0
    state.share[0, m] = 1.0


@kernel
def drop(state, dropped):
    """Leave out the experts of the largest learning rates."""
    experts = len(state.expert)
    for m in range(experts):
        later = m + dropped
        if later < experts:
            state.expert[m] = state.expert[later]
            state.inverse[m] = state.inverse[later]
            state.share[0, m] = state.share[0, later]
        else:
            begin_expert(state, m)


@kernel
def learn_row(state, indices, values, target, importance, settings):
    """Learn one example in place; return the margin predicted before learning."""
    margin = predict_row(state, indices, values, settings)
    if importance == 0.0:
        return margin
    placed(state, indices, values)
    state.counts[0] += 1
    slope, length = importance * derivative(settings.loss, margin, target), square_norm(values)
    size = abs(slope) * (settings.largest + abs(margin))
    moves = is_sound(slope, length) and size >= LEAST_SIZE and learnable(size, length, margin)
    if not (moves or slope == 0.0) or length == 0.0:
        return margin
    before, count = state.sizes[0, LARGEST], experts_of(state)
    largest = max(before, size)
    if count > 0:
        high, now = highest(before, WHOLE), highest(largest, WHOLE)
        margins, mean, rate = np.empty((1, count)), np.full(1, margin), ldexp(1.0, high)
        for m in range(count):
            margins[0, m] = teach(state, m, indices, values, margin, rate * slope, settings)
            rate *= 0.5
        score(state.share, margins, mean, 0, count, ldexp(1.0, high), slope * (before / largest))
        if now < high:
            drop(state, high - now)
    if moves:
        note_size(state.share, state.sizes, 0, size)
    return margin


learn_rows = learning_margins(learn_row)
predict_rows = predicting_margins(predict_row)


def experts_by_part(state: State) -> tuple[np.ndarray, np.ndarray]:
    """Weights (k, d) of the experts, of every slot, and the part (k,) of each in the prediction."""
    parts = state.share[0] * 0.5 ** np.arange(len(state.expert)) * (np.arange(len(state.expert)) < experts_of(state))
    own = np.where(state.place > 0, state.expert[:, state.place - 1], 0.0)
    return own, parts / max(parts.sum(), LEAST_SHARE)


def weights(state: State, settings: Settings) -> np.ndarray:
    """The weight of every slot."""
    own, parts = experts_by_part(state)
    found: np.ndarray = parts @ own
    return found


swap_classes = negating("expert")
renumber = with_places_moved


def fade(state: State, kept: float, settings: Settings) -> None:
    """Decay what gradients have added to the matrices; weights stay what they are."""
    count = int(state.counts[1])
    for m in range(experts_of(state)):
        state.inverse[m, :count, :count] = faded_covariance(state.inverse[m, :count, :count], kept, 1.0)


def _powers(state: State) -> np.ndarray:
    """The powers of 2 that learning rates are (k,), rising, above those of any."""
    count = experts_of(state)
    return LEAST_POWER + highest(state.sizes[0, LARGEST], WHOLE) - np.arange(count)[::-1] if count else np.zeros(0, int)


def _sums(state: State, power: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Sigma^-1 - I (d, d), Sigma^-1 u (d,) of all slots in their own order, and log p, of one expert; else zeros."""
    size = len(state.place)
    metric, pull = np.zeros((size, size)), np.zeros(size)
    at = np.flatnonzero(_powers(state)[::-1] == power)
    if not len(at):
        return metric, pull, 0.0
    slots = np.flatnonzero(state.place)
    here, place, m = np.ix_(slots, slots), state.place[slots] - 1, int(at[0])
    metric[here] = np.linalg.inv(state.inverse[m][np.ix_(place, place)])
    pull[slots] = metric[here] @ state.expert[m, place]
    metric[slots, slots] -= 1.0
    return metric, pull, float(np.log(state.share[0, m]))


def gains(base: State, state: State, settings: Settings) -> Gains:
    """What a worker has learnt beyond its base: of each learning rate, what it has added to A and A u; sums, peaks."""
    powers, size = _powers(state), len(state.place)
    rows = np.zeros((len(powers), size * size + size + 1))
    for row, power in zip(rows, powers, strict=True):
        (metric, pull, share), (before, pulled, shared) = _sums(state, power), _sums(base, power)
        row[:-1] = np.concatenate([np.ravel(metric - before), pull - pulled])
        row[-1] = share - shared
    return {
        "experts": Rows(powers, rows),
        "sums": state.sizes[:, [SUM, PARTS]] - base.sizes[:, [SUM, PARTS]],
        "peaks": Peak(state.sizes[:, [LARGEST, START]].copy()),
        "placed": Peak((state.place > 0).astype(np.uint8)),
        "examples": state.counts[:1] - base.counts[:1],
    }


def onto(base: State, gains: Gains, settings: Settings) -> State:
    """The state of a base and of what workers have learnt beyond it: A and A u of each learning rate add up."""
    dimension = len(base.place)
    merged = init(dimension, settings)
    slots = np.flatnonzero((base.place > 0) | (gains["placed"].values > 0))
    size, (powers, rows) = len(slots), gains["experts"]
    merged.place[slots] = np.arange(1, size + 1)
    merged.counts[:] = base.counts[0] + gains["examples"][0], size
    merged.sizes[:, [SUM, PARTS]] = base.sizes[:, [SUM, PARTS]] + gains["sums"]
    merged.sizes[:, [LARGEST, START]] = np.maximum(base.sizes[:, [LARGEST, START]], gains["peaks"].values)
    for m, power in enumerate(_powers(merged)[::-1]):
        metric, pull, share = _sums(base, power)
        for row in rows[powers == power]:
            metric += row[: dimension**2].reshape(dimension, dimension)
            pull += row[dimension**2 : -1]
            share += row[-1]
        merged.inverse[m, :size, :size] = np.linalg.inv(np.eye(size) + metric[np.ix_(slots, slots)])
        merged.expert[m, :size] = merged.inverse[m, :size, :size] @ pull[slots]
        merged.share[0, m] = np.clip(np.exp(share), LEAST_SHARE, 1.0 / LEAST_SHARE)
    return merged
