"""The metric H = damping I + G^(1/2) of a sum G of outer products, and AdaGrad's update in it.

Duchi, Hazan & Singer (2011), Figure 2 and eq. (23). H is kept as its eigenvectors V and eigenvalues h; where an
eigenvalue is 0 (no damping, nothing seen in that direction) its inverse counts as 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ouzel.errors import OuzelError
from ouzel.kernels.eigen import symmetric_eigen
from ouzel.kernels.jit import dispatch, kernel
from ouzel.terms.penalties.diagonal_prox import minimise
from ouzel.terms.penalties.domains import Box, L2Ball
from ouzel.terms.penalties.l1_and_l2 import L1, ElasticNet, NoPenalty, SquaredL2, penalty_increment, proximal
from ouzel.terms.penalties.norms import L2Norm

MOST_SWEEPS = 10_000
PRECISION = 1e-12
ROUNDING = 2.0**-52


@dispatch
def solve(penalty: Any, vectors: np.ndarray, eigenvalues: np.ndarray, linear: np.ndarray, strength: float, x: Any):
    """Turn `x` (d,), the last solution, into argmin <u, x> + strength r(x) + <x, H x> / 2."""


def require_solver(penalty: Any, learner: str) -> None:
    """Refuse a penalty that `solve` does not know."""
    if type(penalty) not in solve.bodies:
        known = ", ".join(kind.__name__ for kind in solve.bodies)
        raise OuzelError(f"{learner} takes as penalty one of {known}; got {penalty!r}")


@kernel
def decompose(outer, damping):
    """Eigenvectors (d, d) and eigenvalues (d,) of H, from the sum of outer products (d, d)."""
    squares, vectors = symmetric_eigen(outer)
    nothing = len(squares) * ROUNDING * squares[-1]  # what rounding makes of an eigenvalue 0
    roots = np.sqrt(np.where(squares > nothing, squares, 0.0))
    return vectors, damping + roots


@kernel
def times_metric(vectors, eigenvalues, x):
    """H x."""
    return vectors @ (eigenvalues * (vectors.T @ x))


@solve.register(NoPenalty)
def _(penalty, vectors, eigenvalues, linear, strength, x):
    inverse = np.where(eigenvalues > 0.0, 1.0 / eigenvalues, 0.0)
    x[:] = -(vectors @ (inverse * (vectors.T @ linear)))


@solve.register(SquaredL2)
def _(penalty, vectors, eigenvalues, linear, strength, x):
    inverse = np.where(eigenvalues > 0.0, 1.0 / (eigenvalues + strength * penalty.l2), 0.0)
    x[:] = -(vectors @ (inverse * (vectors.T @ linear)))


def _turned(penalty, vectors, eigenvalues, linear, strength, x):
    """Euclidean norms know no axes: solve along the eigenvectors, where H is diagonal."""
    turned = np.where(eigenvalues > 0.0, vectors.T @ linear, 0.0)
    along = np.empty_like(x)
    minimise(penalty, turned, eigenvalues, strength, along, np.empty((2, len(x))))
    x[:] = vectors @ along


def _by_coordinates(penalty, vectors, eigenvalues, linear, strength, x):
    """Cyclic coordinate descent, which a few sweeps end: the last solution is near.

    A sweep costs d^2, no more than multiplying by H, where the eigenvectors cost d^3.
    """
    metric = (vectors * eigenvalues) @ vectors.T
    slope = metric @ x + linear
    for _ in range(MOST_SWEEPS):
        largest = moved = 0.0
        for j in range(len(x)):
            curvature = metric[j, j]
            if curvature > 0.0:
                better = proximal(penalty, x[j] - slope[j] / curvature, strength / curvature)
                change = better - x[j]
                if change != 0.0:
                    x[j] = better
                    for i in range(len(x)):
                        slope[i] += change * metric[i, j]
                largest = max(largest, abs(better))
                moved = max(moved, abs(change))
        if moved <= PRECISION * largest:
            break


@dispatch
def catch_up(penalty: Any, vectors: np.ndarray, eigenvalues: np.ndarray, x: Any, rate: float, rounds: int):
    """Turn `x` (d,) into what so many rounds without a gradient make of it, each argmin rate r(y) + |y - x|_H^2 / 2."""


@catch_up.register(NoPenalty)
def _(penalty, vectors, eigenvalues, x, rate, rounds):
    pass


@catch_up.register(SquaredL2)
def _(penalty, vectors, eigenvalues, x, rate, rounds):
    along = vectors.T @ x
    for j in range(len(along)):
        if eigenvalues[j] > 0.0:
            along[j] *= np.exp(-rounds * penalty_increment(penalty, rate / eigenvalues[j]))
    x[:] = vectors @ along


def _round_by_round(penalty, vectors, eigenvalues, x, rate, rounds):
    """One by one, until nothing is left or nothing moves."""
    for _ in range(rounds):
        before = x.copy()
        solve(penalty, vectors, eigenvalues, -times_metric(vectors, eigenvalues, x), rate, x)
        if not x.any() or np.abs(x - before).max() <= ROUNDING * np.abs(x).max():
            break


for _round in (L2Norm, L2Ball):
    solve.register(_round)(_turned)
for _separable in (L1, ElasticNet, Box):
    solve.register(_separable)(_by_coordinates)
    catch_up.register(_separable)(_round_by_round)
