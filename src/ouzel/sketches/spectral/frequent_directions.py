"""Frequent Directions: a matrix S of m rows that stands for a long matrix A whose rows are a stream.

Liberty (2013) and Ghashami, Liberty, Phillips & Woodruff (2015), as in Luo, Agarwal, Cesa-Bianchi & Langford (2016),
Algorithm 2: a vector takes the last row of S, which is 0 until then; with singular values s and right vectors V of S,
    S <- (s^2 - s_m^2)^(1/2) V.
For every k < m then 0 <= A'A - S'S <= ||A - A_k||^2 / (m - k), A_k being the best approximation of rank k.

Dense, one decomposition a vector; `sparse_frequent_directions` is the form for sparse vectors, one for m of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ouzel.kernels.jit import kernel
from ouzel.ranges import Directions, Size, ranged


class State(NamedTuple):
    rows: np.ndarray  # (m, d) float64  S, the last row 0


@ranged
def init(dimension: Size, size: Directions) -> State:
    """An empty sketch of `size` rows.

    >>> sketch = init(dimension=2, size=2)
    >>> for _ in range(3):
    ...     update(sketch, np.array([3.0, 4.0]))
    >>> (sketch.rows.T @ sketch.rows).round(6)
    array([[27., 36.],
           [36., 48.]])
    """
    return State(np.zeros((size, dimension)))


@kernel
def update(state, vector):
    """Take in one row of A."""
    if len(state.rows) > 0:
        state.rows[-1] = vector
        state.rows[:] = _shrunk(state.rows, len(state.rows))


@kernel
def _shrunk(rows, size):
    """The `size` leading singular vectors of `rows`, by what their squares exceed the smallest of them."""
    _, roots, vectors = np.linalg.svd(rows, False)
    out = np.zeros((size, rows.shape[1]))
    least = roots[size - 1] ** 2 if len(roots) >= size else 0.0
    for i in range(min(size, len(roots))):
        out[i] = np.sqrt(max(roots[i] ** 2 - least, 0.0)) * vectors[i]
    return out


def merge(states: list[State]) -> State:
    """The sketch of all the streams together, with the same guarantee for all of A."""
    stacked = np.concatenate([state.rows for state in states])
    return State(_shrunk(stacked, len(states[0].rows)))
