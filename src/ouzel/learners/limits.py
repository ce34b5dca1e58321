"""What is too large to learn: one rule for every learner.

Values, targets and importances may be any finite numbers of single precision; products and squares of them need not be.
- A margin is a number: where single precision overflows, the sum is taken again in double (`margin_of`).
- An example is predicted but not learnt where its squared length, its slope, its margin or the step it asks for passes
  LIMIT (`learnable`, `is_sound`): whatever a few of those are multiplied to, a state can hold.
- A feature is left out of an example's step where its gradient has no square in single precision, from 1.8e19 on
  (`reach_of`), and of sums of squares, whose roots are divided by, also where that square is 0 (`has_square`).
So no state holds NaN or infinity, and learning goes on after a row of the largest numbers with the wrong label.
"""

from __future__ import annotations

from math import isfinite, sqrt

import numpy as np

from ouzel.kernels.jit import force_inline

LIMIT = 1e30  # of a squared length, a slope, a margin
LARGEST_SQUARE = float(np.finfo(np.float32).max)  # of the gradient of a feature
ROOT_OF_LARGEST = sqrt(LARGEST_SQUARE)
LARGEST = 1e18  # of a weight that is moved by plain steps: a stream that has diverged keeps predicting numbers


@force_inline
def bounded(weight):
    """The weight, kept within plus and minus LARGEST; infinity included, not NaN."""
    return min(max(weight, -LARGEST), LARGEST)


@force_inline
def bound_all(weights):
    """Keep each of the weights (d,) within plus and minus LARGEST."""
    for j in range(len(weights)):
        weights[j] = bounded(weights[j])


@force_inline
def learnable(slope, square, margin):
    """Whether an example's numbers are small enough for what follows to stay finite."""
    return abs(slope) < LIMIT and square < LIMIT and abs(margin) < LIMIT


@force_inline
def is_sound(step, square):
    """Whether to step x so far, `square` being x'x: a step that is not 0, and none too long for single precision."""
    return step != 0.0 and isfinite(step) and square < LIMIT and step * step * square < LIMIT


@force_inline
def reach_of(slope):
    """Values below this, times the slope (not 0), have a square in single precision: 0 where nothing has one."""
    return ROOT_OF_LARGEST / abs(slope)


@force_inline
def has_square(gradient):
    """Whether a gradient (float64) has a square to add to a sum, the root of which is then above 0."""
    return 0.0 < gradient * gradient <= LARGEST_SQUARE


@force_inline
def margin_of(weight, indices, values):
    """w'x, of weights (d,) in single precision: finite for any finite numbers."""
    margin = 0.0
    for k in range(len(indices)):
        margin += values[k] * weight[indices[k]]
    if not isfinite(margin):
        margin = 0.0
        for k in range(len(indices)):
            margin += np.float64(values[k]) * weight[indices[k]]
    return margin
