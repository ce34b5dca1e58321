"""What a model does with a block, or one example, by task: numbers to predict, classes, or groups to rank."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ouzel.errors import OuzelError
from ouzel.kernels.jit import compiled_for
from ouzel.learners.rows import Rows
from ouzel.model.losses import losses_of, multiclass_hinge_losses, multinomial_losses, one_vs_rest_losses
from ouzel.streams.block import Block
from ouzel.streams.label_values import tidy

if TYPE_CHECKING:
    from ouzel.model.model import Model


class Learnt(NamedTuple):
    """What learning a block gives for evaluation, one entry an example that had a label."""

    margins: np.ndarray  # (n,) or (n, classes) float64, predicted before learning; -inf for a class not known yet
    targets: np.ndarray  # (n,) float64 numbers to predict, or int64 positions of classes
    importances: np.ndarray  # (n,) float32
    losses: np.ndarray  # (n,) float64, the learner's own loss of the prediction (one against the rest: summed)


def difference(scores: np.ndarray) -> np.ndarray:
    """The margin (n,) of two classes' scores (n, 2); no number where both are infinite."""
    with np.errstate(invalid="ignore"):
        return scores[:, 1] - scores[:, 0]


def learn_numbers(model: Model, rows: Rows, block: Block) -> Learnt:
    margins, losses = np.empty(block.rows), np.empty(block.rows)
    targets = numbers_of(block)
    model.module.learn_rows(model.states[0], rows, targets, block.weights, model.settings, margins)
    losses_of(model.loss, margins, targets, losses)
    return Learnt(margins, targets, block.weights, losses)


def numbers_of(block: Block) -> np.ndarray:
    """Labels (n,) that are numbers."""
    if block.label_names is not None:
        raise OuzelError(
            f"the label {block.label_names[0]!r} is no number to predict; choose another column, or a loss of classes"
        )
    return block.labels


def learn_groups(model: Model, rows: Rows, block: Block) -> Learnt:
    """Learn pairs of examples of a group, the one of higher label first; its margin should be above 0."""
    from ouzel.model.pairs import groups_of, learn_group

    groups = np.zeros(block.rows) if block.groups is None else block.groups
    grades = numbers_of(block)
    found = [np.empty(0)]
    for here in groups_of(groups):
        part = Rows(rows.offsets[here.start : here.stop + 1], rows.indices, rows.values)
        drawn = {"pairs": model.pairs, "seed": model.seed, "group": model.examples + here.start}
        found.append(learn_group(model.module, model.states[0], part, grades[here], model.settings, **drawn))
    margins = np.concatenate(found)
    losses = np.empty(len(margins))
    losses_of(model.loss, margins, np.ones(len(margins)), losses)
    return Learnt(margins, np.ones(len(margins), np.int64), np.ones(len(margins), np.float32), losses)


def learn_classes(model: Model, rows: Rows, block: Block) -> Learnt:
    """Learn in pieces, cut where a third or later class first appears and the states must follow."""
    known = len(model.classes)
    positions = model.classes.positions(block.labels, block.label_names)
    margins = np.full((block.rows, max(len(model.classes), 2)), -np.inf)
    losses = np.empty(block.rows)
    start = 0
    for count in range(max(known, 2), max(len(model.classes), 2) + 1):
        beyond = positions[start:] >= count
        stop = start + int(np.argmax(beyond)) if beyond.any() else block.rows
        model.make_states(count)
        _learn_piece(
            model,
            Rows(rows.offsets[start : stop + 1], rows.indices, rows.values),
            positions[start:stop],
            block.weights[start:stop],
            margins[start:stop, :count],
            losses[start:stop],
        )
        start = stop
    if model.columns == 1:
        margins = difference(margins) if model.multiclass else margins[:, 1]
    return Learnt(margins, positions, block.weights, losses)


