"""Online Newton with the full matrix.

Luo, Agarwal, Cesa-Bianchi & Langford (2016), eqs (1) and (2) and Lemma 1, after Hazan, Agarwal & Kale (2007). With g
the gradient, A = alpha I + sum of (curvature + eta / sqrt(t)) g g', and C the largest prediction allowed,
    w <- w - A^-1 g
and before a prediction, to project w upon |w'x| <= C in the norm of A,
    w <- w - (w'x - clip(w'x, -C, C)) A^-1 x / (x' A^-1 x).
A^-1 is kept, and changes by a matrix of rank one a gradient. An example costs the square of the number of slots seen so
far, memory is the square of the room for them: for up to some thousand features; more are refused.

For the errors of weights b is kept, what projections have moved w by, less what gradients have moved back since:
b <- b - A^-1 h x x'b, h the second derivative of the loss.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

from ouzel.errors import OuzelError
from ouzel.kernels.jit import force_inline, kernel
from ouzel.layout import MOST_COUNT, check_places, float64, int64, made_from
from ouzel.learners.fading import faded_covariance
from ouzel.learners.gains.metrics import metric_gains
from ouzel.learners.gains.parts import Gains, dense
from ouzel.learners.limits import learnable
from ouzel.learners.loops import learning_margins, predicting_margins
from ouzel.learners.newton.theory import from_theorem
from ouzel.learners.shared_settings import Bound, Curvature, Eta, Features, FromTheory, Largest, Loss, Rate
from ouzel.learners.states import negating, with_places_moved
from ouzel.ranges import Range
from ouzel.terms.bounds import Project, projects
from ouzel.terms.losses import Logistic, curvature, derivative

MOST_SLOTS = 2049  # features and the constant
CURVATURES = Range(0.1, 0.5)  # with which errors are known: below, last steps are large; above, first steps last
PULLED = 1.0 / 3.0  # of the error of a weight: the most that alpha may pull it towards 0 where a variance is returned


class State(NamedTuple):
    place: np.ndarray  # (d,) int64  1 + where a slot lies in what follows, 0 while it has not been seen
    weight: np.ndarray  # (d,) float64  w of the slots so placed
    inverse: np.ndarray  # (d, d) float64  alpha A^-1
    counts: np.ndarray  # (2,) int64  t, slots placed
    moved: np.ndarray  # (d,) float64  b of the slots so placed


class Settings(NamedTuple):
    loss: Loss = Logistic()
    learning_rate: Annotated[Rate, "step size, 1 / alpha"] = 1.0
    curvature: Curvature = 0.25
    eta: Eta = 0.0
    bound: Bound = Project()
    largest: Largest = 10.0
    from_theory: FromTheory = False
    features: Features = 100.0

    def completed(self) -> Any:
        """With sigma and eta of Theorem 2, if asked for."""
        return from_theorem(self, self.features) if self.from_theory else self


def check_room(dimension: int, learner: str) -> None:
    """Refuse a matrix too large."""
    if dimension > MOST_SLOTS:
        raise OuzelError(
            f"{learner} keeps a matrix over all features and takes up to {MOST_SLOTS - 1:,} of them; "
            "there are more; use son-oja or son-fd, or hash names to few with",
            bits=11,
        )


def layout_of(dimension: int, learner: str) -> State:
    """What a state of a learner with a matrix over `dimension` slots is made of."""
    check_room(dimension, learner)
    return State(
        place=int64(dimension, most=dimension),
        weight=float64(dimension),
        inverse=float64(dimension, dimension, diagonal=1.0),
        counts=int64(2, most=(MOST_COUNT, dimension)),
        moved=float64(dimension),
    )


def layout(dimension: int, settings: Settings) -> State:
    """What a state with room for `dimension` slots is made of."""
    return layout_of(dimension, "ons")


init, grow = made_from(layout)


def check(state: State, settings: Settings) -> None:
    """Refuse slots that do not lie one to a place."""
    check_places(state.place, int(state.counts[1]), "places")


@force_inline
def placed(state, indices, values):
    """Give every slot of an example with a value its place; return the number of slots placed."""
    for k in range(len(indices)):
        if state.place[indices[k]] == 0 and values[k] != 0.0:
            state.counts[1] += 1
            state.place[indices[k]] = state.counts[1]
    return state.counts[1]


@force_inline
def free_margin(state, indices, values):
    """w'x."""
    margin = 0.0
    for k in range(len(indices)):
        if state.place[indices[k]] > 0:
            margin += values[k] * state.weight[state.place[indices[k]] - 1]
    return margin


@force_inline
def clip(margin, settings):
    """The margin, cut to [-C, C]."""
    return min(max(margin, -settings.largest), settings.largest)


@kernel
def solve(state, indices, values, count):
    """alpha A^-1 x (count,), alpha x'A^-1 x, and x'x."""
    along = np.zeros(count)
    square, length = 0.0, 0.0
    for k in range(len(indices)):
        place = state.place[indices[k]] - 1
        if place >= 0:
            length += values[k] * values[k]
            for i in range(count):
                along[i] += values[k] * state.inverse[place, i]
    for k in range(len(indices)):
        place = state.place[indices[k]] - 1
        if place >= 0:
            square += values[k] * along[place]
    return along, square, length


@force_inline
def downdate(state, along, size):
    """A^-1 <- A^-1 - size A^-1 x x'A^-1, by Sherman and Morrison."""
    if size != 0.0:
        for i in range(len(along)):
            pull = size * along[i]
            row = state.inverse[i, : len(along)]
            for j in range(len(along)):
                row[j] -= pull * along[j]


