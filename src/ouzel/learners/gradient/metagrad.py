"""MetaGrad, diagonal: several learning rates at once, weighted by how well each does; a copy for every coordinate.

Van Erven, Koolen & van der Hoeven (2021), "MetaGrad: Adaptation using Multiple Learning Rates in Online Learning",
JMLR 22(161), the diagonal version, which adapts to the size of gradients (Mhammedi, Koolen & van Erven 2019); details
as in the authors' code. Weights of coordinate j lie in [-D, D]. With b = 2 D |g| of an example and B the largest b, its
learning rates are the powers of 2
    1 / (2 (S + B)) <= eta <= 1 / (2 B),    S the sum of b, or of the former B where b exceeds it.
Each eta has an expert with weight u, precision 1/v (v = (D/3)^2 at first) and share p (1 at first). The weight is
    w = sum eta p u / sum eta p.
Of a gradient g, each expert's share is multiplied by exp(r - r^2), r = eta (w - u) c, with c = g (former B) / B, and
all shares by one number that keeps their sum; then
    1/v += 2 (eta g)^2,    u <- u - v (eta g + 2 (eta g)^2 (u - w)), cut to [-D, D].
Learning rates above a grown 1 / (2 B) are dropped. Shares become 1 again where B / (B when they last did) exceeds the
sum of b / B.

`full` has one controller of all coordinates in place of one for each (`metagrad_full`).

A coordinate whose gradient is 0 has b = 0: nothing of it changes, and an example costs its non-zeros alone. The number
of learning rates grows with the logarithm of S / B; `experts` of them, the largest, are kept.
"""

from __future__ import annotations

import importlib
from math import exp, frexp, inf, ldexp
from typing import Annotated, Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline, kernel
from ouzel.kernels.vectors import square_norm
from ouzel.layout import float64, made_from
from ouzel.learners.gains.averaging import averaging
from ouzel.learners.gains.parts import Gains, dense, peaks_of, rows_of
from ouzel.learners.limits import is_sound, learnable, margin_of
from ouzel.learners.loops import learning_margins, predicting_margins
from ouzel.learners.shared_settings import Largest, Loss
from ouzel.learners.states import negating
from ouzel.ranges import SWITCH, Range
from ouzel.terms.losses import Logistic, derivative

LEAST_SHARE = 1e-100  # so that an expert whose time comes late is heard again
LEAST_SIZE = 1e-280  # of a gradient: one of fewer digits has no learning rate
LARGEST, SUM, START, PARTS = 0, 1, 2, 3  # places in `sizes`

Radius = Annotated[float, Range(1e-9, 1e9), "D: weights are cut to -D and D; they are expected within a third of it"]
Experts = Annotated[float, Range(1.0, 64.0, whole=True), "learning rates of a feature, each half the one before"]


class State(NamedTuple):
    weight: np.ndarray  # (d,) float64  w
    expert: np.ndarray  # (d, k) float64  u, of the largest learning rate first; 0 where none is used yet
    taught: np.ndarray  # (d, k) float64  the sum of 2 (eta g)^2
    share: np.ndarray  # (d, k) float64  p
    sizes: np.ndarray  # (d, 4) float64  B, S and B at the last start by 2 D, and the sum of b / B
    seen: np.ndarray  # (1,) float64  examples


class Settings(NamedTuple):
    loss: Loss = Logistic()
    radius: Radius = 10.0
    experts: Experts = 12.0
    full: Annotated[bool, SWITCH, "one controller with whole matrices, for up to 512 features; weights are not cut"] = (
        False
    )
    largest: Annotated[Largest, "with `full`: C, the largest prediction"] = 10.0

    def completed(self) -> Any:
        """Without a bound on predictions where nothing keeps to one."""
        return self if self.full else self._replace(largest=inf)


def module_for(task: str, loss: Any, settings: Any = None) -> Any:
    """The module that learns by these settings: another one for whole matrices."""
    full = settings is not None and settings.full
    return importlib.import_module(f"{__name__}_full" if full else __name__)


