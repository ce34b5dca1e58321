"""Whether one learner is better than another, said while the stream goes on.

Two learners predict the same example before they learn it; d in [-1, 1] is the difference of their mistakes, and m_t
the mean of what d was to be expected after all that had come, over t examples. The empirical-Bernstein confidence
sequence of Howard, Ramdas, McAuliffe & Sekhon (2021, "Time-uniform, Nonparametric, Nonasymptotic Confidence
Sequences", Annals of Statistics 49(2), theorem 4) has an interval [low_t, high_t] for each t, and

    P(m_t is outside its interval at some t) <= 1 - LEVEL,

so that it may be looked at after every example, and the comparison ended when it is decided. Nothing is assumed of the
stream. With S = Σd and V = Σ(d - mean of those before)², the interval is S / t ± u(V) / t, where u is the boundary of
the gamma-exponential mixture (proposition 9, for a range of 2). What may go wrong is shared among all pairs, so that
the best may be chosen by the same figures.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ouzel.kernels.jit import kernel

LEVEL = 0.95  # of all intervals together, at all times
RANGE = 2.0  # of a difference of mistakes
RHO = 12.5  # intervals are narrowest where V is about 100: for 1,000 examples if learners differ on one of 10
HALVINGS = 60  # of a bisection


class Difference(NamedTuple):
    """A confidence interval for how much larger one error rate is than another."""

    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.low:.4f} to {self.high:.4f}"


@kernel
def add_mistakes(mistakes, sums, squares, count):
    """Add mistakes (k, n) of `k` learners, `count` examples being behind; `squares` (k, k) are filled where i > j."""
    learners = len(sums)
    away = np.empty(learners)
    for row in range(mistakes.shape[1]):
        for i in range(learners):
            away[i] = mistakes[i, row] - (sums[i] / count if count else 0.0)
            sums[i] += mistakes[i, row]
        for i in range(1, learners):
            for j in range(i):
                gap = away[i] - away[j]
                squares[i, j] += gap * gap
        count += 1


class Differences:
    """Mistakes of learners on the same examples, and confidence intervals for the differences of their error rates.

    >>> found = Differences(2)
    >>> for _ in range(50):
    ...     found.add(np.array([[0.0, 0.0, 0.0, 1.0], [1.0, 1.0, 0.0, 1.0]]))
    >>> low, high = found.between(1, 0)
    >>> round(low, 3), round(high, 3)
    (0.358, 0.642)
    """

    def __init__(self, learners: int) -> None:
        self.examples = 0
        self.pairs = max(1, learners * (learners - 1) // 2)  # of all that began
        self.sums = np.zeros(learners)
        self.squares = np.zeros((learners, learners))

    def add(self, mistakes: np.ndarray) -> None:
        """Add mistakes (learners, n) float64, 0 or 1, of the next n examples."""
        add_mistakes(mistakes, self.sums, self.squares, self.examples)
        self.examples += mistakes.shape[1]

    def keep(self, places: Sequence[int]) -> None:
        """Go on with some of the learners, in this order; those that are left out still count as pairs."""
        here = np.ix_(places, places)
        self.sums, self.squares = self.sums[list(places)], self._symmetric()[here]

    def between(self, one: int, other: int) -> Difference:
        """Return how much larger the error rate of `one` is than that of `other`, with room for chance."""
        if self.examples == 0:
            return Difference(-1.0, 1.0)
        squares = float(self.squares[max(one, other), min(one, other)])
        mean = float(self.sums[one] - self.sums[other]) / self.examples
        room = boundary(squares, self.chance) / self.examples
        return Difference(max(-1.0, mean - room), min(1.0, mean + room))

    def certain(self, one: int, other: int) -> bool:
        """Return whether the interval `between` them lies above 0: the error rate of `one` is larger."""
        total = float(self.sums[one] - self.sums[other])
        squares = float(self.squares[max(one, other), min(one, other)])
        return total > 0.0 and evidence(total, squares) >= -np.log(self.chance)

    @property
    def chance(self) -> float:
        """Probability that the interval of one pair leaves out the truth at one of its ends, at any time."""
        return (1.0 - LEVEL) / (2.0 * self.pairs)

    def _symmetric(self) -> np.ndarray:
        lower = np.tril(self.squares)
        return lower + lower.T


def evidence(total: float, squares: float) -> float:
    """Return the logarithm of the mixture's supermartingale for S above its expectation and V.

    >>> round(evidence(0.0, 0.0), 12) == 0.0, evidence(20.0, 40.0) > evidence(10.0, 40.0)
    (True, True)
    """
    from scipy.special import gammainc, gammaln

    spread = RANGE * RANGE
    prior, shape, excess = RHO / spread, (squares + RHO) / spread, (RANGE * total + squares) / spread
    return float(
        prior * np.log(prior)
        - gammaln(prior)
        - np.log(gammainc(prior, prior))
        + gammaln(shape)
        + np.log(gammainc(shape, excess + prior))
        - shape * np.log(excess + prior)
        + excess
    )


def boundary(squares: float, chance: float) -> float:
    """Return u(V): S stays below it at all times, but for this chance."""
    needed, low, high = -np.log(chance), 0.0, 1.0
    while evidence(high, squares) < needed:
        low, high = high, 2.0 * high
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if evidence(middle, squares) < needed else (low, middle)
    return high
