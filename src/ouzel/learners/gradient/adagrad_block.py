"""AdaGrad with a block-diagonal metric: between one rate a feature and a full matrix.

Duchi, Hazan & Singer (2011), "Adaptive Subgradient Methods", JMLR 12, section 7 and Corollary 12. For each block B of
features, with g_B the part of a gradient that lies in it,
    H_B = damping I + (sum of g_B g_B')^(1/2)
and the update is that of `adagrad_full` in every block by itself. Blocks are `block_size` ids in a row, or those that
`with_blocks` is given: the namespaces of the features, groups known to be correlated, …

Lazy: only the blocks that an example touches are worked on. With dual averaging (eq. 3) the weights of a block follow
from its sums whenever it is needed; with mirror descent (eq. 4) the rounds since a block was last touched are made up
for: a ridge's at once, those of l1, elastic net and box one by one, until the block is zero or stays where it is. An
example costs the cube of the block size for each block it touches.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

from ouzel.errors import OuzelError
from ouzel.kernels.jit import kernel
from ouzel.layout import allocate, float64, int64, require
from ouzel.learners.gradient import matrix_gains
from ouzel.learners.gradient.matrix_metric import catch_up, decompose, require_solver, solve, times_metric
from ouzel.learners.limits import bound_all, has_square
from ouzel.learners.loops import learning_margins, predicting_margins
from ouzel.learners.shared_settings import Damping, DualAveraging, Loss, Penalty, Rate
from ouzel.learners.states import negating
from ouzel.ranges import Range
from ouzel.terms.losses import Logistic, derivative
from ouzel.terms.penalties.l1_and_l2 import NoPenalty, applies, require_separable

LARGEST_BLOCK = 512
NO_BLOCKS = np.empty(0, np.int64)  # that were given


class State(NamedTuple):
    block: np.ndarray  # (d,) int64  block of each slot
    position: np.ndarray  # (d,) int64  place of each slot within its block
    weight: np.ndarray  # (blocks, b) float64  w
    gradient: np.ndarray  # (blocks, b) float64  g of the example at work, zero between examples
    gradient_sum: np.ndarray  # (blocks, b) float64
    outer: np.ndarray  # (blocks, b, b) float64  sums of g_B g_B'
    vectors: np.ndarray  # (blocks, b, b) float64  eigenvectors of H_B
    eigenvalues: np.ndarray  # (blocks, b) float64
    stamp: np.ndarray  # (blocks, 2) int64  round up to which w is right, and of the last gradient
    seen: np.ndarray  # (1,) int64  t
    given: np.ndarray  # (2,) int64  slots and blocks that `with_blocks` was given


class Settings(NamedTuple):
    loss: Loss = Logistic()
    penalty: Penalty = NoPenalty()
    learning_rate: Rate = 0.25
    damping: Damping = 1e-6
    block_size: Annotated[float, Range(1.0, LARGEST_BLOCK, whole=True), "features in a block"] = 8.0
    dual_averaging: DualAveraging = False


def init(dimension: int, settings: Settings) -> State:
    """A state that has seen nothing, with room for `dimension` slots, in blocks of `block_size` slots."""
    return _make(NO_BLOCKS, dimension, settings)


def layout(dimension: int, settings: Settings) -> State:
    """What a state with room for `dimension` slots is made of, in blocks of `block_size` slots."""
    size = _size(settings)
    return _layout(dimension, -(-dimension // size), size)


def with_blocks(blocks: np.ndarray, settings: Settings) -> State:
    """A state that has seen nothing, whose slot k lies in block `blocks[k]` (numbers from 0 up).

    Slots that come later get blocks of `block_size` of their own. All blocks take the room of the largest.

    >>> with_blocks(np.array([0, 1, 1, 1, 0]), Settings()).position.tolist()
    [0, 0, 1, 2, 1]
    """
    return _make(np.asarray(blocks, np.int64), len(blocks), settings)


def check(state: State, settings: Settings) -> None:
    """Refuse slots that lie in other blocks than they were given, and blocks ahead of the rounds."""
    block, position = _arranged(NO_BLOCKS, len(state.block), _size(settings))
    require(not state.given.any(), "blocks of one's own are not kept in files")
    require(np.array_equal(state.block, block), "block is not that of each slot")
    require(np.array_equal(state.position, position), "position is not that of each slot")
    require((state.stamp <= state.seen[0]).all(), "stamp has rounds to come")


def _size(settings: Settings) -> int:
    """Slots of a block, of settings that the learner can do with."""
    require_separable(settings.penalty, "adagrad-block")
    require_solver(settings.penalty, "adagrad-block")
    size = int(settings.block_size)
    return size


def _layout(dimension: int, blocks: int, width: int) -> State:
    return State(
        block=int64(dimension),
        position=int64(dimension),
        weight=float64(blocks, width),
        gradient=float64(blocks, width),
        gradient_sum=float64(blocks, width),
        outer=float64(blocks, width, width),
        vectors=float64(blocks, width, width),
        eigenvalues=float64(blocks, width),
        stamp=int64(blocks, 2),
        seen=int64(1),
        given=int64(2),
    )


def _arranged(blocks: np.ndarray, dimension: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """The block of each slot (dimension,), `blocks` of the first ones given, and its position there."""
    count = int(blocks.max()) + 1 if len(blocks) else 0
    more = np.arange(dimension - len(blocks))
    block = np.concatenate([blocks, count + more // size])
    order = np.argsort(block, kind="stable")
    first = np.searchsorted(block[order], block[order])
    position = np.empty(dimension, np.int64)
    position[order] = np.arange(dimension) - first
    return block, position


def _make(blocks: np.ndarray, dimension: int, settings: Settings) -> State:
    size = _size(settings)
    block, position = _arranged(blocks, dimension, size)
    width = max(size, int(position.max(initial=0)) + 1)
    if width > LARGEST_BLOCK:
        raise OuzelError(f"a block has at most {LARGEST_BLOCK} features; got one of {width}")
    state: State = allocate(_layout(dimension, int(block.max(initial=-1)) + 1, width))
    state.given[:] = len(blocks), int(blocks.max(initial=-1)) + 1
    return state._replace(block=block, position=position)


def grow(state: State, dimension: int, settings: Settings) -> State:
    """The same state with room for `dimension` slots."""
    grown = _make(state.block[: state.given[0]], dimension, settings)
    for larger, array in zip(grown[2:9], state[2:9], strict=True):
        larger[: len(array)] = array
    return grown._replace(seen=state.seen)


@kernel
def _weights_now(state, block, weight, settings):
    """Turn `weight` (b,), a block's stored weights, into those of now."""
    rounds = state.seen[0] - state.stamp[block, 0]
    if not applies(settings.penalty) or rounds == 0 or state.stamp[block, 1] == 0:
        return
    vectors, eigenvalues = state.vectors[block], state.eigenvalues[block]
    rate = settings.learning_rate
    if settings.dual_averaging:
        linear = rate * state.gradient_sum[block]
        solve(settings.penalty, vectors, eigenvalues, linear, rate * state.seen[0], weight)
        bound_all(weight)
        return
    catch_up(settings.penalty, vectors, eigenvalues, weight, rate, rounds)


