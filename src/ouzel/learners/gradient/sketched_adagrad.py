"""Full-matrix AdaGrad from a sketch of the gradients, S-AdaGrad.

Feinberg, Chen, Sun, Anil & Hazan (2023), "Sketchy: Memory-efficient Adaptive Regularization with Frequent Directions",
Algorithm 2. With G the sum of g g' of all gradients as Frequent Directions have it, m directions, and rho what has
escaped them,
    w <- w - learning_rate (G + rho I)^-1/2 g.
rho begins as `first_square`. An example of s non-zeros costs O(m^2 + m s). The loop, features scaled by their
gradients if `diagonal`, and the projection in the norm of the matrix are those of `newton.sketched`; `curvature` 1
and `eta` 0 make gradients what is sketched. `dual_averaging` is another rule (`sketched_adagrad_dual`).
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from ouzel.learners.newton import sketched_fd
from ouzel.learners.newton.sketched import Settings, State, by_sketch
from ouzel.sketches.spectral import adagrad_directions

globals().update(by_sketch(adagrad_directions, __name__)._asdict())


def module_for(task: str, loss: Any, settings: Any = None) -> Any:
    """The module that learns by these settings: another one for dual averaging."""
    dual = settings is not None and settings.dual_averaging
    return importlib.import_module(f"{__name__}_dual" if dual else __name__)


def condition_number(state: State, settings: Settings) -> float:
    """Condition number of (G + rho I)^1/2."""
    own = state.sketch
    top = adagrad_directions.eigenvalues(own).max(initial=0.0) * max(own.counts[0], 1.0)
    return float(np.sqrt(1.0 + top / own.escaped[0]))


def fade(state: State, kept: float, settings: Settings) -> None:
    """Decay the sketch and rho, no further than to where it began; weights of the features as they are stay."""
    adagrad_directions.settle(state.sketch)
    sketched_fd.fade(state, kept, settings)
    state.sketch.pending[...] *= kept  # of no directions, whose epoch has no end
    state.sketch.escaped[...] = np.maximum(kept * state.sketch.escaped, settings.first_square)