def _learn_piece(
    model: Model, rows: Rows, positions: np.ndarray, importances: np.ndarray, margins: np.ndarray, losses: np.ndarray
) -> None:
    """Learn examples among which no class is new to the states; fill `margins` (n, classes) and `losses` (n,)."""
    if model.multiclass:
        scores = np.empty(margins.shape)
        model.module.learn_rows(model.states[0], rows, positions, importances, model.settings, scores)
        (multinomial_losses if model.joint else multiclass_hinge_losses)(scores, positions, losses)
        margins[:] = scores
        return
    alone = len(model.states) == 1
    columns = np.empty((len(model.states), len(positions)))
    for place, state in enumerate(model.states):
        targets = np.where(positions == (1 if alone else place), 1.0, -1.0)
        model.module.learn_rows(state, rows, targets, importances, model.settings, columns[place])
    if alone:
        losses_of(model.loss, columns[0], targets, losses)
        margins[:, 0], margins[:, 1] = -columns[0], columns[0]
    else:
        margins[:] = columns[: margins.shape[1]].T
        one_vs_rest_losses(model.loss, np.ascontiguousarray(margins), positions, losses)


def learn_one(model: Model, slots: np.ndarray, values: np.ndarray, label: Any, importance: np.float32) -> None:
    """Learn one example."""
    settings = model.settings
    if model.task == "regression":
        _call(model, "learn_row", 0, slots, values, float(label), importance, settings)
        return
    known = len(model.classes)
    place = model.classes.position(label)
    if place == known:
        model.make_states(known + 1)
    if model.multiclass:
        _call(model, "learn_row", 0, slots, values, place, importance, settings, np.empty(model.room))
    elif len(model.states) == 1:
        _call(model, "learn_row", 0, slots, values, 1.0 if place == 1 else -1.0, importance, settings)
    else:
        for k in range(len(model.states)):
            _call(model, "learn_row", k, slots, values, 1.0 if place == k else -1.0, importance, settings)


def margins_one(model: Model, slots: np.ndarray, values: np.ndarray) -> list[float]:
    """The margins of one example, one a column."""
    if model.multiclass:
        scores = np.empty(model.room)
        _call(model, "predict_row", 0, slots, values, model.settings, scores)
        return scores.tolist() if model.columns > 1 else [float(scores[1] - scores[0])]
    return [_call(model, "predict_row", k, slots, values, model.settings) for k in range(model.columns)]


def _call(model: Model, name: str, place: int, *arguments: Any) -> Any:
    """What a function of the learner does with one state and one example, the types of which a learner fixes."""
    state = model.states[place]
    known, function = model.compiled.get((name, place), (None, None))
    if known is not state:
        rule = model.module.rule_of(state) if hasattr(model.module, "rule_of") else model.module
        function = compiled_for(getattr(rule, name), state, *arguments)
        model.compiled[name, place] = state, function
    return function(state, *arguments)


def judge(model: Model, block: Block) -> Learnt:
    """Predict labelled examples without learning them; those of classes not known yet are left out."""
    block = block.select(np.flatnonzero(~np.isnan(block.labels)))
    if model.task == "regression":
        targets = block.labels
    else:
        names = block.label_names
        values = block.labels.tolist()
        known = [model.classes.find(tidy(v) if names is None else names[int(v)]) for v in values]
        block = block.select(np.flatnonzero(np.array(known, np.int64) >= 0))
        targets = np.array([place for place in known if place >= 0], np.int64)
    margins, losses = model.margins(block), np.empty(block.rows)
    if margins.ndim == 2 and model.joint:
        multinomial_losses(np.ascontiguousarray(margins), targets, losses)
    elif margins.ndim == 2 and model.multiclass:
        multiclass_hinge_losses(margins, targets, losses)
    elif margins.ndim == 2:
        one_vs_rest_losses(model.loss, np.ascontiguousarray(margins), targets, losses)
    else:
        binary = targets if model.task == "regression" else np.where(targets == 1, 1.0, -1.0)
        losses_of(model.loss, margins, binary, losses)
    return Learnt(margins, targets, block.weights, losses)
