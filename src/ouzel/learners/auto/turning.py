"""Where features turn dense or rare: the same for every state that has `features`, a `block` and its `places`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ouzel.kernels.jit import dispatch, force_inline
from ouzel.learners.auto import newton_block, standardisation
from ouzel.learners.auto.standardisation import SEEN

TABLE, LEAVE_TABLE, TEXT, LEAVE_TEXT = 0.5, 0.25, 0.9, 0.8  # parts of the examples at which a feature turns


@dispatch
def rescale(state: Any, slot: int, factor: float, part: float) -> None:
    """Multiply the models' weights of a slot that turns; the constant's take up a part of what they were."""


@force_inline
def turn(state, indices):
    """Turn the features that have become dense or rare."""
    features, centred, seen = state.features, standardisation.is_centred(indices), state.features.totals[SEEN]
    tabular = newton_block.worthwhile(state.block)
    enter = TABLE if tabular else TEXT
    leave = LEAVE_TABLE if tabular else LEAVE_TEXT
    for k in range(len(indices)):
        if standardisation.becomes_dense(features, indices[k], enter):
            factor, part = standardisation.turn_dense(features, indices[k], centred)
            rescale(state, indices[k], factor, part)
    if seen > standardisation.SETTLED and seen % standardisation.EVERY != 0.0:
        return
    place = 0
    while place < np.int64(features.totals[standardisation.DENSE]):
        if standardisation.becomes_rare(features, place, leave):
            slot = features.dense[place]
            factor, part = standardisation.turn_rare(features, place, centred)
            rescale(state, slot, factor, part)
        else:
            place += 1
