"""Numbers to predict in any unit: a learner of them sees them centred and scaled as the stream goes.

With the weighted mean and standard deviation of the targets before an example (m, s), and s' with it counted (Welford,
1962, "Note on a Method for Calculating Corrected Sums of Squares and Products", Technometrics 4), the learner inside is
taught z = (y - m) / s' and predicts f; the prediction is m + s f. Its weights are in units of s: they follow what m and
s tend to, and nothing is rescaled as these move. The first example teaches the mean alone. Settings that speak of
predictions or weights (a bound, a penalty) speak of them in these units. A target far outside of what has been seen
counts, and is learnt, as m + 3 s or m - 3 s, by the rule for dense features (`auto/outliers.py`): one wrong target does
not set the unit of all others.

Without an intercept nothing is centred: m stays 0, and s is the root of the mean square.
"""

from __future__ import annotations

import functools
from math import inf, isfinite, sqrt
from typing import Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline, kernel, kernel_of
from ouzel.layout import MOST_NUMBER, float64, require
from ouzel.learners.auto import outliers
from ouzel.learners.gains.parts import Gains, Peak
from ouzel.learners.rows import Rows

WEIGHT, MEAN, SQUARES, CENTRED, RECORD = range(5)  # places of `targets`
TINY = 1e-300
SAME = 1e-20  # part of the mean's square below which targets differ by rounding alone
NUMBERS, BOUND = RECORD + outliers.NUMBERS, RECORD + outliers.WINDOW + outliers.BOUND


class State(NamedTuple):
    learner: Any  # the state of the learner inside
    targets: np.ndarray  # (10,) float64  weight of examples, mean, sum of squared deviations, is it centred; a record


@force_inline
def unit_of(targets):
    """Mean and standard deviation of the targets so far; 0 and 1 of none, 1 if all are the same."""
    weight, mean, squares = targets[WEIGHT], targets[MEAN], targets[SQUARES]
    return mean, sqrt(squares / weight) if squares > SAME * mean * mean * weight else 1.0


@force_inline
def scaled(targets, target, importance):
    """Count a target; what the learner inside is taught."""
    before, mean, gap = targets[WEIGHT], targets[MEAN], target - targets[MEAN]
    weight, centred = before + importance, targets[CENTRED] > 0.0
    part = importance / weight if weight > 0.0 else 0.0
    squares = _squares(targets, gap, importance, part)
    if not (part > 0.0 and isfinite(squares) and isfinite(weight)):
        return gap / unit_of(targets)[1]
    sound = targets[SQUARES] > SAME * mean * mean * before
    gap = outliers.counted_gap(targets[RECORD:], target, gap, targets[SQUARES] / max(before, TINY), sound)
    squares = _squares(targets, gap, importance, part)
    variance = squares / weight
    mean, changed = outliers.reviewed_numbers(targets[RECORD:], mean + part * gap if centred else 0.0, variance)
    if changed != variance and isfinite(changed * weight):
        squares, most = (changed if centred else changed + mean * mean) * weight, outliers.COUNTS_AS * sqrt(changed)
        gap = min(max(target - mean, -most), most) if centred else gap
    targets[WEIGHT], targets[SQUARES] = weight, squares
    if centred:
        targets[MEAN] = mean
        if before == 0.0:
            return 0.0
    return gap / unit_of(targets)[1]


@force_inline
def _squares(targets, gap, importance, part):
    """The sum of squared deviations with one more."""
    return targets[SQUARES] + importance * gap * gap * ((1.0 - part) if targets[CENTRED] > 0.0 else 1.0)


@kernel
def scale_block(targets, numbers, importances, taught, means, spreads):
    """Count a block of targets; what is taught of each, and the mean and spread (n,) before it."""
    for i in range(len(numbers)):
        means[i], spreads[i] = unit_of(targets)
        taught[i] = scaled(targets, numbers[i], np.float64(importances[i]))


def _sums(targets: np.ndarray, origin: float) -> np.ndarray:
    """The weight of targets y, the sums of y - m and of its square, and how many they are."""
    weight, mean, squares = targets[:CENTRED]
    return np.array([weight, weight * (mean - origin), squares + weight * (mean - origin) ** 2, targets[NUMBERS]])


