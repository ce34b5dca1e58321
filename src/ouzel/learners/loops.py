"""The loops over a block's rows, written once: a learner says what it does with one.

A loop is made for each learner from its own function of a row, which is compiled into it. Nothing is chosen while it
runs, so it costs what a loop in the learner's file would.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ouzel.kernels.jit import force_inline, kernel_of
from ouzel.learners.rows import longest
from ouzel.learners.scores import learning_pairs

Function = Callable[..., Any]


def learning_margins(learn_row: Function) -> Function:
    """`learn_rows` of a learner that has one margin an example."""

    @kernel_of(learn_row)
    def learn_rows(state, rows, targets, importances, settings, margins):
        """Learn a block; `margins` (n,) takes the predictions made before learning each example."""
        for i in range(len(targets)):
            here = slice(rows.offsets[i], rows.offsets[i + 1])
            margins[i] = learn_row(state, rows.indices[here], rows.values[here], targets[i], importances[i], settings)

    return learn_rows


def predicting_margins(predict_row: Function) -> Function:
    """`predict_rows` of a learner that has one margin an example."""

    @kernel_of(predict_row)
    def predict_rows(state, rows, settings, margins):
        """Write the margins (n,) of a block."""
        for i in range(len(margins)):
            here = slice(rows.offsets[i], rows.offsets[i + 1])
            margins[i] = predict_row(state, rows.indices[here], rows.values[here], settings)

    return predict_rows


def learning_scores(learn_row: Function) -> Function:
    """`learn_rows` of a learner that has a score for each class."""

    @kernel_of(learn_row)
    def learn_rows(state, rows, targets, importances, settings, scores):
        """Learn a block; `scores` (n, classes) takes the predictions made before learning each example."""
        for i in range(len(targets)):
            here = slice(rows.offsets[i], rows.offsets[i + 1])
            learn_row(state, rows.indices[here], rows.values[here], targets[i], importances[i], settings, scores[i])

    return learn_rows


def predicting_scores(predict_row: Function) -> Function:
    """`predict_rows` of a learner that has a score for each class."""

    @kernel_of(predict_row)
    def predict_rows(state, rows, settings, scores):
        """Write the scores (n, classes) of a block."""
        for i in range(len(scores)):
            here = slice(rows.offsets[i], rows.offsets[i + 1])
            predict_row(state, rows.indices[here], rows.values[here], settings, scores[i])

    return predict_rows


@force_inline
def _nothing(state, indices):
    pass


def learning_in(make_room: Function, learn: Function, ahead: Function = _nothing) -> tuple[Function, Function]:
    """`learn_row` and `learn_rows` of a learner of one margin an example that works in arrays of its own.

    Those are `make_room(state, nonzeros)`, for examples of so many non-zeros, and the last argument of `learn`. The
    loop takes them as an argument as well: what allocates nothing need not count references to a state's arrays.
    `ahead(state, indices)` is told the features of the next example before one is learnt.
    """

    @kernel_of(learn)
    def learn_row(state, indices, values, target, importance, settings):
        """Learn one example in place; return the margin predicted before learning."""
        return learn(state, indices, values, target, importance, settings, make_room(state, len(indices)))

    @kernel_of(learn, inline=True)
    def loop(state, rows, targets, importances, settings, margins, work):
        for i in range(len(targets)):
            here = slice(rows.offsets[i], rows.offsets[i + 1])
            if i + 1 < len(targets):
                ahead(state, rows.indices[rows.offsets[i + 1] : rows.offsets[i + 2]])
            margins[i] = learn(state, rows.indices[here], rows.values[here], targets[i], importances[i], settings, work)

    def learn_rows(state: Any, rows: Any, targets: Any, importances: Any, settings: Any, margins: Any) -> None:
        """Learn a block; `margins` (n,) takes the predictions made before learning each example."""
        loop(state, rows, targets, importances, settings, margins, make_room(state, longest(rows.offsets)))

    return learn_row, learn_rows


def predicting_in(make_room: Function, predict: Function) -> tuple[Function, Function]:
    """`predict_row` and `predict_rows` of such a learner."""

    @kernel_of(predict)
    def predict_row(state, indices, values, settings):
        """The margin of one example."""
        return predict(state, indices, values, settings, make_room(state, len(indices)))

    @kernel_of(predict)
    def predict_rows(state, rows, settings, margins):
        """Write the margins (n,) of a block."""
        work = make_room(state, longest(rows.offsets))
        for i in range(len(margins)):
            here = slice(rows.offsets[i], rows.offsets[i + 1])
            margins[i] = predict(state, rows.indices[here], rows.values[here], settings, work)

    return predict_row, predict_rows


def learning_by_pairs(predict_row: Function, learn_pair: Function) -> tuple[Function, Function, Function]:
    """`learn_row`, `learn_rows` and `predict_rows` of a learner of pairs of a true class and the best wrong one."""
    learn_row = learning_pairs(predict_row, learn_pair)
    return learn_row, learning_scores(learn_row), predicting_scores(predict_row)
