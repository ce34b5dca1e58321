"""Bounds of theorems on the regret of learners against fixed weights, where their assumptions hold.

They are computed from the gradients g and, of AdaGrad, the weights of the run itself:

- AdaGrad, Duchi, Hazan & Singer (2011), "Adaptive Subgradient Methods", JMLR 12, Theorem 5: with d the damping, e the
  learning rate, S the sum over coordinates of |g_{1:T,i}|_2 and w_t the weights before example t,
      d |u|^2 / e + max_t |u - w_t|_inf^2 S / (2 e) + e S
  for mirror descent, and d |u|^2 / e + |u|_inf^2 S / e + e S for dual averaging, if d is no less than any |g_t|_inf;
- online Newton, Luo, Agarwal, Cesa-Bianchi & Langford (2016), Theorem 2, if the curvature and the bound on predictions
  are as Assumptions 1 and 2 want them (`learners/newton/theory.py`), and the predictions of u are within that bound.

Both hold for all such weights u, and those with the least loss may be huge. So the bound is the least, over the best
weights and the best with ridges, of that on the regret against u and what the loss of u is above the least. For online
Newton u is made smaller until its predictions are within the bound on them.
"""

from __future__ import annotations

from math import inf, isfinite, log1p
from typing import Any, NamedTuple

import numpy as np

from ouzel.comparison.hindsight import Fixed, evaluate
from ouzel.kernels.jit import kernel
from ouzel.learners.newton.theory import curvature_of, lipschitz_of
from ouzel.terms.bounds import projects
from ouzel.terms.losses import REGRESSION
from ouzel.terms.penalties.l1_and_l2 import applies

ADAGRAD = "Duchi, Hazan & Singer (2011), Theorem 5"
NEWTON = "Luo, Agarwal, Cesa-Bianchi & Langford (2016), Theorem 2"
THEOREMS = {"adagrad": ADAGRAD, "adagrad-rda": ADAGRAD, "ons": NEWTON}
ROUNDING = 1.0 + 1e-9


class Examples(NamedTuple):
    """The examples of a stream as a learner sees them."""

    matrix: Any  # (n, d) a SciPy sparse array in rows
    targets: np.ndarray  # (n,) numbers, or classes -1 and +1
    importances: np.ndarray  # (n,) float64

    def first(self, stop: int) -> Examples:
        """The examples before `stop`."""
        return Examples(self.matrix[:stop], self.targets[:stop], self.importances[:stop])


def within_bound(model: Any, examples: Examples, fixed: Fixed) -> tuple[np.ndarray, float]:
    """Fixed weights and their loss; of online Newton smaller ones if their predictions are beyond its bound on them."""
    predictions = examples.matrix @ fixed.weights if model.learner.name == "ons" else np.empty(0)
    furthest = float(np.abs(predictions).max(initial=0.0))
    if furthest <= getattr(model.settings, "largest", inf):
        return fixed.weights, fixed.loss
    part = model.settings.largest / furthest
    rest = examples.targets, examples.importances, np.empty(0)
    return part * fixed.weights, float(evaluate(model.loss, part * predictions, *rest))


def bound_of(model: Any, examples: Examples, margins: np.ndarray, best: np.ndarray) -> float | None:
    """Return the bound of a theorem on a model's regret against weights `best` (d,); None where none is known to hold.

    `margins` (n,) are what the model predicted of each example before it learnt it.
    """
    name, settings = model.learner.name, model.settings
    as_given = not (model.preparation.scales or model.forget or getattr(model.task, "scale_targets", False))
    if name not in THEOREMS or not as_given or model.class_weight is not None or len(margins) < len(examples.targets):
        return None
    slopes = np.empty(len(margins))
    evaluate(settings.loss, margins, examples.targets, examples.importances, slopes)
    if name == "ons":
        return _of_newton(settings, examples, slopes, best)
    if applies(settings.penalty):
        return None
    columns = examples.matrix.tocsc()
    parts = columns.indptr, columns.indices, columns.data
    size, reach, largest = _of_trajectory(*parts, slopes, best, settings.learning_rate, settings.damping)
    half = 0.5
    if name == "adagrad-rda":
        if settings.damping < largest:
            return None
        half, reach = 1.0, float(np.abs(best).max(initial=0.0))
    rate = settings.learning_rate
    return float(settings.damping / rate * (best @ best) + half / rate * reach**2 * size + rate * size)


def _of_newton(settings: Any, examples: Examples, slopes: np.ndarray, best: np.ndarray) -> float | None:
    """The bound of Theorem 2 of Luo et al. (2016), if Assumptions 1 and 2 hold."""
    C, loss = settings.largest, settings.loss
    ones = bool((examples.importances == 1.0).all())
    if not (projects(settings.bound) and ones and isfinite(C)):
        return None
    if np.abs(examples.matrix @ best).max() > C * ROUNDING:
        return None
    if isinstance(loss, REGRESSION) and np.abs(examples.targets).max() > C:
        return None
    if settings.curvature > curvature_of(loss, C) * ROUNDING:
        return None
    (rows, d), alpha = examples.matrix.shape, 1.0 / settings.learning_rate
    etas = settings.eta / np.sqrt(np.arange(1.0, rows + 1.0))
    least = settings.curvature + etas[-1]
    if least == 0.0:
        return None
    squares = float(slopes**2 @ examples.matrix.power(2).sum(axis=1))
    spread = 2.0 * (C * lipschitz_of(loss, C)) ** 2 * etas.sum()
    return float(0.5 * alpha * (best @ best) + spread + d / (2.0 * least) * log1p(least * squares / (d * alpha)))


@kernel
def _of_trajectory(starts, rows, values, slopes, best, rate, damping):
    """Return the sum of |g_{1:T,j}|_2, the largest |best_j - w_{t,j}| of AdaGrad, and the largest |g_{t,j}|."""
    size, reach, largest = 0.0, 0.0, 0.0
    for j in range(len(starts) - 1):
        weight, squares = 0.0, 0.0
        reach = max(reach, abs(best[j]))
        for k in range(starts[j], starts[j + 1]):
            gradient = slopes[rows[k]] * values[k]
            if gradient != 0.0:
                squares += gradient * gradient
                weight -= rate / (damping + np.sqrt(squares)) * gradient
                reach = max(reach, abs(best[j] - weight))
                largest = max(largest, abs(gradient))
        size += np.sqrt(squares)
    return size, reach, largest
