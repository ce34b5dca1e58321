"""Importance weights of examples, which are finite and 0 or more."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ouzel.errors import DataError
from ouzel.streams.block import LARGEST


def as_weight(weight: Any) -> np.float32:
    """The importance weight of one example, which is finite and 0 or more.

    >>> as_weight(-1)
    Traceback (most recent call last):
    ouzel.errors.DataError: the weight is -1; expected a finite number of 0 or more
    """
    try:
        number = float(weight)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not 0.0 <= number <= LARGEST:
        raise DataError(f"the weight is {weight!r}; expected a finite number of 0 or more")
    return np.float32(number)


def as_weights(weights: Any, count: int) -> np.ndarray:
    """Importance weights (n,) float32, 1 unless given; they are finite and 0 or more."""
    if weights is None:
        return np.ones(count, np.float32)
    given = np.asarray(weights, np.float32)
    if given.shape != (count,):
        raise DataError(f"there are {count} examples but {given.size} weights; give one for each")
    bad = ~((given >= 0.0) & (given <= LARGEST))
    if bad.any():
        raise DataError(
            f"example {np.argmax(bad)}: its weight is {given[np.argmax(bad)]}; expected a finite number of 0 or more"
        )
    return given
