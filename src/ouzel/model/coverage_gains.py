"""Coverage of workers: what each has learnt beyond a base, and the base with all of that."""

from __future__ import annotations

import numpy as np

from ouzel.model.coverage import COUNT, DEBT, SIZE, State

AVERAGED = ("places", "shares", "debts", "settled")  # of workers


def gains(base: State, state: State) -> dict[str, np.ndarray]:
    """What a worker has learnt beyond its base: differences, times the examples that it counted."""
    count = state.size[COUNT] - base.size[COUNT]
    found = {name: count * (getattr(state, name) - getattr(base, name)) for name in AVERAGED}
    return {**found, "size": np.array([count * (state.size[SIZE] - base.size[SIZE]), count])}


def onto(base: State, more: dict[str, np.ndarray]) -> State:
    """A base moved by the mean of what workers have moved it, each weighed by the examples that it counted."""
    count = more["size"][COUNT]
    if not count > 0.0:
        return base
    moved = {name: getattr(base, name) + more[name] / count for name in AVERAGED}
    size = np.array([max(base.size[SIZE] + more["size"][SIZE] / count, 0.0), base.size[COUNT] + count])
    moved["debts"] = np.clip(moved["debts"], -DEBT, DEBT)
    return State(**{**moved, "shares": np.clip(moved["shares"], 0.0, 1.0)}, size=size)
