"""Features in any unit: a learner of any kind sees them centred and scaled as the stream goes, where they are dense.

What `auto/standardisation.py` does for the default, for the rows of any learner: features that are not 0 in half of
the examples so far are centred by their running mean and scaled by their standard deviation (Welford, 1962), cut at 3;
others are divided by their largest value, and reach no further. So a sparse example still costs its non-zeros and the
few dense features.
Neither labels nor weights have a say in it: one view serves all states of a model, and rows are made a block at a time.

Weights live in units of what the learner sees. Where a feature turns dense, or rare again, they stay as they are: that
is at its second example for a column of a table, and seldom later.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import kernel
from ouzel.layout import made_from
from ouzel.learners.auto import moments, standardisation, turning
from ouzel.learners.auto.standardisation import DENSE, Features
from ouzel.learners.auto.turning import LEAVE_TABLE, TABLE, turn_features
from ouzel.learners.rows import Rows

layout = standardisation.layout
init, grow = made_from(layout)
UNNOTED = np.empty(0, np.float32)  # importances of rows that are predicted and not learnt


class Room(NamedTuple):
    slots: np.ndarray  # (d,) uint32  slots of an example as it is seen
    values: np.ndarray  # (d,) float32  their z
    raw: np.ndarray  # (d,) float32  x of the dense features, by place
    high: np.ndarray  # (1,) bool  whether any of these may be far off


@kernel
def _scale(features, room, rows, start, importances, scaled):
    """Write rows from `start` on to `scaled`; return the number of the row behind which features are to turn.

    The moments take note of rows of an importance above 0.
    """
    filled = scaled.offsets[start]
    for i in range(start, len(rows.offsets) - 1):
        here = slice(rows.offsets[i], rows.offsets[i + 1])
        indices, values = rows.indices[here], rows.values[here]
        count = standardisation.view_row(features, room, indices, values, standardisation.is_centred(indices))
        for k in range(count):
            if room.values[k] != 0.0:
                scaled.indices[filled], scaled.values[filled] = room.slots[k], room.values[k]
                filled += np.uint64(1)
        scaled.offsets[i + 1] = filled
        if (
            len(importances) > 0
            and importances[i] > 0.0
            and turning.note_row(features, room, indices, values, count, TABLE, LEAVE_TABLE)
        ):
            return i
    return len(rows.offsets) - 1


def scaled_rows(features: Features, rows: Rows, importances: np.ndarray = UNNOTED) -> Rows:
    """Rows as the learner sees them; with importances (n,), the moments take note of each after it was seen."""
    start, count, slots = 0, len(rows.offsets) - 1, len(features.moments)
    values, raw = np.empty((2, slots), np.float32)
    room = Room(np.empty(slots, np.uint32), values, raw, np.zeros(1, np.bool_))
    scaled = Rows(np.zeros(count + 1, np.uint64), np.empty(0, np.uint32), np.empty(0, np.float32))
    while start < count:
        filled = int(scaled.offsets[start])
        more = int(rows.offsets[count] - rows.offsets[start]) + int(features.totals[DENSE]) * (count - start)
        scaled = Rows(scaled.offsets, *(_longer(part, filled, more) for part in scaled[1:]))
        stop = int(_scale(features, room, rows, start, importances, scaled))
        if stop < count:
            turn_features(features, rows.indices[rows.offsets[stop] : rows.offsets[stop + 1]], TABLE, LEAVE_TABLE)
        start = stop + 1
    return scaled


def _longer(array: np.ndarray, filled: int, more: int) -> np.ndarray:
    """The first numbers of an array, and room for more behind them."""
    longer = np.empty(filled + more, array.dtype)
    longer[:filled] = array[:filled]
    return longer


def weights_of_raw(features: Features, weights: np.ndarray) -> np.ndarray:
    """Weights (columns, slots) for features as they are, from those (columns, slots) for what the learner sees.

    They predict the same where no feature lies 3 standard deviations from its mean.
    """
    slopes, shifts = (part[: weights.shape[1]] for part in standardisation.units(features))
    slopes[0] = 1.0
    found = weights.astype(float)
    found[:, 0] -= found @ shifts
    return found * slopes


def merged(parts: list[Any]) -> Any:
    """The moments of all workers' examples; None if they have none."""
    if parts[0] is None or len(parts) == 1:
        return parts[0]
    return moments.merged(parts)
