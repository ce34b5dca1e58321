"""Sketched online Newton, whatever the sketch.

Luo, Agarwal, Cesa-Bianchi & Langford (2016), "Efficient Second Order Online Learning by Sketching", Algorithm 1. With
h = sqrt(curvature + eta / sqrt(t)) g, g the gradient, and A = alpha I + S'S,
    sketch h in S,    w <- w - A^-1 g,
and before that, if the weights are to be projected (Lemma 1), w <- w - (w'x - clip(w'x, -C, C)) A^-1 x / (x' A^-1 x).
The sketch keeps w and S such that an example changes its own slots only (`sketches.spectral.protocol`), and x is as
`scaled_features` has it. Sketch size 0 is online gradient descent.
"""

from __future__ import annotations

from math import inf
from types import ModuleType
from typing import Annotated, Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline, inline_source, kernel_of
from ouzel.kernels.simd import fetch_ahead
from ouzel.kernels.vectors import dot
from ouzel.layout import copied, float32, float64, made_from
from ouzel.learners.gains.parts import Gains
from ouzel.learners.limits import LIMIT, learnable
from ouzel.learners.loops import learning_in, predicting_in
from ouzel.learners.newton import sketched_gains
from ouzel.learners.newton.scaled_features import adapt, first_scale, is_normalised, measure, view
from ouzel.learners.newton.sketched_gains import scales_of
from ouzel.learners.newton.theory import from_theorem
from ouzel.learners.shared_settings import Bound, Curvature, Eta, FromTheory, Largest, Loss, Rate, SketchSeed
from ouzel.ranges import DIRECTIONS, SWITCH, Range
from ouzel.sketches.spectral.low_rank_table import square_of
from ouzel.sketches.spectral.protocol import settled
from ouzel.terms.bounds import Clip, projects
from ouzel.terms.losses import Logistic, derivative
from ouzel.terms.starts import Random

Size = Annotated[float, DIRECTIONS, "m, directions that the sketch keeps"]
FirstSquare = Annotated[float, Range(1e-12, 1e12), "D of a feature before its first gradient (section 5.2)"]


class Settings(NamedTuple):
    loss: Loss = Logistic()
    sketch_size: Size = 10.0
    learning_rate: Annotated[Rate, "step size beyond the sketch, 1 / alpha"] = 4.0
    curvature: Curvature = 0.25
    eta: Eta = 0.0
    sketch_every: Annotated[
        float,
        Range(1.0, 1e9, whole=True),
        "gradients between two updates of Oja's directions; more than 1 is slower here",
    ] = 1.0
    diagonal: Annotated[bool, SWITCH, "scale features by their gradients"] = True
    normalised: Annotated[bool, SWITCH, "with `diagonal`: as D^-1/4 x / largest; otherwise D^-1/2 x (section 5.2)"] = (
        True
    )
    first_square: FirstSquare = 0.1
    earlier: Annotated[bool, SWITCH, "with `diagonal`: D of earlier gradients only, as printed"] = False
    bound: Bound = Clip()
    largest: Largest = inf
    gamma: Annotated[float, Range(1e-6, 1e3), "of Oja's sketch: c of its steps c / P_i, or c / t"] = 1.0
    by_mass: Annotated[bool, SWITCH, "steps c / P_i, each direction its own; otherwise c / t"] = True
    start: Annotated[Any, "where Oja's directions begin"] = Random()
    sketch_seed: SketchSeed = 0.0
    from_theory: FromTheory = False
    robust: Annotated[
        bool, SWITCH, "of Frequent Directions: add half of what they take off each eigenvalue to alpha (RFD-SON)"
    ] = False
    dual_averaging: Annotated[
        bool, SWITCH, "of `sketched-adagrad`: step from 0 by the sum of gradients, in the current metric (FTSL)"
    ] = False

    def completed(self) -> Any:
        """With sigma and eta of Theorem 3, if asked for."""
        return from_theorem(self, max(self.sketch_size, 1.0)) if self.from_theory else self


class State(NamedTuple):
    sketch: Any  # the sketch's own: u, what S is kept as, and the scale of each slot
    largest: np.ndarray  # (d,) float32  n, the largest size of each slot's values; (0,) if not normalised
    lengths: np.ndarray  # (2,) float64  t and N of `scaled_features`


