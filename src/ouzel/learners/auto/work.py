"""Room to work in for the default learner, made for each block; it is not a part of its states."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ouzel.kernels.jit import kernel
from ouzel.learners.auto.newton_block import MOST

ROWS = 32  # of numbers: enough for each of the files that work in them


class Work(NamedTuple):
    slots: np.ndarray  # (d,) uint32  slots of an example as the models see it
    values: np.ndarray  # (d,) float32  their z
    raw: np.ndarray  # (d,) float32  x of the dense features, by place
    high: np.ndarray  # (1,) bool  whether any of these may be far off
    numbers: np.ndarray  # (32, 128 or classes) float64  what each file says of its rows


@kernel
def make_room(state):
    """Room to work in for a state of the default learner."""
    slots, columns = len(state.table), max(MOST, state.block.weights.shape[1])
    numbers, high = np.empty((ROWS, columns)), np.zeros(1, np.bool_)
    return Work(np.empty(slots, np.uint32), np.empty(slots, np.float32), np.empty(slots, np.float32), high, numbers)
