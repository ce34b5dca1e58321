"""What serves blocks and single examples, of a learner whose kernel goes through a block and stops where more is to do.

A kernel of a long body takes seconds to compile, and as long again in each other that it is set into. So there is one
loop, and a single example is a block of one row. What is seldom done is not compiled at all: the loop returns the
number of the row behind which it is to be done, or else that of rows. It works in arrays that are not a part of
the state, its last argument.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ouzel.kernels.jit import inline_source, kernel_of
from ouzel.learners.rows import Rows

Function = Callable[..., Any]
FIRST = np.int64(0)  # not 0 itself, whose type Numba takes for another, so that it compiles the whole loop once more


class LearnRow:
    """`learn_row` of one example: a kernel, and `turn(state, indices)` behind it where it says that it must follow."""

    def __init__(self, run: Function, turn: Function) -> None:
        self.run, self.turn, self.__doc__ = run, turn, run.__doc__

    def __call__(self, state: Any, indices: Any, *rest: Any) -> Any:
        """Learn one example in place; the prediction made before learning is returned, or written to the last one."""
        prediction, done = self.run(state, indices, *rest)
        if not done:
            self.turn(state, indices)
        return prediction

    def compile(self, kinds: tuple[Any, ...]) -> LearnRow:
        """The same as compiled for arguments of these types."""
        compile: Any = getattr(self.run, "compile", None)
        return LearnRow(compile(kinds), self.turn) if compile else self


@inline_source
def _one(indices, values):
    """A block of one row."""
    offsets = np.empty(2, np.uint64)
    offsets[0], offsets[1] = 0, len(indices)
    return Rows(offsets, indices, values)


def _through(make_room: Function, learn: Function, turn: Function) -> Function:
    """`learn_rows` of `learn(state, rows, start, targets, importances, settings, out, work)`."""

    def learn_rows(state: Any, rows: Any, targets: Any, importances: Any, settings: Any, out: Any) -> None:
        """Learn a block; `out` takes the predictions made before learning each example."""
        work, start = _room(make_room, state), 0
        while start < len(targets):
            i = learn(state, rows, start, targets, importances, settings, out, work)
            if i < len(targets):
                turn(state, rows.indices[rows.offsets[i] : rows.offsets[i + 1]])
            start = i + 1

    return learn_rows


def _room(make_room: Function, state: Any) -> Any:
    """Room to work in. The function that makes it is not compiled for this."""
    return getattr(make_room, "py_func", make_room)(state)


def learning_margins_of(make_room: Function, learn: Function, turn: Function) -> tuple[LearnRow, Function]:
    """`learn_row` and `learn_rows` of a learner that has one margin an example."""

    @kernel_of(learn)
    def learn_row(state, indices, values, target, importance, settings):
        """Learn one example in place; return the margin predicted before learning."""
        rows, targets, importances = _one(indices, values), np.empty(1), np.empty(1, np.float32)
        targets[0], importances[0], margins = target, importance, np.empty(1)
        done = learn(state, rows, FIRST, targets, importances, settings, margins, make_room(state)) > 0
        return margins[0], done

    return LearnRow(learn_row, turn), _through(make_room, learn, turn)


def learning_scores_of(make_room: Function, learn: Function, turn: Function) -> tuple[LearnRow, Function]:
    """The same for a learner that has a score for each class; targets are the positions of classes."""

    @kernel_of(learn)
    def learn_row(state, indices, values, target, importance, settings, scores):
        """Learn one example in place; `scores` (classes,) takes the prediction made before learning."""
        rows, targets = _one(indices, values), np.empty(1, np.int64)
        importances, out = np.empty(1, np.float32), scores.reshape((1, len(scores)))
        targets[0], importances[0] = target, importance
        return 0, learn(state, rows, FIRST, targets, importances, settings, out, make_room(state)) > 0

    return LearnRow(learn_row, turn), _through(make_room, learn, turn)


def predicting_margins_of(make_room: Function, predict: Function) -> tuple[Function, Function]:
    """`predict_row` and `predict_rows` of `predict(state, rows, settings, margins, work)`, which writes to no state."""

    @kernel_of(predict)
    def predict_row(state, indices, values, settings):
        """The margin of one example."""
        rows, margins = _one(indices, values), np.empty(1)
        predict(state, rows, settings, margins, make_room(state))
        return margins[0]

    def predict_rows(state: Any, rows: Any, settings: Any, margins: Any) -> None:
        """Write the margins (n,) of a block."""
        predict(state, rows, settings, margins, _room(make_room, state))

    return predict_row, predict_rows


def predicting_scores_of(make_room: Function, predict: Function) -> tuple[Function, Function]:
    """The same for a learner that has a score for each class."""

    @kernel_of(predict)
    def predict_row(state, indices, values, settings, scores):
        """Write the scores (classes,) of one example."""
        rows = _one(indices, values)
        predict(state, rows, settings, scores.reshape((1, len(scores))), make_room(state))

    def predict_rows(state: Any, rows: Any, settings: Any, scores: Any) -> None:
        """Write the scores (n, classes) of a block."""
        predict(state, rows, settings, scores, _room(make_room, state))

    return predict_row, predict_rows
