"""Outputs of a graph computed from its margins: labels, probabilities, numbers, as in `model/answers.py`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ouzel.exporting.nodes import Graph
from ouzel.model.answers import is_probabilistic
from ouzel.model.model import Model
from ouzel.terms.losses import Poisson


class Output(NamedTuple):
    """One output of a graph."""

    name: str
    kind: Any  # of its numbers: np.float64, np.int64, or str
    columns: int  # 0 of one number an example


def answer(graph: Graph, model: Model, margins: str) -> list[Output]:
    """Add the outputs for margins (n, columns) to a graph."""
    if model.task.groups:
        graph("Squeeze", margins, np.array([1]), name="score")
        return [Output("score", np.float64, 0)]
    if model.task.numbers:
        if isinstance(model.loss, Poisson):
            margins = graph("Exp", graph("Min", margins, 30.0))
        graph("Squeeze", margins, np.array([1]), name="prediction")
        return [Output("prediction", np.float64, 0)]
    return _classes(graph, model, margins)


def _classes(graph: Graph, model: Model, margins: str) -> list[Output]:
    classes, count = model.classes, len(model.classes)
    labels = _as_array(classes.in_order())
    outputs = [Output("label", np.float64 if labels.dtype.kind == "f" else labels.dtype.type, 0)]
    if count > 2:
        shown = graph("Gather", margins, np.array(classes.order()), axis=1, name="margin")
        chosen = graph("ArgMax", shown, axis=1, keepdims=0)
        outputs.append(Output("margin", np.float64, count))
    else:
        sign = -1.0 if classes.reversed_pair() else 1.0
        shown = graph("Squeeze", graph("Mul", margins, sign), np.array([1]), name="margin")
        over = graph("Cast", graph("Greater", shown, 0.0), to=7)  # a whole number
        chosen = graph("Min", over, np.array(count - 1, np.int64))
        outputs.append(Output("margin", np.float64, 0))
    graph("Gather", labels, chosen, name="label")
    if is_probabilistic(model.loss) and count > 1:
        _probabilities(graph, shown, count, model.task.joint)
        outputs.append(Output("probability", np.float64, count))
    return [output._replace(kind=str) if output.kind is np.str_ else output for output in outputs]


def _probabilities(graph: Graph, shown: str, count: int, joint: bool) -> None:
    if count == 2:
        column = graph("Unsqueeze", shown, np.array([1]))
        graph("Sigmoid", graph("Concat", graph("Neg", column), column, axis=1), name="probability")
    elif joint:
        graph("Softmax", shown, axis=1, name="probability")
    else:
        linked = graph("Sigmoid", shown)
        total = graph("ReduceSum", linked, np.array([1]))
        known = graph("Greater", total, 0.0)
        shares = graph("Div", linked, graph("Where", known, total, 1.0))
        graph("Where", known, shares, 1.0 / count, name="probability")


def _as_array(labels: list[Any]) -> np.ndarray:
    """Return labels as numbers if all are numbers, else as words."""
    if all(isinstance(label, int) and not isinstance(label, bool) for label in labels):
        return np.array(labels, np.int64)
    return np.array(labels, float) if all(type(label) in (int, float) for label in labels) else np.array(labels, str)
