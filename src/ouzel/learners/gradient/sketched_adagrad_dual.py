"""Full-matrix AdaGrad from a sketch by dual averaging, Follow the Sketchy Leader (FTSL).

Yang et al. (2025), "Dimension-Free Adaptive Subgradient Methods with Frequent Directions", ICML. With S'S the sum of
g g' of all gradients as Frequent Directions have it, m directions, and rho the sum of what those took off eigenvalues,
    w = -learning_rate H^-1 (sum of g),    H = delta I + (S'S + rho I)^1/2.
delta is the root of `first_square`, so that H begins as that of `sketched_adagrad`, which has the rest.
"""

from __future__ import annotations

import numpy as np

from ouzel.learners.newton import sketched_fd
from ouzel.learners.newton.sketched import Settings, State, by_sketch
from ouzel.learners.newton.sketched_gains import have_weights
from ouzel.sketches.spectral import dual_averaging_directions

_FUNCTIONS = by_sketch(dual_averaging_directions, __name__)
globals().update(_FUNCTIONS._asdict())


def condition_number(state: State, settings: Settings) -> float:
    """Condition number of H."""
    own = state.sketch
    top = dual_averaging_directions.eigenvalues(own).max(initial=0.0) * max(own.counts[0], 1.0)
    delta, rho = float(own.damping[0]), float(own.escaped[0])
    return float((delta + np.sqrt(top + rho)) / (delta + np.sqrt(rho)))


def fade(state: State, kept: float, settings: Settings) -> None:
    """Decay the sketch and rho; weights of the features as they are stay."""
    before = _FUNCTIONS.weights(state, settings)
    dual_averaging_directions.settle(state.sketch)
    sketched_fd.fade(state, kept, settings)
    state.sketch.escaped[...] *= kept
    state.sketch.pending[...] *= kept  # of no directions, whose epoch has no end
    have_weights(dual_averaging_directions, state, before, settings)