@kernel
def predict_row(state, indices, values, settings):
    """The margin of one example."""
    margin = 0.0
    last = np.int64(-1)
    weight = np.empty(state.weight.shape[1])
    for k in range(len(indices)):
        block = state.block[indices[k]]
        if block != last:
            weight[:] = state.weight[block]
            _weights_now(state, block, weight, settings)
            last = block
        margin += values[k] * weight[state.position[indices[k]]]
    return margin


@kernel
def _update_block(state, block, settings):
    """Learn the gradient that lies ready for a block whose weights are those of the last round."""
    gradient, weight = state.gradient[block], state.weight[block]
    state.gradient_sum[block] += gradient
    outer = state.outer[block]
    for i in range(len(gradient)):
        for j in range(len(gradient)):
            outer[i, j] += gradient[i] * gradient[j]
    vectors, eigenvalues = decompose(outer, settings.damping)
    state.vectors[block] = vectors
    state.eigenvalues[block] = eigenvalues
    rate = settings.learning_rate
    if settings.dual_averaging:
        linear = rate * state.gradient_sum[block]
        solve(settings.penalty, vectors, eigenvalues, linear, rate * state.seen[0], weight)
    else:
        linear = rate * gradient - times_metric(vectors, eigenvalues, weight)
        solve(settings.penalty, vectors, eigenvalues, linear, rate, weight)
    bound_all(weight)
    state.stamp[block] = state.seen[0]
    gradient[:] = 0.0


@kernel
def learn_row(state, indices, values, target, importance, settings):
    """Learn one example in place; return the margin predicted before learning."""
    if importance == 0.0:
        return predict_row(state, indices, values, settings)
    margin = 0.0
    for k in range(len(indices)):
        block = state.block[indices[k]]
        if state.stamp[block, 0] < state.seen[0]:
            _weights_now(state, block, state.weight[block], settings)
            state.stamp[block, 0] = state.seen[0]
        margin += values[k] * state.weight[block, state.position[indices[k]]]
    slope = importance * derivative(settings.loss, margin, target)
    state.seen[0] += 1
    if slope != 0.0:
        for k in range(len(indices)):
            gradient = slope * values[k]
            if has_square(gradient):
                state.gradient[state.block[indices[k]], state.position[indices[k]]] = gradient
        for k in range(len(indices)):
            block = state.block[indices[k]]
            if state.stamp[block, 0] < state.seen[0]:
                _update_block(state, block, settings)
    return margin


learn_rows = learning_margins(learn_row)
predict_rows = predicting_margins(predict_row)


def weights(state: State, settings: Settings) -> np.ndarray:
    """The weight of every slot, the penalty applied to all."""
    current = state.weight.copy()
    for block, weight in enumerate(current):
        _weights_now(state, block, weight, settings)
    return current[state.block, state.position]


swap_classes = negating("weight", "gradient_sum")


def _blocks(state: State, settings: Settings) -> matrix_gains.Blocks:
    current = state.weight.copy()
    for block, weight in enumerate(current):
        _weights_now(state, block, weight, settings)
    return matrix_gains.Blocks(current, state.gradient_sum, state.outer, float(state.seen[0]))


def gains(base: State, state: State, settings: Settings) -> Any:
    """What a worker has learnt beyond its base."""
    return matrix_gains.gains_of(_blocks(base, settings), _blocks(state, settings), settings)


def onto(base: State, gains: Any, settings: Settings) -> State:
    """The state of a base and of what workers have learnt beyond it; see `matrix_gains`."""
    blocks = matrix_gains.onto(_blocks(base, settings), gains, settings)
    merged = swap_classes(base)._replace(weight=blocks.weight, gradient_sum=blocks.gradient_sum, outer=blocks.outer)
    merged.seen[0] = round(blocks.seen)
    for block in gains["moved"].places:
        merged.vectors[block], merged.eigenvalues[block] = decompose(merged.outer[block], settings.damping)
    met = merged.outer.any(axis=(1, 2))
    merged.stamp[met] = merged.seen[0]
    return merged