class TargetScaling:
    """A learner of numbers around another: what `learners.protocol` asks, as far as the other has it."""

    def __init__(self, learner: Any, centred: bool) -> None:
        self._learner = learner
        self._centred = centred
        learn, predict = learner.learn_row, learner.predict_row

        @kernel_of(learn)
        def learn_row(state, indices, values, target, importance, settings):
            """Learn one example in place; return the prediction made before learning."""
            mean, spread = unit_of(state.targets)
            taught = scaled(state.targets, target, np.float64(importance))
            return mean + spread * learn(state.learner, indices, values, taught, importance, settings)

        @kernel_of(predict)
        def predict_row(state, indices, values, settings):
            """The prediction for one example."""
            mean, spread = unit_of(state.targets)
            return mean + spread * predict(state.learner, indices, values, settings)

        self.learn_row, self.predict_row = learn_row, predict_row
        for name in ASKED:
            if hasattr(learner, name):
                setattr(self, name, _of_learner(getattr(learner, name)))
        if hasattr(learner, "BUDGETED"):
            self.BUDGETED = learner.BUDGETED
        for name in (*WEIGHED, "fade", "renumber"):
            if hasattr(learner, name):
                setattr(self, name, getattr(self, f"_{name}"))

    def layout(self, *sizes_and_settings: Any) -> State:
        """A `State` of descriptions in place of arrays."""
        least = (0.0, -inf, 0.0, 0.0, 0.0, 0.0, -inf, -inf, 0.0, 0.0)
        moments = float64(10, least=least, most=(inf, inf, inf, 1.0, *(inf,) * 6))
        return State(self._learner.layout(*sizes_and_settings), moments)

    def init(self, *sizes_and_settings: Any) -> State:
        """A state that has seen nothing."""
        return State(
            self._learner.init(*sizes_and_settings),
            np.array([0.0, 0.0, 0.0, float(self._centred), *outliers.of_numbers()]),
        )

    def grow(self, state: State, *sizes_and_settings: Any) -> State:
        """The same state with room for more."""
        return state._replace(learner=self._learner.grow(state.learner, *sizes_and_settings))

    def check(self, state: State, settings: Any) -> None:
        """Refuse moments that no targets have, and what the learner refuses of its own state."""
        weight, mean, squares = state.targets[:CENTRED].tolist()
        require(weight > 0.0 or mean == squares == 0.0, "targets have moments of no example")
        require(squares <= weight * MOST_NUMBER, "targets have no spread that could be said")
        if hasattr(self._learner, "check"):
            self._learner.check(state.learner, settings)

    def learn_rows(
        self, state: State, rows: Rows, targets: np.ndarray, importances: np.ndarray, settings: Any, out: np.ndarray
    ) -> None:
        """Learn a block; `out` (n,) takes the predictions made before learning each example."""
        taught, means, spreads = np.empty((3, len(targets)))
        scale_block(state.targets, targets, importances, taught, means, spreads)
        self._learner.learn_rows(state.learner, rows, taught, importances, settings, out)
        out *= spreads
        out += means

    def predict_rows(self, state: State, rows: Rows, settings: Any, out: np.ndarray) -> None:
        """Write the predictions (n,) for a block."""
        mean, spread = unit_of(state.targets)
        self._learner.predict_rows(state.learner, rows, settings, out)
        out *= spread
        out += mean

    def label_scale(self, state: State) -> tuple[float, float]:
        """Mean and standard deviation of the targets; 0 of too few or equal ones."""
        mean, spread = unit_of(state.targets)
        return mean, spread if state.targets[SQUARES] > SAME * mean * mean * state.targets[WEIGHT] else 0.0

    def gains(self, base: State, state: State, settings: Any) -> Gains:
        """What a worker has learnt beyond its base, and the sums of its targets, about the base's mean."""
        origin = base.targets[MEAN]
        inside = self._learner.gains(base.learner, state.learner, settings)
        sums = _sums(state.targets, origin) - _sums(base.targets, origin)
        return {"learner": inside, "targets": sums, "bound": Peak(state.targets[[BOUND]])}

    def onto(self, base: State, gains: Gains, settings: Any) -> State:
        """The state of a base and of what workers have learnt beyond it, each worker's weights in its own unit."""
        inside, targets = self._learner.onto(base.learner, gains["learner"], settings), base.targets.copy()
        weight, total, squares, numbers = _sums(base.targets, base.targets[MEAN]) + gains["targets"]
        if weight > 0.0:
            change = total / weight if targets[CENTRED] > 0.0 else 0.0
            targets[:CENTRED] = weight, targets[MEAN] + change, max(squares - weight * change**2, 0.0)
            targets[RECORD:] = outliers.of_numbers(numbers, max(base.targets[BOUND], gains["bound"].values[0]))
        return State(inside, targets)

    def _fade(self, state: State, kept: float, settings: Any) -> None:
        """Have the learner fade, and earlier targets count for less in their mean and spread."""
        self._learner.fade(state.learner, kept, settings)
        state.targets[[WEIGHT, SQUARES, NUMBERS]] *= kept

    def _renumber(self, state: State, places: np.ndarray) -> State:
        """The state in which slot k of this one is slot `places[k]`."""
        return state._replace(learner=self._learner.renumber(state.learner, places))

    def _weights(self, state: State, settings: Any) -> np.ndarray:
        """Weights (slots,) in the targets' unit; the constant's holds the mean."""
        mean, spread = unit_of(state.targets)
        found = np.asarray(self._learner.weights(state.learner, settings), np.float64) * spread
        found[0] += mean
        return found

    def _top(self, state: State, n: int, settings: Any) -> tuple[np.ndarray, np.ndarray]:
        """Slots (n,) and weights (n,) of the n heaviest in the targets' unit, by their weight in the learner's."""
        slots, weights = self._learner.top(state.learner, n, settings)
        mean, spread = unit_of(state.targets)
        return slots, weights * spread + mean * (slots == 0)

    def _estimates(self, state: State, slots: np.ndarray, settings: Any) -> np.ndarray:
        """Weights of given slots in the targets' unit."""
        mean, spread = unit_of(state.targets)
        return self._learner.estimates(state.learner, slots, settings) * spread + mean * (slots == 0)


ASKED = ("bytes_used", "members", "largest_sizes", "eigenvalues", "directions", "condition_number")
"""What is asked of the learner's own state."""
WEIGHED = ("weights", "top", "estimates")
"""What the learner tells in its own unit."""


def _of_learner(function: Any) -> Any:
    @functools.wraps(function)
    def ask(state: State, *arguments: Any) -> Any:
        return function(state.learner, *arguments)

    return ask


@functools.cache
def scaling_targets(learner: Any, centred: bool) -> TargetScaling:
    """A learner of numbers around a module of `learners/`."""
    return TargetScaling(learner, centred)
