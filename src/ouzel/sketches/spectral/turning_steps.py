"""How far a vector turns the directions of Oja's sketch: Gamma, for each of the two ways of choosing it.

Both are capped, for a vector much longer than all before turns every direction onto itself, and of the rest of the
others rounding leaves nothing.
"""

from __future__ import annotations

from ouzel.kernels.jit import force_inline

LONGEST = 1024.0  # by mass a vector turns a direction by at most so many times its own length (c = 1)
MOST_TURN = 1e5  # and at steps c / t, whatever c is


@force_inline
def step_by_mass(gamma, mass, square):
    """c / P of a direction, of a g whose square is g'g."""
    return gamma / max(mass, square / LONGEST)


@force_inline
def common_step(gamma, rounds, square):
    """c / t of all directions, of a g whose square is g'g."""
    return gamma / max(rounds, 1.0, gamma * square / MOST_TURN)