def layout(dimension: int, settings: Settings) -> State:
    """What a state with room for `dimension` slots is made of."""
    radius, experts = settings.radius, int(settings.experts)
    return State(
        weight=float64(dimension, least=-radius, most=radius),
        expert=float64(dimension, experts, least=-radius, most=radius),
        taught=float64(dimension, experts, least=0.0),
        share=float64(dimension, experts, fill=1.0, least=LEAST_SHARE, most=1.0 / LEAST_SHARE),
        sizes=float64(dimension, 4, least=0.0),
        seen=float64(1, least=0.0),
    )


init, grow = made_from(layout)


@force_inline
def highest(largest, radius):
    """The power of 2 that the largest learning rate is, the floor of -log2(2 B); `largest` is B / 2 D, above 0."""
    part, power = frexp(4.0 * radius * largest)  # from 1/2 on, below 1
    return 1 - power if part == 0.5 else -power


@force_inline
def used(largest, total, radius, experts):
    """How many learning rates a coordinate has; `total` is S / 2 D."""
    if largest <= 0.0:
        return 0
    lowest = 1 - frexp(4.0 * radius * (total + largest))[1]  # the ceiling of -log2(2 (S + B))
    return max(0, min(experts, highest(largest, radius) - lowest + 1))


@force_inline
def predict_row(state, indices, values, settings):
    """The margin of one example."""
    return margin_of(state.weight, indices, values)


@force_inline
def score(share, expert, mean, j, count, rate, clipped):
    """Multiply row j of shares by what `count` experts did on a gradient; `rate` is the largest learning rate."""
    before, after = 0.0, 0.0
    for m in range(count):
        gained = rate * (mean[j] - expert[j, m]) * clipped
        before += share[j, m]
        share[j, m] *= exp(gained - gained * gained)
        after += share[j, m]
        rate *= 0.5
    for m in range(count):
        share[j, m] = max(share[j, m] * (before / after), LEAST_SHARE)


@force_inline
def note_size(share, sizes, j, size):
    """Count a gradient of size b in row j; shares become 1 again where sizes have grown faster than they add up."""
    before = sizes[j, LARGEST]
    largest = max(before, size)
    sizes[j, LARGEST] = largest
    sizes[j, SUM] += min(size, before)
    sizes[j, PARTS] += size / largest
    if largest > sizes[j, START] * sizes[j, PARTS]:
        sizes[j, START] = largest
        for m in range(share.shape[1]):
            share[j, m] = 1.0


@force_inline
def drop(state, j, dropped):
    """Leave out the experts of the largest learning rates."""
    experts = state.expert.shape[1]
    for m in range(experts):
        later = m + dropped
        state.expert[j, m] = state.expert[j, later] if later < experts else 0.0
        state.taught[j, m] = state.taught[j, later] if later < experts else 0.0
        state.share[j, m] = state.share[j, later] if later < experts else 1.0


@force_inline
def teach(state, j, count, rate, gradient, radius):
    """Move `count` experts by a gradient; `rate` is the largest learning rate."""
    for m in range(count):
        step = rate * gradient
        state.taught[j, m] += 2.0 * step * step
        precision = 9.0 / (radius * radius) + state.taught[j, m]
        moved = state.expert[j, m] - (step + 2.0 * step * step * (state.expert[j, m] - state.weight[j])) / precision
        state.expert[j, m] = min(max(moved, -radius), radius)
        rate *= 0.5


@force_inline
def mix(state, j, count):
    """Set the weight of a slot to the mean of `count` experts, by learning rates and shares."""
    total, mass, rate = 0.0, 0.0, 1.0
    for m in range(count):
        total += rate * state.share[j, m] * state.expert[j, m]
        mass += rate * state.share[j, m]
        rate *= 0.5
    state.weight[j] = total / mass if count > 0 else 0.0


