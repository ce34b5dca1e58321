"""The best fixed weights in hindsight: the linear predictor of least total loss on examples that are all known.

L-BFGS (Liu & Nocedal, 1989, "On the Limited Memory BFGS Method for Large Scale Optimization", Mathematical Programming
45) minimises the sum of losses over weights of features that are divided by their largest value. Losses with a kink are
smoothed by their Moreau envelope first, ever less (Nesterov, 2005, "Smooth Minimization of Non-smooth Functions",
Mathematical Programming 103): with slopes s from `low` to `high` at the kink,
    l(r) = max_s s r,    l_width(r) = max_s s r - width s^2 / 2.

The minimum is sought over z, w = T z with T'HT = I, H the sum of x x' (its diagonal where features are many).

What is found is checked. A sum f of convex losses with gradient g at z is for all u no less than f(z) + g'(u - z), so
that no weights with a norm |u| up to `REACH` times |z| are better by more than REACH |z| |g| + g'z. With a ridge of
size r no weights at all are better by more than |g|^2 / (2 r), g by weights, as the sum is strongly convex then.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from ouzel.errors import OuzelError
from ouzel.kernels.jit import kernel
from ouzel.terms import losses
from ouzel.terms.losses import Absolute, Hinge, Logistic, Quantile, SmoothedHinge, Squared, SquaredHinge
from ouzel.terms.names import name_of

CONVEX = (Squared, Logistic, Hinge, SmoothedHinge, SquaredHinge, Absolute, Quantile)
KINKED = (Hinge, Absolute, Quantile)
REACH = 10.0  # times the norm of the weights found, within which none may be better
CLOSE = 2e-4  # part of the loss of weights 0 by which others may be better
RIDGE = 0.01  # of the sum of squared weights / 2, where there are no best weights without
ITERATIONS = 500
MOST_DENSE = 1000  # features up to which the preconditioner is a matrix
FLAT = 1e-12  # of the largest eigenvalue
WIDTHS = (1.0, 0.1, 0.01, 1e-3, 1e-4)  # of kinks, in units of the margin, or of the spread of labels
MEMORY = 20  # gradients that L-BFGS keeps


class Fixed(NamedTuple):
    """The best fixed weights, and how good they are for certain."""

    weights: np.ndarray  # (d,) of the features as they are
    loss: float  # total, by importance
    within: float  # no others with a norm up to `REACH` times theirs are better by more; by loss and ridge, if any
    ridge: float  # 0.0 if there is none
    reason: str  # why there is a ridge


class Point(NamedTuple):
    """The regret after some examples, against the best fixed weights of these."""

    examples: int
    regret: float
    bound: float | None  # of a theorem, where its assumptions hold


class Regret(NamedTuple):
    """The regret of one learner."""

    best: Fixed  # of all examples
    curve: list[Point]  # after 64, 128, 256, … examples, and after all
    theorem: str | None  # of the last bound

    @property
    def total(self) -> float:
        """Regret after all examples."""
        return self.curve[-1].regret

    @property
    def bound(self) -> float | None:
        """Bound on the regret after all examples."""
        return self.curve[-1].bound

    def to_json(self) -> dict[str, Any]:
        """Figures as JSON values."""
        return {
            "regret": self.total,
            "regret_bound": self.bound,
            "regret_theorem": self.theorem,
            "best_fixed_loss": self.best.loss,
            "best_fixed_within": self.best.within,
            "best_fixed_ridge": self.best.ridge,
            "regret_curve": [point._asdict() for point in self.curve],
        }


def best_fixed(
    matrix: Any, targets: np.ndarray, importances: np.ndarray, loss: Any, start: Any = None, ridge: float = 0.0
) -> Fixed:
    """Return the fixed weights with the least total loss, or with the least of that and a ridge.

    Parameters
    ----------
    matrix : examples (n, d), a SciPy sparse array in rows; a constant feature is a column of ones
    targets : (n,) numbers to predict, or classes -1 and +1
    importances : (n,) what the loss of each example is multiplied by
    loss : a convex loss of `ouzel.terms.losses`
    start : (d,) weights to begin with, by default 0
    ridge : what half the sum of squared weights is multiplied by, of features divided by their largest value

    Raises
    ------
    OuzelError : of a loss that is not convex, or not known to be

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> ones = csr_array(np.ones((3, 1)))
    >>> found = best_fixed(ones, np.array([1.0, 1.0, -1.0]), np.ones(3), Logistic())
    >>> round(float(found.weights[0]), 3), round(found.loss, 3), found.ridge
    (0.693, 1.91, 0.0)
    """
    if not isinstance(loss, CONVEX):
        raise OuzelError(f"no best fixed weights are known of the loss {name_of(loss)}")
    largest = abs(matrix).max(axis=0).toarray().ravel() if matrix.shape[0] else np.zeros(matrix.shape[1])
    scale = np.where(largest > 0.0, largest, 1.0)
    problem = _Problem(matrix.multiply(1.0 / scale).tocsr(), targets, importances.astype(np.float64), loss)
    found, within = _minimum(problem, np.zeros(len(scale)) if start is None else start * scale, ridge)
    reason = ""
    if ridge:
        return Fixed(found / scale, problem.total(found), within, ridge, "")
    if problem.separated(found):
        reason = "fixed weights separate the classes, and larger ones are better still"
    elif within > CLOSE * problem.undecided and not isinstance(loss, KINKED):  # of these some weights are the best
        reason = f"L-BFGS has found no least loss within {ITERATIONS:,} iterations"
    if reason:
        found, within = _minimum(problem, np.zeros(len(scale)), RIDGE)
    return Fixed(found / scale, problem.total(found), within, RIDGE if reason else 0.0, reason)


class _Problem:
    """The total loss of examples as a function of weights."""

    def __init__(self, matrix: Any, targets: np.ndarray, importances: np.ndarray, loss: Any) -> None:
        self.matrix, self.transposed = matrix, matrix.T.tocsr()
        self.targets, self.importances, self.loss = targets, importances, loss
        self.undecided = self.total(np.zeros(matrix.shape[1]))  # the loss of weights 0
        self.unit = 1.0 if isinstance(loss, Hinge) else float(targets.std()) or 1.0  # of a width

    def total(self, weights: np.ndarray) -> float:
        """The loss itself."""
        return float(evaluate(self.loss, self.matrix @ weights, self.targets, self.importances, np.empty(0)))

    def smooth(self, weights: np.ndarray, width: float) -> tuple[float, np.ndarray]:
        """The loss, smoothed if it has a kink, and its gradient."""
        margins = self.matrix @ weights
        if isinstance(self.loss, KINKED):
            low, high = _slopes_at_kink(self.loss, self.targets)
            past = margins - self.targets
            slopes = np.clip(past / (width * self.unit), low, high)
            total = float(self.importances @ (slopes * past - 0.5 * width * self.unit * slopes**2))
            slopes = slopes * self.importances
        else:
            slopes = np.empty(len(margins))
            total = float(evaluate(self.loss, margins, self.targets, self.importances, slopes))
        return total, self.transposed @ slopes

    def excess(self, weights: np.ndarray, width: float) -> float:
        """By how much the loss is above the sum of the lines that touch it with the slopes of the smoothed one."""
        if not isinstance(self.loss, KINKED):
            return 0.0
        (low, high), past = _slopes_at_kink(self.loss, self.targets), self.matrix @ weights - self.targets
        slopes = np.clip(past / (width * self.unit), low, high)
        return float(self.importances @ (np.maximum(low * past, high * past) - slopes * past))

    def separated(self, weights: np.ndarray) -> bool:
        """Whether the loss falls for ever along weights that are right of every example."""
        if not isinstance(self.loss, Logistic):
            return False
        return bool(((self.matrix @ weights) * self.targets > 0.0)[self.importances > 0.0].all())

    def preconditioner(self, ridge: float) -> np.ndarray:
        """Return T, (d, k) or a diagonal (d,): the loss of weights T z is about as steep in every direction of z."""
        weighed = self.matrix.multiply(self.importances[:, None]).tocsr()
        if self.matrix.shape[1] > MOST_DENSE:
            squares = np.asarray(weighed.multiply(self.matrix).sum(axis=0)).ravel() + ridge
            return 1.0 / np.sqrt(np.where(squares > 0.0, squares, 1.0))
        values, vectors = np.linalg.eigh((self.transposed @ weighed).toarray())
        kept = values > FLAT * values.max(initial=0.0)  # along the others no margin changes
        return vectors[:, kept] / np.sqrt(values[kept] + ridge)


def _minimum(problem: _Problem, start: np.ndarray, ridge: float) -> tuple[np.ndarray, float]:
    """Weights of least loss and ridge, and by how much others may be better."""
    from scipy.optimize import minimize

    T, unit = problem.preconditioner(ridge), max(problem.undecided, 1e-300)
    z = start / T if T.ndim == 1 else np.linalg.lstsq(T, start, rcond=None)[0]
    for width in WIDTHS if isinstance(problem.loss, KINKED) else WIDTHS[-1:]:

        def penalised(z: np.ndarray, width: float = width) -> tuple[float, np.ndarray]:
            weights = _times(T, z)
            total, gradient = problem.smooth(weights, width)
            total, gradient = total + 0.5 * ridge * (weights @ weights), gradient + ridge * weights
            return total / unit, _times(T.T, gradient) / unit

        more = {"maxiter": ITERATIONS, "maxfun": 2 * ITERATIONS, "maxcor": MEMORY, "ftol": 1e-13, "gtol": 1e-12}
        with threadpool_limits(1):  # sums of some ten thousand numbers, for which threads of their own cost more
            z = minimize(penalised, z, jac=True, method="L-BFGS-B", options=more).x
    weights = _times(T, z)
    _, gradient = problem.smooth(weights, width)
    smoothed = problem.excess(weights, width)
    if ridge:
        gradient = gradient + ridge * weights
        return weights, smoothed + float(gradient @ gradient) / (2.0 * ridge)
    reach, gradient = REACH * max(float(np.linalg.norm(z)), 1.0), _times(T.T, gradient)
    return weights, smoothed + reach * float(np.linalg.norm(gradient)) + float(gradient @ z)


def _times(T: np.ndarray, z: np.ndarray) -> np.ndarray:
    """T z, of a matrix or a diagonal."""
    return T * z if T.ndim == 1 else T @ z


def _slopes_at_kink(loss: Any, targets: np.ndarray) -> tuple[Any, Any]:
    """The least and the largest slope at the kink of each example, which is at a margin of its target."""
    if isinstance(loss, Hinge):
        return np.where(targets > 0.0, -1.0, 0.0), np.where(targets > 0.0, 0.0, 1.0)
    return (-loss.tau, 1.0 - loss.tau) if isinstance(loss, Quantile) else (-1.0, 1.0)


@kernel
def evaluate(loss, margins, targets, importances, slopes):
    """Return the total loss of margins (n,), and write derivatives by importance to `slopes` (n,), unless empty."""
    total = 0.0
    for i in range(len(margins)):
        total += importances[i] * losses.value(loss, margins[i], targets[i])
        if len(slopes):
            slopes[i] = importances[i] * losses.derivative(loss, margins[i], targets[i])
    return total
