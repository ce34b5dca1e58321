"""The features' moments of several workers, and what workers have learnt of them beyond a base, as sums (see
`learners.gains` and `standardisation`).

Sums are of x - m and of its square, m being the base's mean of a dense feature and 0 of another one, so that no digits
are lost to large means. What is dense is what most examples have so. Windows (`outliers.py`) begin anew.
"""

from __future__ import annotations

import numpy as np

from ouzel.layout import copied
from ouzel.learners.auto import outliers
from ouzel.learners.auto.narrowing import MET
from ouzel.learners.auto.standardisation import (
    COUNT,
    DENSE,
    FOUND,
    KNOWN,
    LARGEST,
    MEAN,
    MOST_REACH,
    NORMS,
    OUTLIER,
    REACH,
    SEEN,
    SINCE,
    SQUARES,
    Features,
    bounds_of,
)
from ouzel.learners.gains.parts import Gains, Peak, dense, peaks_of, rows_of


def _dense(features: Features) -> np.ndarray:
    found: np.ndarray = features.moments[:, LARGEST] < 0.0
    return found


def origin_of(base: Features) -> np.ndarray:
    """The base's mean (d,) of each dense feature, 0 of others."""
    return np.where(_dense(base), base.moments[:, MEAN], 0.0)


def _sums(features: Features, origin: np.ndarray) -> np.ndarray:
    """Counts, sums of x - m, sums of its square, and the examples that have found a feature dense: (d, 4)."""
    seen, (count, first, second, _) = features.totals[SEEN], features.moments.T
    is_dense = _dense(features)
    change = first - origin
    sums = np.where(is_dense, seen * change, first - seen * origin)
    squares = np.where(is_dense, second + seen * change**2, second - origin * (2.0 * first - seen * origin))
    return np.column_stack([count, sums, squares, seen * is_dense])


def _sizes(features: Features) -> np.ndarray:
    """The largest |x| of each feature; the root mean square of what a dense one has that is not 0."""
    count, mean, squares, size = features.moments.T
    root = np.sqrt((squares + features.totals[SEEN] * mean**2) / np.maximum(count, 1.0))
    return np.where(_dense(features), root, size)


@MET.gains
def gains(base: Features, state: Features) -> Gains:
    """What a worker has learnt beyond its base."""
    origin = origin_of(base)
    return {
        "sums": rows_of(_sums(state, origin) - _sums(base, origin)),
        "sizes": peaks_of(_sizes(state)),
        "bounds": peaks_of(bounds_of(state)),
        "outlier": Peak(state.totals[[OUTLIER]]),
        "totals": state.totals - base.totals,
        "reach": state.totals[[SEEN]] * state.totals[[REACH]] - base.totals[[SEEN]] * base.totals[[REACH]],
    }


@MET.onto
def onto(base: Features, gains: Gains) -> Features:
    """The moments of a base's and all workers' examples."""
    merged, origin = copied(base), origin_of(base)
    merged.totals[[SEEN, NORMS, FOUND]] += gains["totals"][[SEEN, NORMS, FOUND]]
    seen = merged.totals[SEEN]
    if seen == 0.0:
        return merged
    reach = (base.totals[SEEN] * base.totals[REACH] + gains["reach"][0]) / seen
    merged.totals[REACH] = min(max(reach, 0.0), MOST_REACH)
    count, sums, squares, votes = (_sums(base, origin) + dense(gains["sums"], len(origin))).T
    is_dense = (2.0 * votes >= seen) & (votes > 0.0)
    raw, raw_squares = sums + seen * origin, squares + origin * (2.0 * sums + seen * origin)
    slots = np.flatnonzero(is_dense)
    merged.moments[:, COUNT] = count
    merged.moments[:, MEAN] = np.where(is_dense, origin + sums / seen, raw)
    merged.moments[:, SQUARES] = np.maximum(np.where(is_dense, squares - sums**2 / seen, raw_squares), 0.0)
    merged.moments[:, LARGEST] = np.maximum(_sizes(base), dense(gains["sizes"], len(origin))[:, 0])
    merged.moments[slots, LARGEST] = -np.arange(1.0, len(slots) + 1.0)
    merged.dense[:] = 0
    merged.dense[: len(slots)], merged.totals[DENSE] = slots, len(slots)
    merged.totals[KNOWN] = np.count_nonzero(count)
    merged.totals[SINCE], merged.totals[OUTLIER] = 0.0, max(base.totals[OUTLIER], gains["outlier"].values[0])
    bounds = np.maximum(bounds_of(base), dense(gains["bounds"], len(origin))[:, 0])
    merged.window[:] = 0.0
    merged.window[slots] = outliers.of_new_dense(bounds[slots])
    return merged
