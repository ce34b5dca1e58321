"""The heaviest of many weights."""

from __future__ import annotations

import numpy as np


def heaviest_slots(weights: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Slots and weights of the n largest magnitudes, largest first, ties by slot; zeros are left out."""
    n = min(n, len(weights))
    size = np.abs(weights)
    slots = np.argpartition(-size, n - 1)[:n] if n else np.empty(0, np.int64)
    slots = slots[np.lexsort((slots, -size[slots]))]
    slots = slots[size[slots] > 0]
    return slots, weights[slots]
