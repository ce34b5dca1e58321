"""Mean and spread of each feature: what makes the weights of features in different units comparable.

A weight says how far the margin moves when a feature grows by 1, which is much for a rate and little for an income.
|weight| × spread says how far it moves when the feature does what it usually does, so features are ranked by it.

The moments are those of a sample of the examples: of all of the first, and of every 64th of the later ones, chosen
by their number, so that they do not depend on how a stream is cut into blocks. Absent features count as 0. The square
of a value counts for at most 1,024 / n of the sum of squares of its feature over the n examples so far, and for no more
than that sum from the 1,024th on, so that a stray value does not decide what is usual.
"""

from __future__ import annotations

from math import copysign, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ouzel.deferred import deferred
from ouzel.kernels.jit import force_inline, kernel
from ouzel.layout import float32, float64, made_from

if TYPE_CHECKING:
    from ouzel.learners.gains import parts
    from ouzel.learners.gains.parts import Gains
else:
    parts = deferred("ouzel.learners.gains.parts")  # of workers

FIRST, EVERY = 2048, 64  # examples that all count, and of later ones one in so many
FEW = 1024.0  # usual values that one value may count for
MOST_SQUARE = 1e30  # of a value


class FeatureMoments(NamedTuple):
    sums: np.ndarray  # (d, 2) float32  sums of x and of x^2 of each slot
    sampled: np.ndarray  # (1,) float64  examples in the sample


def layout(dimension: int) -> Any:
    """A `FeatureMoments` of descriptions in place of arrays."""
    return FeatureMoments(float32(dimension, 2), float64(1, least=0.0))


init, grow = made_from(layout)


@force_inline
def in_sample(number):
    """Whether the example of a number, counted from 0, is in the sample."""
    return number < FIRST or number % EVERY == 0


@kernel
def add_row(moments, slots, values):
    """Count an example of the sample."""
    moments.sampled[0] += 1.0
    share = max(1.0, FEW / moments.sampled[0])
    for k in range(len(slots)):
        x, sums = np.float64(values[k]), moments.sums[slots[k]]
        square, most = x * x, min(share * sums[1], MOST_SQUARE) if sums[1] > 0.0 else MOST_SQUARE
        if square > most:
            square, x = most, copysign(sqrt(most), x)
        sums[0] += np.float32(x)
        sums[1] += np.float32(square)


@kernel
def add_rows(moments, rows, importances, before):
    """Count those of the rows that are in the sample; `before` is the number of the examples before them.

    An example of importance 0 is not counted.
    """
    for i in range(len(rows.offsets) - 1):
        if importances[i] > 0.0 and in_sample(before + i):
            here = slice(rows.offsets[i], rows.offsets[i + 1])
            add_row(moments, rows.indices[here], rows.values[here])


def means_and_spreads(moments: FeatureMoments) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation (d,) of each feature; 0 of features that are not in the sample."""
    mean, square = moments.sums.T.astype(np.float64) / max(moments.sampled[0], 1.0)
    return mean, np.sqrt(np.maximum(square - mean**2, 0.0))


def renumbered(moments: FeatureMoments, places: np.ndarray) -> FeatureMoments:
    """The moments in which slot k is slot `places[k]`."""
    sums = np.empty_like(moments.sums)
    sums[places] = moments.sums
    return moments._replace(sums=sums)


def merged(moments: list[FeatureMoments]) -> FeatureMoments:
    """The moments of the samples of several models, which have room for the same slots."""
    sums = sum(part.sums.astype(np.float64) for part in moments)
    return FeatureMoments(np.asarray(sums, np.float32), np.asarray(sum(part.sampled for part in moments)))


def gains(base: FeatureMoments, moments: FeatureMoments) -> Gains:
    """What a worker has counted beyond its base."""
    sums = parts.rows_of(moments.sums.astype(np.float64) - base.sums)
    return {"sums": sums, "sampled": moments.sampled - base.sampled}


def onto(base: FeatureMoments, gains: Gains) -> FeatureMoments:
    """The moments of a base and of what workers have counted beyond it."""
    sums = base.sums + parts.dense(gains["sums"], len(base.sums))
    return FeatureMoments(sums, base.sampled + gains["sampled"])
