"""Room to work in for the default learner, made for each block: no part of its states."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Work(NamedTuple):
    slots: np.ndarray  # (d,) uint32  slots of an example as the models see it
    values: np.ndarray  # (d,) float32  their z
    raw: np.ndarray  # (d,) float32  x of the dense features, by place
    numbers: np.ndarray  # (rows, columns) float64  what each file says of its rows
