"""Labels and importance weights given beside the examples."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ouzel.errors import DataError
from ouzel.streams.block import LARGEST
from ouzel.streams.label_values import Label


def encode_labels(labels: Any, count: int) -> tuple[np.ndarray, list[Label] | None]:
    """Labels (n,) as numbers, or as positions in a list of the names; NaN where there are none."""
    if labels is None:
        return np.full(count, np.nan), None
    listed = labels if isinstance(labels, list) else np.asarray(labels).tolist()
    given = [_known(label.item() if isinstance(label, np.generic) else label) for label in listed]
    if len(given) != count:
        raise DataError(f"there are {count} examples but {len(given)} labels; give one for each")
    kinds = {type(label) for label in given}
    if kinds <= {int, float, type(None)}:
        numbers = np.array([math.nan if label is None else label for label in given], np.float64)
        if np.isinf(numbers).any():
            raise DataError(f"example {np.argmax(np.isinf(numbers))}: its label is infinite; expected a finite number")
        return numbers, None
    names = list(dict.fromkeys(label for label in given if label is not None))
    places: dict[Any, float] = {name: place for place, name in enumerate(names)}
    return np.array([places.get(label, math.nan) for label in given]), names


def _known(label: Any) -> Any:
    """A label, None if it is one of the ways to say that there is none."""
    missing = type(label).__name__ == "NAType" or (isinstance(label, float) and math.isnan(label))
    return None if missing else label


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
