"""What learners that keep a Gaussian over the weights keep: its means, and its covariance, diagonal or full."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

SMALLEST_VARIANCE = 1e-12


def extent_in(places: np.ndarray, extent: np.ndarray) -> np.ndarray:
    """The slots (1,) from which on none has been learnt, of states whose slot k becomes slot `places[k]`."""
    return np.max(places[: int(extent[0])] + 1, initial=0, keepdims=True).astype(extent.dtype)


class Diagonal(NamedTuple):
    table: np.ndarray  # (d, classes) float32  w of each slot and class
    variance: np.ndarray  # (d,) float32  the diagonal of S
    seen: np.ndarray  # (1,) float64  t
    updates: np.ndarray  # (1,) float64


class Full(NamedTuple):
    table: np.ndarray  # (d, classes) float32  w of each slot and class
    covariance: np.ndarray  # (d, d) float64  S, of which single precision would soon lose the positive definiteness
    product: np.ndarray  # (d,) float64  scratch: S x
    extent: np.ndarray  # (1,) int64  slots from here on have not been met: S is the prior there
    seen: np.ndarray  # (1,) float64  t
    updates: np.ndarray  # (1,) float64
