"""Room to work in: what is computed of one example, by name. It is made for each block, and is not a part of a state.

Of every example all see its slots and z, and the block its members; what the models say of it depends on the task. E is
the number of models and K that of classes. The numbers of the models are views of one array.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import inline_source, kernel

MODELS_OF_TWO, MODELS_OF_SEVERAL, MODELS_OF_NUMBERS = 6, 5, 3  # models of two classes, of several, and of numbers
MOST_MEMBERS = 128  # of the block
EXPERTS = 5  # of numbers by other losses, beside the models


class OfTwo(NamedTuple):
    """What models of two classes say, and what weighs them."""

    margins: np.ndarray  # (E,) float64  cut
    chances: np.ndarray  # (E + 1,) float64  of class 1, by each model and by the mixture
    step: np.ndarray  # (E,) float64  of the mixture
    root: np.ndarray  # (E, E) float64  of the mixture's curvature
    experts: np.ndarray  # (E + 1,) float64  by other losses: what the mixture says, and each model
    believed: np.ndarray  # (E + 1,) float64  how far


class OfSeveral(NamedTuple):
    """What models of several classes say, and what weighs them."""

    scores: np.ndarray  # (E, K) float64
    margins: np.ndarray  # (E, K) float64  cut, and centred in learning
    chances: np.ndarray  # (E + 1, K) float64  by each model and by the mixture
    slopes: np.ndarray  # (K,) float64  of a model's loss
    pushes: np.ndarray  # (K,) float64  sums of z^2 s^-1/2
    shares: np.ndarray  # (K,) float64  softmax of a model's scores
    steps: np.ndarray  # (K,) float64  of a model
    told: np.ndarray  # (E + 1,) float64  chances of the true class
    direction: np.ndarray  # (E,) float64  slope of the mixture's loss
    step: np.ndarray  # (E,) float64  of the mixture
    root: np.ndarray  # (E, E) float64  of the mixture's curvature


class OfNumbers(NamedTuple):
    """What models of numbers say, and what weighs them."""

    margins: np.ndarray  # (E,) float64  cut
    step: np.ndarray  # (E,) float64  of the mixture
    root: np.ndarray  # (E, E) float64  of the mixture's curvature
    experts: np.ndarray  # (E + 5,) float64  by other losses: what the experts say
    believed: np.ndarray  # (E + 5,) float64  how far


class Work(NamedTuple):
    slots: np.ndarray  # (d,) uint32  slots of an example as the models see it
    values: np.ndarray  # (d,) float32  their z
    raw: np.ndarray  # (d,) float32  x of the dense features, by place
    high: np.ndarray  # (1,) bool  whether any of these may be far off
    chosen: np.ndarray  # (128,) int64  places of the members of the block that are in an example
    z: np.ndarray  # (128,) float64  z of the members
    v: np.ndarray  # (128,) float64  the block's direction
    models: Any  # one of the above


@inline_source
def _room(state, numbers, models):
    """Work for a state, whose z and v are the first two rows of `numbers`."""
    d, chosen, high = len(state.table), np.empty(MOST_MEMBERS, np.int64), np.zeros(1, np.bool_)
    slots, values, raw = np.empty(d, np.uint32), np.empty(d, np.float32), np.empty(d, np.float32)
    return Work(slots, values, raw, high, chosen, numbers[0], numbers[1], models)


@kernel
def room_for_two(state):
    """Room to work in for a state of two classes, or of the models of two classes."""
    numbers = np.empty((7 + MODELS_OF_TWO, MOST_MEMBERS))
    models = OfTwo(
        margins=numbers[2, :MODELS_OF_TWO],
        chances=numbers[3, : MODELS_OF_TWO + 1],
        step=numbers[4, :MODELS_OF_TWO],
        experts=numbers[5, : MODELS_OF_TWO + 1],
        believed=numbers[6, : MODELS_OF_TWO + 1],
        root=numbers[7:, :MODELS_OF_TWO],
    )
    return _room(state, numbers, models)


@kernel
def room_for_several(state):
    """Room to work in for a state of several classes."""
    classes = state.table.shape[2]
    numbers = np.empty((10 + 4 * MODELS_OF_SEVERAL, max(MOST_MEMBERS, classes)))
    models = OfSeveral(
        slopes=numbers[2, :classes],
        pushes=numbers[3, :classes],
        shares=numbers[4, :classes],
        steps=numbers[5, :classes],
        told=numbers[6, : MODELS_OF_SEVERAL + 1],
        direction=numbers[7, :MODELS_OF_SEVERAL],
        step=numbers[8, :MODELS_OF_SEVERAL],
        root=numbers[9 : 9 + MODELS_OF_SEVERAL, :MODELS_OF_SEVERAL],
        scores=numbers[9 + MODELS_OF_SEVERAL : 9 + 2 * MODELS_OF_SEVERAL, :classes],
        margins=numbers[9 + 2 * MODELS_OF_SEVERAL : 9 + 3 * MODELS_OF_SEVERAL, :classes],
        chances=numbers[9 + 3 * MODELS_OF_SEVERAL :, :classes],
    )
    return _room(state, numbers, models)


@kernel
def room_for_numbers(state):
    """Room to work in for a state of numbers."""
    numbers = np.empty((6 + MODELS_OF_NUMBERS, MOST_MEMBERS))
    models = OfNumbers(
        margins=numbers[2, :MODELS_OF_NUMBERS],
        step=numbers[3, :MODELS_OF_NUMBERS],
        experts=numbers[4, : EXPERTS + MODELS_OF_NUMBERS],
        believed=numbers[5, : EXPERTS + MODELS_OF_NUMBERS],
        root=numbers[6:, :MODELS_OF_NUMBERS],
    )
    return _room(state, numbers, models)
