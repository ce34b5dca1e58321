"""A tiny model on top of others: it weighs their margins m, and learns its weights u by online Newton steps.

The step is that of Hazan, Agarwal & Kale (2007), "Logarithmic Regret Algorithms for Online Convex Optimization",
Machine Learning 69, Figure 2, with the loss's own curvature: for the prediction f = u.m,
    A <- A + l''(f) m m',    u <- u - l'(f) A^-1 m.

The inverse of A is kept, by the rule of Sherman and Morrison: O(16) operations an example.
"""

from __future__ import annotations

from math import isfinite

from ouzel.kernels.jit import force_inline

MODELS = 4
LEAST_CURVATURE = 1e-3
MOST = 1e100  # no number of a file goes further: sums of products stay finite
FURTHEST = 4.0  # margins the stack sees are clipped to so many units of the target


@force_inline
def clipped(margins, unit):
    """The margins as the stack sees them, where the largest |target| is `unit`."""
    end = FURTHEST * unit
    return (
        min(max(margins[0], -end), end),
        min(max(margins[1], -end), end),
        min(max(margins[2], -end), end),
        min(max(margins[3], -end), end),
    )


@force_inline
def combined(stack, margins):
    """u.m"""
    margin = 0.0
    for e in range(MODELS):
        margin += stack[e] * margins[e]
    return margin


@force_inline
def along(inverse, i, margins):
    """Entry i of A^-1 m."""
    total = 0.0
    for j in range(MODELS):
        total += inverse[i, j] * margins[j]
    return total


@force_inline
def _bend(inverse, margins, bend):
    """A <- A + bend m m', by the rule of Sherman and Morrison."""
    step = (
        along(inverse, 0, margins),
        along(inverse, 1, margins),
        along(inverse, 2, margins),
        along(inverse, 3, margins),
    )
    square = combined(step, margins)
    if square > 0.0:  # m' A^-1 m is not, but for rounding, where A has grown beyond what double precision inverts
        shrink = 1.0 + bend * square
        for i in range(MODELS):
            for j in range(MODELS):
                inverse[i, j] -= bend / shrink * step[i] * step[j]


@force_inline
def learn_stack(state, margins, unit, slope, bend, importance):
    """One step for u, margins taken in a unit, from the first two derivatives of the loss."""
    slope, bend = importance * slope, importance * max(bend, LEAST_CURVATURE)
    if isfinite(slope) and isfinite(bend) and unit > 0.0:
        seen = (margins[0] / unit, margins[1] / unit, margins[2] / unit, margins[3] / unit)
        _bend(state.inverse, seen, bend)
        for e in range(MODELS):
            state.stack[e] -= slope / unit * along(state.inverse, e, seen)
