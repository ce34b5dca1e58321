"""Online Newton that no invertible change of features' coordinates changes.

Luo, Agarwal, Cesa-Bianchi & Langford (2016), Appendix D and Lemma 2: alpha = 0, and the pseudo-inverse of
A = sum of (curvature + eta / sqrt(t)) g g' in place of its inverse. Learning x or M x leads to the same predictions.
With Q an orthonormal basis of the range of A, and c = Q x, A = Q' B Q and w = Q' v are kept as B^-1 and v:
  x in the range: before a prediction, if projected,
    v <- v - (v'c - clip(v'c, -C, C)) B^-1 c / (c' B^-1 c),
  and then with s = (curvature + eta / sqrt(t)) slope^2
    B <- B + s c c',    v <- v - slope B^-1 c.
  x not in the range: of the optimal points that with w'x = 0 is taken, for w'x is not determined by the past (the
  lemma's own makes predictions depend on coordinates). If the gradient is not 0, Q gains the rest of x beyond the
  range, of length r, and
    B^-1 <- [B^-1, -B^-1 c / r; ., (1 / s + c' B^-1 c) / r^2],    w'x = -slope / s.
An example costs the square of the number of slots seen so far, memory is twice the square of the room for them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ouzel.errors import OuzelError
from ouzel.kernels.jit import kernel
from ouzel.layout import MOST_COUNT, check_places, float64, int64, made_from, require
from ouzel.learners.gains.metrics import metric_gains
from ouzel.learners.gains.parts import Gains, dense
from ouzel.learners.limits import learnable
from ouzel.learners.loops import learning_margins, predicting_margins
from ouzel.learners.newton.online_newton import check_room, clip, placed
from ouzel.learners.newton.theory import from_theorem
from ouzel.learners.shared_settings import Bound, Curvature, Eta, Features, FromTheory, Largest, Loss
from ouzel.learners.states import negating, with_places_moved
from ouzel.terms.bounds import Project, projects
from ouzel.terms.losses import Logistic, derivative

OUTSIDE = 1e-8  # of its length that an example has beyond the range to count as outside it
RANK = 2  # in counts
MOST_SHRUNK = 1e12  # c' B^-1 c is divided by no more at once, lest rounding leaves 0 or less
LARGEST_INVERSE = 1e200  # of squares of the smallest numbers, many times over


class State(NamedTuple):
    place: np.ndarray  # (d,) int64  1 + where a slot lies in what follows, 0 while it has not been seen
    basis: np.ndarray  # (d, d) float64  Q, the first rows of it
    weight: np.ndarray  # (d,) float64  v
    inverse: np.ndarray  # (d, d) float64  B^-1
    counts: np.ndarray  # (3,) int64  t, slots placed, rank


class Settings(NamedTuple):
    loss: Loss = Logistic()
    curvature: Curvature = 0.25
    eta: Eta = 0.0
    bound: Bound = Project()
    largest: Largest = 10.0
    from_theory: FromTheory = False
    features: Features = 100.0

    def completed(self) -> Any:
        """With sigma and eta of Theorem 2, if asked for."""
        return from_theorem(self, self.features) if self.from_theory else self


def layout(dimension: int, settings: Settings) -> State:
    """What a state with room for `dimension` slots is made of."""
    check_room(dimension, "ons-invariant")
    if not settings.curvature + settings.eta > 0.0:
        raise OuzelError(
            f"ons-invariant needs curvature or eta above 0; got {settings.curvature:g} and {settings.eta:g}"
        )
    return State(
        place=int64(dimension, most=dimension),
        basis=float64(dimension, dimension),
        weight=float64(dimension),
        inverse=float64(dimension, dimension, least=-LARGEST_INVERSE, most=LARGEST_INVERSE),
        counts=int64(3, most=(MOST_COUNT, dimension, dimension)),
    )


init, grow = made_from(layout)


def check(state: State, settings: Settings) -> None:
    """Refuse slots that do not lie one to a place, and more directions than slots."""
    check_places(state.place, int(state.counts[1]), "places")
    require(state.counts[RANK] <= state.counts[1], "counts have more directions than slots")


@kernel
def parts(state, indices, values):
    """c = Q x (rank,), the rest of x beyond the range (slots placed,), its length, and the length of x."""
    count, rank = state.counts[1], state.counts[RANK]
    rest, along = np.zeros(count), np.zeros(rank)
    for k in range(len(indices)):
        place = state.place[indices[k]]
        if place > 0:
            rest[place - 1] += values[k]
    whole = np.sqrt(np.sum(rest * rest))
    for _ in range(2):  # once is not enough where little is left
        for i in range(rank):
            part = np.sum(state.basis[i, :count] * rest)
            along[i] += part
            rest -= part * state.basis[i, :count]
    return along, rest, np.sqrt(np.sum(rest * rest)), whole


@kernel
def learn_row(state, indices, values, target, importance, settings):
    """Learn one example in place; return the margin predicted before learning."""
    if importance == 0.0:
        return predict_row(state, indices, values, settings)
    count = placed(state, indices, values)
    along, rest, beyond, whole = parts(state, indices, values)
    rank = len(along)
    inside = rank == count or not beyond > OUTSIDE * whole
    weight = state.weight[:rank]
    free = np.sum(weight * along) if inside else 0.0
    margin = clip(free, settings)
    state.counts[0] += 1
    slope = importance * derivative(settings.loss, margin, target)
    if not learnable(slope, whole, free) or whole == 0.0:
        return margin
    inverse = state.inverse[:rank, :rank]
    solved = np.zeros(rank)  # B^-1 c
    for i in range(rank):
        solved[i] = np.sum(inverse[i] * along)
    square = max(np.sum(solved * along), 0.0)
    size = (settings.curvature + settings.eta / np.sqrt(state.counts[0])) * slope * slope
    if inside:
        if projects(settings.bound) and free != margin and square > 0.0:
            weight -= (free - margin) / square * solved
        shrink, sound = 1.0 + size * square, True
        weight -= slope / shrink * solved
        part = size / shrink if size * square < MOST_SHRUNK else (1.0 - 1.0 / MOST_SHRUNK) / square
        for i in range(rank):  # rounding must not take the diagonal to 0 or below
            sound &= part * solved[i] * solved[i] < inverse[i, i]
        for i in range(rank if sound else 0):
            inverse[i] -= part * solved[i] * solved
    elif size > 0.0:
        state.basis[rank, :count] = rest / beyond
        state.weight[rank] = -(np.sum(weight * along) + slope / size) / beyond
        state.inverse[rank, :rank] = -solved / beyond
        state.inverse[:rank, rank] = -solved / beyond
        state.inverse[rank, rank] = (1.0 / size + square) / beyond**2
        state.counts[RANK] += 1
    return margin


learn_rows = learning_margins(learn_row)


@kernel
def predict_row(state, indices, values, settings):
    """The margin of one example, clipped to the largest allowed; 0 outside the range of what has been learnt.

    A constant that was never learnt (slot 0; pairs to rank have none) says nothing of the range.
    """
    for k in range(len(indices)):
        if state.place[indices[k]] == 0 and values[k] != 0.0 and indices[k] != 0:
            return 0.0
    along, _, beyond, whole = parts(state, indices, values)
    if len(along) < state.counts[1] and beyond > OUTSIDE * whole:
        return 0.0
    return clip(np.sum(state.weight[: len(along)] * along), settings)


predict_rows = predicting_margins(predict_row)


def weights(state: State, settings: Settings) -> np.ndarray:
    """The weight of every slot."""
    rank = int(state.counts[RANK])
    placed_weights = state.weight[:rank] @ state.basis[:rank]
    return np.where(state.place > 0, placed_weights[state.place - 1], 0.0)


swap_classes = negating("weight")
renumber = with_places_moved


def fade(state: State, kept: float, settings: Settings) -> None:
    """Decay B, which has no prior."""
    state.inverse[...] /= kept
    state.counts[0] = int(kept * state.counts[0])


def _solved(merged: State, metric: np.ndarray, pull: np.ndarray, examples: int) -> State:
    """Fill in a state whose slots have their places, from A (n, n) and A w (n,)."""
    squares, vectors = np.linalg.eigh(metric)
    kept = squares > OUTSIDE**2 * squares.max(initial=0.0)
    rank = int(kept.sum())
    merged.basis[:rank, : len(metric)] = vectors[:, kept].T
    merged.weight[:rank] = vectors[:, kept].T @ pull / squares[kept]
    merged.inverse[:rank, :rank] = np.diag(1.0 / squares[kept])
    merged.counts[:] = examples, len(metric), rank
    return merged


def _sums(state: State) -> tuple[np.ndarray, np.ndarray]:
    """A (d, d) and A w (d,) of all slots, in their own order."""
    slots, rank = np.flatnonzero(state.place), int(state.counts[RANK])
    metric, pull = np.zeros((len(state.place), len(state.place))), np.zeros(len(state.place))
    basis = state.basis[:rank, state.place[slots] - 1]
    inner = np.linalg.inv(state.inverse[:rank, :rank])
    metric[np.ix_(slots, slots)] = basis.T @ inner @ basis
    pull[slots] = basis.T @ (inner @ state.weight[:rank])
    return metric, pull


gains = metric_gains(_sums)


def onto(base: State, gains: Gains, settings: Settings) -> State:
    """The state of a base and of what workers have learnt beyond it; A of the base counts once."""
    merged = init(len(base.place), settings)
    slots = np.flatnonzero((base.place > 0) | (gains["placed"].values > 0))
    merged.place[slots] = np.arange(1, len(slots) + 1)
    metric, pull = _sums(base)
    metric += dense(gains["metric"], len(metric))
    examples = int(base.counts[0] + gains["examples"][0])
    return _solved(merged, metric[np.ix_(slots, slots)], (pull + gains["pull"])[slots], examples)
