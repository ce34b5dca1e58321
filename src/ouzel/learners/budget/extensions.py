"""What WM-Sketch and AWM-Sketch do in the same way by sections 6.1 and 9 of their paper.

Tai, Sharan, Bailis & Valiant (2018), "Sketching Linear Classifiers over Data Streams", SIGMOD. With z the sketch,
eta_t the step size, g the gradient of a feature and G the sum of g^2 so far:
- l1 (section 6.1): after the gradient step of each round, z <- sign(z) max(|z| - l1 eta_t, 0), and the active set
  likewise: forward-backward splitting of the loss and the elastic net, exact in every round at no cost for cells that
  an example does not touch (`sketches.cells`).
- learning rates per feature (section 9): a weight moves by first / (1 + sqrt(G)) g in place of eta_t g, as McMahan et
  al. (2013), "Ad Click Prediction", have AdaGrad's: without the 1 any feature would begin at `first`.
  G lies beside the cells of the sketch, 4 bytes each, and beside the active set. Penalties keep the common step.
- reduced precision (section 9): cells of 16 or 8 bits in place of 32, rounded at random; as many more as that leaves
  room for. The active set stays in single precision.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from math import sqrt
from typing import Annotated, Any

import numpy as np

from ouzel.errors import OuzelError
from ouzel.kernels.jit import force_inline, kernel_of
from ouzel.learners.budget import decaying_weights, sketch_loop
from ouzel.learners.budget.decaying_weights import pushing
from ouzel.learners.budget.gains import learnt
from ouzel.learners.budget.kept_features import check, members
from ouzel.learners.budget.sketch_loop import learning_row
from ouzel.learners.gains.parts import First, Gains
from ouzel.learners.limits import has_square
from ouzel.learners.states import negating
from ouzel.ranges import STRENGTH, SWITCH, Range
from ouzel.sketches import cells, top_k
from ouzel.sketches.cells import MOST_OWED, soften

CellL1 = Annotated[float, STRENGTH, "strength of the l1 penalty on the sketch: cells become exactly zero"]
PerFeature = Annotated[bool, SWITCH, "a learning rate for each feature, AdaGrad's; 4 bytes more for each cell"]
CellBits = Annotated[float, Range(8.0, 32.0, whole=True), "of a cell of the sketch: 32, or 16 or 8, rounded at random"]

EXTENSION = {"l1": (CellL1, 0.0), "per_feature": (PerFeature, False), "cell_bits": (CellBits, 32.0)}
"""The settings that ask for it, and their defaults."""

ROUNDS = 64.0  # at least so many pass between two times that what is owed is paid everywhere
ENOUGH = 1.0  # owed, from which on digits of what is written are at stake


def is_extended(settings: Any) -> bool:
    """Whether settings ask for anything of the above."""
    return bool(settings.l1 > 0.0 or settings.per_feature or settings.cell_bits < 32.0)


def choosing(name: str) -> Callable[..., Any]:
    """`module_for` of the learner of a module: beside it, by the name with `_extended`, is the one with all this."""

    def module_for(task: str, loss: Any, settings: Any = None) -> Any:
        """The module that learns by these settings."""
        extended = settings is not None and is_extended(settings)
        return importlib.import_module(f"{name}_extended" if extended else name)

    return module_for


def checked_extensions(settings: Any, *alone: str) -> Any:
    """The settings, or an error where these do not go together; those named in `alone` go with none of them."""
    if settings.cell_bits not in (8.0, 16.0, 32.0):
        raise OuzelError(f"must be 8, 16 or 32; got {settings.cell_bits:g}", subject="cell_bits")
    if settings.cell_bits < 32.0 and settings.l1 > 0.0:
        raise OuzelError("l1 takes cells of 32 bits, as small ones cannot shrink by less than a unit; leave out one")
    for name in alone:
        if getattr(settings, name) and is_extended(settings):
            raise OuzelError(f"{name} does not go with l1, per_feature or cell_bits; leave out one")
    return settings


def cell_bytes(settings: Any) -> int:
    """Bytes of a cell of the sketch, its sum of squares included."""
    return int(settings.cell_bits) // 8 + (4 if settings.per_feature else 0)


def begin(state: Any, settings: Any) -> None:
    """Let whatever comes enter, and hash as the seed says."""
    top_k.begin(state.heap)
    cells.begin(state.cells, int(settings.sketch_seed))


@force_inline
def change_of(state, sum_of_squares, gradient, change, settings):
    """How far a weight over the scale moves: AdaGrad's step, or the change given."""
    if settings.per_feature:
        return np.float32(-settings.learning_rate * gradient / ((1.0 + sqrt(sum_of_squares)) * state.scale[0]))
    return change


