"""Recalibrations of workers: what each has learnt beyond a base, the base with that, classes in another order."""

from __future__ import annotations

import numpy as np

from ouzel.model.recalibration import (
    CAME,
    COUNT,
    FLOOR,
    LEAST,
    MOST,
    PRIOR,
    PROMISED,
    SEVERAL,
    SHIFT,
    TWO,
    State,
    init,
)


def mirrored(state: State) -> State:
    """The same of two classes in the other order."""
    if state.seen[1] != TWO:
        return state
    bins = state.bins[:, ::-1].copy()
    bins[:, :, CAME], bins[:, :, PROMISED] = (bins[:, :, COUNT] - bins[:, :, k] for k in (CAME, PROMISED))
    platt = state.platt * np.array([1.0, -1.0, 1.0, -1.0, 1.0])
    return state._replace(bins=np.maximum(bins, 0.0), platt=platt)


def gains(base: State, state: State) -> dict[str, np.ndarray]:
    """What a worker has learnt beyond its base: sums, and the map as its mean times the examples."""
    fresh = base if base.seen[1] == state.seen[1] else init()
    count = state.seen[0] - fresh.seen[0]
    return {
        "shares": np.log(state.shares) - np.log(fresh.shares),
        "map": count * (state.platt[:2] - fresh.platt[:2]),
        "curvature": state.platt[2:] - fresh.platt[2:],
        "bins": state.bins - fresh.bins,
        "seen": np.array([count, state.seen[1] * (count > 0.0)]),
        "workers": np.array([float(count > 0.0)]),
    }


def onto(base: State, more: dict[str, np.ndarray]) -> State:
    """A base with the sums of its workers, and the mean of their maps; of other classes than the base's without it."""
    count, workers = more["seen"][0], more["workers"][0]
    if not count > 0.0:
        return base
    kind = min(round(more["seen"][1] / workers), SEVERAL)
    fresh = base if base.seen[1] == kind else init()
    logs = np.log(fresh.shares) + more["shares"]
    shares = np.maximum(np.exp(logs - logs.max()), FLOOR)
    a, b = fresh.platt[:2] + more["map"] / count
    along, across, above = fresh.platt[2:] + more["curvature"]
    along, above = max(along, PRIOR), max(above, PRIOR)
    across = across if across * across < along * above else 0.0
    platt = np.array([min(max(a, LEAST), MOST), min(max(b, -SHIFT), SHIFT), along, across, above])
    seen = np.array([fresh.seen[0] + count, kind])
    return State(shares / shares.sum(), platt, np.maximum(fresh.bins + more["bins"], 0.0), seen)
