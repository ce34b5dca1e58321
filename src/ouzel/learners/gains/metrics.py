"""Gains of learners whose state is a metric A over some slots, and weights w: what was added to A and to A w."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ouzel.learners.gains.parts import Gains, Peak, rows_of


def metric_gains(sums: Callable[[Any], tuple[np.ndarray, np.ndarray]]) -> Callable[[Any, Any, Any], Gains]:
    """Return `gains` of a learner; `sums` returns A (d, d) and A w of a state, by slot.

    A w is (d,), or (d, k) where a learner keeps k vectors in place of w.
    """

    def gains(base: Any, state: Any, settings: Any) -> Gains:
        """What a worker has learnt beyond its base: what it has added to A and to A w."""
        (before, pull), (after, pulled) = sums(base), sums(state)
        return {
            "metric": rows_of(after - before),
            "pull": pulled - pull,
            "placed": Peak((state.place > 0).astype(np.uint8)),
            "examples": state.counts[:1] - base.counts[:1],
        }

    return gains
