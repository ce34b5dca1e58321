"""A loop over a block is compiled once, whoever calls it."""

import numpy as np

from ouzel.kernels.jit import kernel
from ouzel.learners.blocks import learning_margins_of, learning_scores_of
from ouzel.learners.rows import Rows


@kernel
def room(state):
    """Nothing to work in."""
    return np.empty(0)


def _loop():
    """A loop that counts examples."""

    @kernel
    def learn(state, rows, start, targets, importances, settings, out, work):
        state[0] += len(targets) - start
        return len(targets)

    return learn


def _rows(count):
    return Rows(np.arange(count + 1, dtype=np.uint64), np.zeros(count, np.uint32), np.ones(count, np.float32))


def test_examples_and_blocks_share_one_compiled_loop():
    for learning, out, targets in (
        (learning_margins_of, (np.empty(3), ()), np.zeros(3)),
        (learning_scores_of, (np.empty((3, 2)), (np.empty(2),)), np.zeros(3, np.int64)),
    ):
        learn, state, ones = _loop(), np.zeros(1), np.ones(3, np.float32)
        learn_row, learn_rows = learning(room, learn, lambda state, indices: None)
        learn_rows(state, _rows(3), targets, ones, (), out[0])
        learn_row(state, *_rows(1)[1:], targets[0], ones[0], (), *out[1])

        assert state[0] == 4
        assert len(learn.signatures) == 1