class Work(NamedTuple):
    """Room to work in."""

    scaled: np.ndarray  # (non-zeros,)  x as the sketch sees it
    scales: np.ndarray  # (non-zeros,)  of its slots
    largest: np.ndarray  # (non-zeros,)  n of its slots
    parts: np.ndarray  # (non-zeros,)  x / n
    sketch: Any  # the sketch's own


class Functions(NamedTuple):
    """What a learner's module has of `by_sketch`, by these names."""

    State: Any
    Settings: Any
    layout: Any
    init: Any
    grow: Any
    check: Any
    learn_row: Any
    learn_rows: Any
    predict_row: Any
    predict_rows: Any
    weights: Any
    eigenvalues: Any
    directions: Any
    condition_number: Any
    swap_classes: Any
    largest_sizes: Any
    gains: Any
    onto: Any


@force_inline
def look_ahead(state, indices):
    """Have the rows of the next example fetched while one is learnt."""
    fetch_ahead(state.sketch.table, indices)
    fetch_ahead(state.largest.reshape(-1, 1), indices if len(state.largest) else indices[:0])


@force_inline
def sketch_scale(slope, rounds, settings):
    """The slope of what is sketched, sqrt(sigma + eta_t) g."""
    return slope * np.sqrt(settings.curvature + settings.eta / np.sqrt(rounds))


@force_inline
def clip(margin, settings):
    """The margin, cut to [-C, C]."""
    return min(max(margin, -settings.largest), settings.largest)


@force_inline
def constant_rate(sketch, rate):
    """1 / alpha, for sketches that leave alpha as it was set."""
    return rate


def _rate_of(sketch: ModuleType | Any) -> Any:
    """The kernel that returns a sketch's current 1 / alpha."""
    return getattr(sketch, "rate_of", constant_rate)


def _projecting(sketch: ModuleType | Any, home: str) -> Any:
    """What projects weights by a sketch."""
    apply, look_up, reduction, rate_of = sketch.apply, sketch.look_up, sketch.reduction, _rate_of(sketch)

    @kernel_of(home)
    def project(state, indices, settings, work):
        """Move weights to where the x in view is predicted within [-C, C] (Lemma 1)."""
        sketch, x = state.sketch, work.scaled
        look_up(sketch, indices, x, work.sketch)
        free = dot(work.sketch.projected, sketch.coefficients)
        square = square_of(x, len(indices))
        rate = rate_of(sketch, settings.learning_rate)
        inverse = square - reduction(sketch, rate, work.sketch)  # alpha x' A^-1 x
        if free != clip(free, settings) and learnable(0.0, square, free) and inverse > 0.0:
            apply(sketch, indices, x, (free - clip(free, settings)) / inverse, rate, work.sketch)

    return project


def _kernels(sketch: ModuleType | Any, home: str) -> tuple[Any, Any, Any, Any]:
    """How examples are learnt and predicted: one, and rows of them."""
    absorb, apply, look_up, margin_of = sketch.absorb, sketch.apply, sketch.look_up, sketch.margin_of
    welcome, room_of, project = sketch.welcome, sketch.make_room, _projecting(sketch, home)
    rate_of = _rate_of(sketch)

    @kernel_of(home)
    def make_room(state, nonzeros):
        """Room to work in for examples of up to so many non-zeros."""
        room = np.empty((4, nonzeros))
        return Work(room[0], room[1], room[2], room[3], room_of(state.sketch))

    @kernel_of(home, inline=True)
    def predict(state, indices, values, settings, work):
        view(state, indices, values, settings, work)
        return clip(margin_of(state.sketch, indices, work.scaled, work.sketch), settings)

    @kernel_of(home)
    def predict_one(state, indices, values, settings, work):
        return predict(state, indices, values, settings, work)

    @kernel_of(home, compile=inline_source)
    def learn(state, indices, values, target, importance, settings, work):
        sketch, x = state.sketch, work.scaled
        if importance == 0.0:
            return predict_one(state, indices, values, settings, work)
        new = view(state, indices, values, settings, work)
        look_up(sketch, indices, x, work.sketch)
        free = dot(work.sketch.projected, sketch.coefficients)
        margin = clip(free, settings)
        sketch.counts[0] += 1.0
        slope = importance * derivative(settings.loss, margin, target)
        if is_normalised(settings) and not square_of(values, len(indices)) < LIMIT:
            return margin  # or all that is usual would be nothing beside the largest
        if new > 0:
            welcome(sketch, indices, values, first_scale(settings))
        measure(state, indices, values, settings, work)
        if new > 0 or projects(settings.bound):
            view(state, indices, values, settings, work)
        square = square_of(x, len(indices))
        if learnable(slope, square, free):
            if projects(settings.bound):
                project(state, indices, settings, work)
            if slope != 0.0:
                if new > 0 or settings.diagonal:
                    adapt(state, indices, values, slope, settings, work)
                    square = square_of(x, len(indices))
                    look_up(sketch, indices, x, work.sketch)
                size = sketch_scale(slope, sketch.counts[0], settings)
                if size * size * square > 0.0:
                    before = rate_of(sketch, settings.learning_rate)
                    absorb(sketch, indices, x, size, square, before, settings, work.sketch)
                rate = rate_of(sketch, settings.learning_rate)
                apply(sketch, indices, x, slope * rate, rate, work.sketch)
        return margin

    return *learning_in(make_room, learn, look_ahead), *predicting_in(make_room, predict)


