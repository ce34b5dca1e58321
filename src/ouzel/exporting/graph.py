"""An expression as an ONNX graph, of operators that every runtime has."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np

from ouzel.exporting.effects import with_effects
from ouzel.exporting.expressions import (
    Experts,
    Expression,
    Linear,
    MixedMargins,
    MultiClassMixture,
    Residuals,
    TwoClassMixture,
)
from ouzel.exporting.nodes import Graph
from ouzel.learners.auto.effect_slopes import MOST_LOGARITHM
from ouzel.learners.auto.several_classes import END as END_OF_SEVERAL
from ouzel.learners.auto.sharing import LEAST
from ouzel.learners.auto.standardisation import (
    CONSTANT,
    COUNT,
    DENSE,
    FURTHEST,
    LARGEST,
    MEAN,
    SEEN,
    SQUARES,
    Features,
    meaningless_from,
    reach_of,
)
from ouzel.learners.auto.two_classes import END as END_OF_TWO

TINY = 1e-300  # added to a size before a division
OPSET, VERSION = 18, 9  # of 2022 and 2023: what runtimes of today read


def margins_of(graph: Graph, expression: Expression) -> str:
    """Add an expression to a graph with inputs `ids` (n, k) and `values` (n, k); return its margins (n, columns)."""
    constant, rest = expression.weights[0], expression.weights[1:]
    places = _places(graph, expression.slots, len(rest))  # ids not learnt, and -1, have a row of zeros
    values = graph("Cast", "values", to=11)  # in double precision
    features, reach = expression.features, expression.reach
    dense = np.empty(0, np.int64)
    if features is not None:
        dense = features.dense[: int(features.totals[DENSE])].astype(np.int64) - 1
        raw, values = values, _sized(graph, expression, len(rest), places, values)
    elif expression.limit > 0.0:
        values = graph("Clip", values, -expression.limit, expression.limit)
    if reach is not None:
        cut = graph("Gather", np.append(reach[1:], 0.0), places)
        values = graph("Max", graph("Min", values, cut), graph("Neg", cut))
        constant = constant * min(1.0, reach[0])
    sparse = rest.copy()
    sparse[dense] = 0.0
    table = graph("Gather", np.concatenate([sparse, np.zeros((1, sparse.shape[1]))]), places)  # (n, k, sums)
    row = graph("Unsqueeze", values, np.array([1]))
    sums = graph("Squeeze", graph("MatMul", row, table), np.array([1]))
    if features is not None and len(dense):
        seen = _standardised(graph, features, dense, places, raw)
        if reach is not None:
            seen = graph("Max", graph("Min", seen, reach[dense + 1]), -reach[dense + 1])
        sums = graph("Add", sums, graph("MatMul", seen, rest[dense]))
    found = graph("Add", combined(expression.combine, graph, graph("Add", sums, constant)), expression.shift)
    if expression.effects is not None:
        found = with_effects(graph, *expression.effects, found)
    return found if expression.scale == 1.0 else graph("Mul", found, expression.scale)


def _places(graph: Graph, slots: np.ndarray | None, rows: int) -> str:
    """Add the rows of ids in a table of sorted ids, found by bisection; the last row is that of unknown ids."""
    end = np.array(rows, np.int64)
    if slots is None:
        return graph("Min", "ids", end)
    halvings = max(1, (rows - 1).bit_length())
    known = np.full(1 << halvings, np.iinfo(np.int64).max)
    known[:rows] = slots[1:] - 1
    listed = graph("Identity", known)
    place = graph("Mul", "ids", np.array(0, np.int64))
    for half in reversed(range(halvings)):
        step = np.array(1 << half, np.int64)
        further = graph("LessOrEqual", graph("Gather", listed, graph("Add", place, step)), "ids")
        place = graph("Add", place, graph("Mul", graph("Cast", further, to=7), step))
    return graph("Min", graph("Where", graph("Equal", graph("Gather", listed, place), "ids"), place, end), end)


def _beyond(graph: Graph, sizes: str, limit: float) -> str:
    """Whether sizes are above the limit."""
    return graph("Greater", sizes, limit)


def _sized(graph: Graph, expression: Expression, slots: int, places: str, values: str) -> str:
    """Values of rare features over their units: the largest size seen of each, or as far as they reach."""
    features: Any = expression.features
    largest = np.maximum(np.append(features.moments[1 : slots + 1, LARGEST], 0.0), TINY)
    size, reach = graph("Max", graph("Abs", values), graph("Gather", largest, places)), reach_of(features.totals)
    if reach > 1.0:
        squares = np.append(features.moments[1 : slots + 1, SQUARES], 0.0)
        mean = graph(
            "Mul",
            graph("Add", graph("Mul", values, values), graph("Gather", squares, places)),
            1.0 / (features.totals[SEEN] + 1.0),
        )
        size = graph("Max", graph("Sqrt", mean), graph("Mul", size, 1.0 / reach))
    if expression.limit > 0.0:
        size = graph("Where", _beyond(graph, size, expression.limit), size, 1.0)
    return graph("Div", values, size)


def _standardised(graph: Graph, features: Features, dense: np.ndarray, places: str, values: str) -> str:
    """Values (n, dense) of the features (dense,) that are centred and scaled, the example itself in the moments."""
    here = graph("Equal", graph("Unsqueeze", places, np.array([2])), dense)
    hit = graph("Cast", here, to=11)  # (n, k, dense)
    x = graph("Squeeze", graph("MatMul", graph("Unsqueeze", values, np.array([1])), hit), np.array([1]))
    before, squares = (features.moments[dense + 1, column] for column in (MEAN, SQUARES))
    centred, part = features.moments[0, COUNT] > 0.0, 1.0 / (features.totals[SEEN] + 1.0)
    change = graph("Sub", x, before)
    mean = graph("Add", graph("Mul", change, part), before)
    gap = graph("Sub", x, mean)
    variance = graph("Mul", graph("Add", graph("Mul", change, gap), squares), part)
    square = graph("Mul", mean, mean)
    moves = graph("Greater", variance, graph("Mul", square, CONSTANT))
    spread = graph("Sqrt", graph("Where", moves, variance if centred else graph("Add", variance, square), 1.0))
    z = graph("Clip", graph("Div", gap if centred else x, spread), -FURTHEST, FURTHEST)
    near = graph("LessOrEqual", graph("Abs", change), meaningless_from(features, dense + 1))
    return graph("Where", graph("And", moves, near), z, 0.0)


@singledispatch
def combined(combine: Any, graph: Graph, sums: str) -> str:
    """Add the margins (n, columns) of sums (n, sums)."""
    raise TypeError(combine)


@combined.register
def _(combine: Linear, graph: Graph, sums: str) -> str:
    return sums if combine.limit == np.inf else graph("Clip", sums, -combine.limit, combine.limit)


@combined.register
def _(combine: TwoClassMixture, graph: Graph, sums: str) -> str:
    cut = graph("Clip", sums, -END_OF_TWO, END_OF_TWO)
    mixed = graph("MatMul", cut, combine.mixture[:, None])
    margins = graph("Concat", graph("Mul", cut, combine.scales), mixed, axis=1)
    sides = [
        graph("Max", graph("MatMul", graph("Sigmoid", side), combine.shares[:, None]), LEAST)
        for side in (margins, graph("Neg", margins))
    ]
    return graph("Log", graph("Div", *sides))


@combined.register
def _(combine: MultiClassMixture, graph: Graph, sums: str) -> str:
    models = len(combine.scales)
    scores = graph("Reshape", sums, np.array([0, models, -1]))
    best = graph("ReduceMax", scores, np.array([2]))
    cut = graph("Max", graph("Sub", scores, best), -END_OF_SEVERAL)
    mixed = graph("MatMul", combine.mixture[None, :], cut)
    margins = graph("Concat", graph("Mul", cut, combine.scales[:, None]), mixed, axis=1)
    shares = graph("MatMul", combine.shares[None, :], graph("Softmax", margins, axis=2))
    return graph("Log", graph("Squeeze", graph("Max", shares, LEAST), np.array([1])))


@combined.register
def _(combine: Residuals, graph: Graph, sums: str) -> str:
    return _mixed(combine, graph, _cut(combine, graph, sums))


def _cut(combine: Residuals, graph: Graph, sums: str) -> str:
    return graph("Clip", sums, combine.low - combine.mean, combine.high - combine.mean)


def _mixed(combine: Residuals, graph: Graph, cut: str) -> str:
    found = graph("Add", graph("MatMul", cut, combine.mixture[:, None]), combine.mean)
    return graph("Clip", found, combine.low, combine.high)


@combined.register
def _(combine: Experts, graph: Graph, sums: str) -> str:
    models = len(combine.residuals.mixture)
    chosen = np.eye(models + 2)
    cut = _cut(combine.residuals, graph, graph("MatMul", sums, chosen[:, :models]))
    near_constant, near_squared = (graph("MatMul", sums, chosen[:, [models + k]]) for k in range(2))

    def margin(number: str, floor: float) -> str:
        return number if floor == -np.inf else graph("Min", graph("Log", graph("Max", number, floor)), MOST_LOGARITHM)

    squared = _mixed(combine.residuals, graph, cut)
    first, second = (margin(squared, floor) for floor in combine.floors)
    experts = graph(
        "Concat",
        graph("Add", graph("Mul", near_constant, 0.0), combine.constant),
        first,
        graph("Add", second, combine.shift),
        graph("Add", near_constant, combine.constant),
        graph("Add", first, near_squared),
        margin(graph("Add", cut, combine.residuals.mean), combine.floors[0]),
        axis=1,
    )
    return graph("MatMul", graph("Clip", experts, combine.low, combine.high), combine.weights[:, None])


@combined.register
def _(combine: MixedMargins, graph: Graph, sums: str) -> str:
    columns, models = combine.weights.shape
    margins = graph("Reshape", sums, np.array([0, columns, models]))
    cut = graph("Clip", margins, -combine.end, combine.end)
    return graph("ReduceSum", graph("Mul", cut, combine.weights), np.array([2]), keepdims=0)