@force_inline
def fold(state):
    """Multiply the scale into what it scales."""
    top_k.rescale(state.heap, np.float32(state.scale[0]))
    cells.rescale(state.cells, state.scale[0])
    state.scale[0] = 1.0


@force_inline
def shrink(state, length):
    """Let all weights be nearer to zero by this length."""
    state.cells.grid[1] = min(state.cells.grid[1] + length, MOST_OWED)
    if state.cells.grid[1] > max(ENOUGH, ROUNDS * length):
        owed = np.float32(state.cells.grid[1])
        for entry in range(len(state.heap.keys)):
            state.heap.weights[entry] = soften(state.heap.weights[entry], owed)
        top_k.rescale(state.heap, np.float32(1.0))  # which bounds follow
        cells.settle(state.cells)


@force_inline
def finish(state, step, settings):
    """End a round: all weights shrink by l1."""
    if settings.l1 > 0.0:
        shrink(state, step * settings.l1 / state.scale[0])


push = pushing(fold)


def learning(value_of: Callable[..., Any], learn_feature: Callable[..., Any]) -> Callable[..., Any]:
    """`learn_row` of a learner.

    `value_of(state, slot)` is the weight of a slot over the scale, as predictions use it, and `learn_feature(state,
    slot, gradient, change, settings)` moves it by `change`, or as `change_of` has it.
    """

    @kernel_of(learn_feature, inline=True)
    def move(state, slot, value, slope, factor, settings):
        """Move the weight of a feature, unless its gradient is none or too small to have a square."""
        gradient = slope * np.float64(value)
        if has_square(gradient) if settings.per_feature else factor != 0.0:
            learn_feature(state, slot, gradient, -factor * value, settings)

    return learning_row(sketch_loop.learning(learn_feature.__module__, push, value_of, move, finish))


def gains_of_cells(base: Any, state: Any) -> Gains:
    """What the cells of a worker have learnt beyond its base: counters times its examples, and sums of squares."""
    examples = learnt(base, state)
    squares = state.cells.squares.astype(np.float64) - base.cells.squares
    return {
        "examples": examples,
        "counters": examples * state.scale[0] * cells.table(state.cells).astype(np.float64),
        "squares": squares,
        "random": First((examples, int(state.cells.random[1])), state.cells.random),
    }


def fade(state: Any, kept: float, settings: Any) -> None:
    """Let past examples count for a part of what they did, in the steps of each feature too."""
    decaying_weights.fade(state, kept, settings, adaptive=settings.per_feature)
    for squares in (state.cells.squares, getattr(state, "sums", state.cells.squares[:0])):
        squares *= np.float32(kept)


def settle_cells(merged: Any, base: Any, gains: Gains) -> None:
    """Write what workers and their base come to to the cells of a fresh state."""
    cells.write(merged.cells, gains["counters"] / gains["examples"])
    merged.cells.squares[...] = base.cells.squares + gains["squares"]
    merged.cells.random[...] = gains["random"].content
    merged.scale[1] = base.scale[1] + gains["examples"]


ALIKE = begin, check, members, negating("heap.weights", "cells.numbers"), fade
"""What both do by the functions above."""