def by_sketch(sketch: ModuleType | Any, home: str) -> Functions:
    """Sketched online Newton by a sketch (see `sketches.spectral.protocol`), as the module named `home`."""

    def layout(dimension: int, settings: Settings) -> State:
        """What a state with room for `dimension` slots is made of."""
        slots = dimension if is_normalised(settings) else 0
        size = int(settings.sketch_size)
        return State(sketch.layout(dimension, size), float32(slots, least=0.0), float64(2, least=0.0))

    def begin(state: State, settings: Settings) -> None:
        sketch.begin(state.sketch, settings)

    layout.__module__ = home
    init, grow = made_from(layout, begin)

    def check(state: State, settings: Settings) -> None:
        """Refuse a state that contradicts itself."""
        sketch.check(state.sketch)

    def weights(state: State, settings: Settings) -> np.ndarray:
        """The weight of every slot, as it multiplies the example's own values."""
        own = settled(sketch, state.sketch)
        return (own.table @ own.coefficients) * scales_of(state, settings)

    def largest_sizes(state: State) -> np.ndarray:
        """The largest |value| (d,) of each feature, as which a larger one counts; of none if they are as they are."""
        return np.asarray(state.largest, float)

    def eigenvalues(state: State) -> np.ndarray:
        """Estimated eigenvalues (m,) of the mean outer product of what is sketched."""
        return sketch.eigenvalues(state.sketch)

    def directions(state: State) -> np.ndarray:
        """The eigenvectors (m, d) to `eigenvalues`."""
        return sketch.directions(state.sketch)

    def condition_number(state: State, settings: Settings) -> float:
        """Condition number of the metric A that the sketch stands for."""
        top = sketch.eigenvalues(state.sketch).max(initial=0.0)
        rate = _rate_of(sketch)(state.sketch, settings.learning_rate)
        return float(1.0 + top * max(state.sketch.counts[0], 1.0) * rate)

    def swap_classes(state: State) -> State:
        """The state that exchanged classes would have led to: w changes its sign, what is sketched does not."""
        copy = copied(state)
        sketch.swap_sign(copy.sketch)
        return copy

    @sketched_gains.MET.gains
    def gains(base: State, state: State, settings: Settings) -> Gains:
        """What a worker has learnt beyond its base; see `sketched_gains`."""
        before, after = weights(base, settings), weights(state, settings)
        return sketched_gains.gains(sketch, base, state, before, after, settings)

    @sketched_gains.MET.onto
    def onto(base: State, gains: Gains, settings: Settings) -> State:
        """The state of a base and of what workers have learnt beyond it; see `sketched_gains`."""
        return sketched_gains.onto(sketch, base, gains, weights(base, settings), settings)

    return Functions(
        State, Settings, layout, init, grow, check, *_kernels(sketch, home),
        weights, eigenvalues, directions, condition_number, swap_classes, largest_sizes, gains, onto,
    )  # fmt: skip