@kernel
def learn_row(state, indices, values, target, importance, settings):
    """Learn one example in place; return the margin predicted before learning."""
    free = free_margin(state, indices, values)
    margin = clip(free, settings)
    if importance == 0.0:
        return margin
    count = placed(state, indices, values)
    state.counts[0] += 1
    slope = importance * derivative(settings.loss, margin, target)
    along, square, length = solve(state, indices, values, count)
    if not (learnable(slope, length, free) and square > 0.0):
        return margin
    weight = state.weight[:count]
    if projects(settings.bound) and free != margin:
        weight -= (free - margin) / square * along
        state.moved[:count] -= (free - margin) / square * along
    size = settings.learning_rate * (settings.curvature + settings.eta / np.sqrt(state.counts[0])) * slope * slope
    shrink = 1.0 + size * square  # A'^-1 x = A^-1 x / (1 + size x'A^-1 x), Sherman and Morrison
    weight -= settings.learning_rate * slope / shrink * along
    if projects(settings.bound):
        bent = settings.learning_rate * importance * curvature(settings.loss, margin, target) * square
        move_back(state, indices, values, along, min(bent / shrink, 1.0) / square)
    downdate(state, along, size / shrink)
    return margin


@force_inline
def move_back(state, indices, values, along, part):
    """Take off what a gradient changes in what projections have moved: `part` times A^-1 x x'b."""
    product = 0.0
    for k in range(len(indices)):
        if state.place[indices[k]] > 0:
            product += values[k] * state.moved[state.place[indices[k]] - 1]
    if product != 0.0:
        for i in range(len(along)):
            state.moved[i] -= part * product * along[i]


learn_rows = learning_margins(learn_row)


@force_inline
def predict_row(state, indices, values, settings):
    """The margin of one example, clipped to the largest allowed."""
    return clip(free_margin(state, indices, values), settings)


predict_rows = predicting_margins(predict_row)


def weights(state: State, settings: Settings) -> np.ndarray:
    """The weight of every slot."""
    return np.where(state.place > 0, state.weight[state.place - 1], 0.0)


def condition_number(state: State, settings: Settings) -> float:
    """Condition number of A."""
    count = int(state.counts[1])
    return float(np.linalg.cond(state.inverse[:count, :count])) if count else 1.0


def variances(state: State, settings: Settings) -> np.ndarray | None:
    """Expected square (d,) of the error of each weight, of independent examples of a logistic model; NaN where unknown.

    There the expected g g' is the Fisher information I (White, 1982, "Maximum Likelihood Estimation of Misspecified
    Models", Econometrica 50), so A / t tends to c I, c the curvature, and the steps to (c t)^-1 I^-1. The variance of w
    by stochastic approximation with steps (c t)^-1 I^-1 tends to (t c (2 - c))^-1 I^-1 (Fabian, 1968, "On Asymptotic
    Normality in Stochastic Approximation", Annals of Mathematical Statistics 39), which is A^-1 / (2 - c).

    A true margin beyond `largest` is no part of that: each projection moves w away from the truth, often by many times
    its error. The square of what is left of it is added. Not known is the error where alpha still pulls a weight, and
    with steps of a large c: slopes are at most 1, so to undo a margin m takes the first steps some exp(c m) times as
    many examples as there were, and of what is left of them a share of t^(-1/c) remains.
    """
    usual = isinstance(settings.loss, Logistic) and settings.eta == 0.0
    if not usual or not CURVATURES.low <= settings.curvature <= CURVATURES.high:
        return None
    count = int(state.counts[1])
    inverse = state.inverse[:count, :count]
    found = settings.learning_rate * np.diagonal(inverse) / (2.0 - settings.curvature)
    pulled = np.abs(inverse @ state.weight[:count])  # towards 0, by alpha I
    errors = np.where(pulled <= PULLED * np.sqrt(found), found + state.moved[:count] ** 2, np.nan)
    return np.where(state.place > 0, np.append(errors, np.nan)[state.place - 1], np.nan)


swap_classes = negating("weight", "moved")
renumber = with_places_moved


def fade(state: State, kept: float, settings: Settings) -> None:
    """Decay what gradients have added to A."""
    count = int(state.counts[1])
    state.inverse[:count, :count] = faded_covariance(state.inverse[:count, :count], kept, 1.0)
    state.counts[0] = int(kept * state.counts[0])


def _sums(state: State) -> tuple[np.ndarray, np.ndarray]:
    """alpha A - I (d, d), and alpha A times w and times b (d, 2), of all slots, in their own order."""
    slots = np.flatnonzero(state.place)
    here, place = np.ix_(slots, slots), state.place[slots] - 1
    metric, pull = np.zeros((len(state.place), len(state.place))), np.zeros((len(state.place), 2))
    metric[here] = np.linalg.inv(state.inverse[np.ix_(place, place)])
    pull[slots] = metric[here] @ np.column_stack([state.weight[place], state.moved[place]])
    metric[slots, slots] -= 1.0
    return metric, pull


gains = metric_gains(_sums)


def onto(base: State, gains: Gains, settings: Settings) -> State:
    """The state of a base and of what workers have learnt beyond it; A of the base counts once."""
    dimension = len(base.place)
    merged = init(dimension, settings)
    slots = np.flatnonzero((base.place > 0) | (gains["placed"].values > 0))
    size = len(slots)
    merged.place[slots] = np.arange(1, size + 1)
    merged.counts[:] = base.counts[0] + gains["examples"][0], size
    metric, pull = _sums(base)
    metric += dense(gains["metric"], dimension)
    merged.inverse[:size, :size] = np.linalg.inv(np.eye(size) + metric[np.ix_(slots, slots)])
    moves = merged.inverse[:size, :size] @ (pull + gains["pull"])[slots]
    merged.weight[:size], merged.moved[:size] = moves.T
    return merged