@force_inline
def learn_slot(state, j, gradient, settings):
    """Learn the gradient of one coordinate."""
    radius, experts, size = settings.radius, state.expert.shape[1], abs(gradient)
    before = state.sizes[j, LARGEST]
    largest = max(before, size)
    count = used(before, state.sizes[j, SUM], radius, experts)
    if count > 0:
        high, now = highest(before, radius), highest(largest, radius)
        score(state.share, state.expert, state.weight, j, count, ldexp(1.0, high), gradient * (before / largest))
        if now < high:
            drop(state, j, high - now)
        teach(state, j, max(0, count - (high - now)), ldexp(1.0, now), gradient, radius)
    note_size(state.share, state.sizes, j, size)
    mix(state, j, used(largest, state.sizes[j, SUM], radius, experts))


@force_inline
def learn_row(state, indices, values, target, importance, settings):
    """Learn one example in place; return the margin predicted before learning."""
    margin = predict_row(state, indices, values, settings)
    if importance == 0.0:
        return margin
    state.seen[0] += 1.0
    slope, length = importance * derivative(settings.loss, margin, target), square_norm(values)
    if learnable(slope, length, margin) and is_sound(slope, length):
        for k in range(len(indices)):
            gradient = slope * np.float64(values[k])
            if abs(gradient) >= LEAST_SIZE:
                learn_slot(state, indices[k], gradient, settings)
    return margin


learn_rows = learning_margins(learn_row)
predict_rows = predicting_margins(predict_row)


def weights(state: State, settings: Settings) -> np.ndarray:
    """The weight of every slot."""
    return state.weight


swap_classes = negating("weight", "expert")


def fade(state: State, kept: float, settings: Settings) -> None:
    """Decay what experts were taught: later gradients move them further; weights stay what they are."""
    state.taught[...] *= kept


@kernel
def _mix_all(state, settings):
    """Set all weights, and make anew what experts hold whose learning rates are not used yet."""
    experts = state.expert.shape[1]
    for j in range(len(state.weight)):
        count = used(state.sizes[j, LARGEST], state.sizes[j, SUM], settings.radius, experts)
        for m in range(count, experts):
            state.expert[j, m], state.taught[j, m], state.share[j, m] = 0.0, 0.0, 1.0
        mix(state, j, count)


def _experts(state: State, settings: Settings) -> np.ndarray:
    return state.expert


def _rebuilt(base: State, expert: np.ndarray, totals: dict[str, np.ndarray], settings: Settings) -> State:
    """Merged experts and counts; `onto` adds what is no count."""
    return base._replace(expert=np.clip(expert, -settings.radius, settings.radius), seen=totals["seen"])


_gains, _onto = averaging(_experts, _rebuilt)


def gains(base: State, state: State, settings: Settings) -> Gains:
    """What a worker has learnt beyond its base: experts by examples, sums, logarithms of shares, and the largest B."""
    return {
        **_gains(base, state, settings),
        "taught": rows_of(state.taught - base.taught),
        "shares": rows_of(np.log(state.share / base.share)),
        "sums": rows_of(state.sizes[:, [SUM, PARTS]] - base.sizes[:, [SUM, PARTS]]),
        "largest": peaks_of(state.sizes[:, LARGEST]),
        "start": peaks_of(state.sizes[:, START]),
    }


def onto(base: State, gains: Gains, settings: Settings) -> State:
    """Experts move by the mean of the workers', place by place from the largest learning rate; sums add up."""
    merged, slots = _onto(base, gains, settings), len(base.weight)
    taught = np.maximum(base.taught + dense(gains["taught"], slots), 0.0)
    share = np.clip(base.share * np.exp(dense(gains["shares"], slots)), LEAST_SHARE, 1.0 / LEAST_SHARE)
    sizes = base.sizes.copy()
    sizes[:, [SUM, PARTS]] += dense(gains["sums"], slots)
    for place, name in ((LARGEST, "largest"), (START, "start")):
        sizes[:, place] = np.maximum(sizes[:, place], dense(gains[name], slots)[:, 0])
    state: State = merged._replace(weight=base.weight.copy(), taught=taught, share=share, sizes=sizes)
    _mix_all(state, settings)
    return state
