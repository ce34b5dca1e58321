"""Gains of dual averaging: weights are averaged, and the sums of gradients that make them solved for.

Weights follow from the sum of gradients G by w = prox(v), v = -rate G, of the strength rate t. Sums of workers that
began from one trained base add up to steps as long as all of theirs together, which overshoots where they have met the
same features (from an untrained one: `sums`). So what is averaged is w, and its subgradient u = (v - w) / (rate t) of
the penalty; from the two follows
    G = -(w / rate + T u)
with the rate of the merged sums of squares, and T the examples that w counts as penalised for (see `growth`). A slot
that no worker has met keeps its G.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ouzel.learners.gains.growth import grown, mean_growth, mean_move, penalised_examples
from ouzel.learners.gains.parts import Gains, dense

Function = Callable[..., Any]


def averaging_duals(
    weights: Function,
    sums: Function,
    squares: Function | None,
    rates: Function,
    rebuilt: Function,
    totals: tuple[str, ...] = ("seen",),
) -> tuple[Function, Function]:
    """`gains` and `onto` of a learner by dual averaging; arrays are (d,) or (d, classes).

    `sums(state)` is G and `squares(state)` the sums of squared gradients, None where all rates are one: then a slot
    counts by the examples of the workers that have met it. `rates(squares, seen, settings)` are the rates; with
    `rebuilt(base, weights, sums, squares, totals, settings)` a state is made of new ones (float64).
    """

    def curved(state: Any) -> np.ndarray:
        return np.zeros(sums(state).shape) if squares is None else squares(state).astype(np.float64)

    def primal(state: Any, settings: Any) -> tuple[np.ndarray, np.ndarray]:
        """w and u."""
        seen = float(getattr(state, totals[0])[0])
        weight = np.asarray(weights(state, settings), np.float64)
        rate = rates(curved(state), seen, settings)
        strength = rate * seen
        beyond = -rate * sums(state) - weight
        return weight, np.divide(beyond, strength, out=np.zeros(weight.shape), where=strength > 0.0)

    def gains(base: Any, state: Any, settings: Any) -> Gains:
        """What a worker has learnt beyond its base."""
        found: Gains = {name: getattr(state, name) - getattr(base, name) for name in totals}
        examples = float(found[totals[0]][0])
        met = sums(state) != sums(base)
        growth = met * examples if squares is None else curved(state) - curved(base)
        (before, below), (after, above) = primal(base, settings), primal(state, settings)
        return {
            **found,
            "moved": grown(growth, after - before, examples),
            "bent": grown(growth, above - below, examples),
        }

    def onto(base: Any, gains: Gains, settings: Any) -> Any:
        """The state of a base and of what workers have learnt beyond it."""
        before, below = primal(base, settings)
        moved, bent = (dense(gains[name], len(before)) for name in ("moved", "bent"))
        total = {name: getattr(base, name) + gains[name] for name in totals}
        start, seen = float(getattr(base, totals[0])[0]), float(total[totals[0]][0])
        squared = curved(base) + (0.0 if squares is None else mean_growth(moved))
        weight, subgradient = before + mean_move(moved), below + mean_move(bent)
        rate = rates(squared, seen, settings)
        penalised = np.minimum(start + penalised_examples(moved), seen)
        inverse = np.divide(1.0, rate, out=np.zeros(rate.shape), where=rate > 0.0)
        met = moved[:, 0] > 0.0
        solved = np.where(met, -(weight * inverse + penalised * subgradient), sums(base))
        return rebuilt(base, weight, solved, squared, total, settings)

    return gains, onto
