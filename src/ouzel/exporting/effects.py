"""Effects of columns in a graph: knots are counted edges, and weights are gathered by them (`auto/effects.py`)."""

from __future__ import annotations

import itertools

import numpy as np

from ouzel.exporting.nodes import Graph
from ouzel.learners.auto.effect_columns import rooms_of_pairs
from ouzel.learners.auto.effect_slopes import HIGH, LOW
from ouzel.learners.auto.effects import (
    CELLS_OF_COLUMNS,
    COUNT,
    END,
    KNOTS,
    LEVELS,
    NUMBERS,
    OF_ONE,
    OF_PAIRS,
    OF_TWO,
    PAIRED,
    STEPS,
    TWO,
    Effects,
)
from ouzel.learners.auto.sharing import LEAST


def with_effects(graph: Graph, effects: Effects, kind: int, line: str) -> str:
    """Add what all predict (n, columns) where the linear models predict `line`."""
    count = int(effects.totals[COUNT])
    here = graph("Equal", graph("Unsqueeze", "ids", np.array([2])), effects.columns[:count].astype(np.int64) - 1)
    row = graph("Unsqueeze", "values", np.array([1]))
    x = graph("Squeeze", graph("MatMul", row, graph("Cast", here, to=1)), np.array([1]))
    places = [_places(graph, effects, x, level) for level in range(LEVELS)]
    known = graph("Identity", _weights(effects))
    first, second = [line], []
    for level in range(LEVELS):
        some, many = int(effects.opened[OF_ONE, level]), int(_opened_pairs(effects)[level])
        columns = np.flatnonzero(effects.pairs.two_valued[:some] == 0)
        if len(columns):
            knots, parts = _chosen(graph, places[level], columns)
            at = graph("Add", knots, CELLS_OF_COLUMNS[level] + columns * KNOTS[level])
            first += [_sum(graph, known, at, step, part) for step, part in enumerate(parts)]
        pairs = np.arange(many)
        if level > PAIRED:
            pairs = np.flatnonzero(effects.pairs.two_valued[effects.pairs.columns[:many]].sum(axis=1) < 2)
        if len(pairs):
            size = int(KNOTS[level])
            (one, along), (other, across) = (
                _chosen(graph, places[level], columns.astype(np.int64)) for columns in effects.pairs.columns[pairs].T
            )
            at = graph("Add", graph("Mul", one, np.array(size)), other)
            at = graph("Add", at, OF_PAIRS[level] + pairs * size * size)
            for j, k in itertools.product(range(2), range(2)):
                second.append(_sum(graph, known, at, j * size + k, graph("Mul", along[j], across[k])))
    additive = graph("Sum", *first)
    scores = _cut(graph, effects, kind, [line, additive, graph("Sum", additive, *second)])
    return _believed(graph, effects, kind, [*scores, _pooled(graph, effects, kind, scores)])


def _weights(effects: Effects) -> np.ndarray:
    """The weights (cells, K) of all cells up to the last that was learnt, or that a row can have."""
    opened = _opened_pairs(effects)
    ends = [OF_PAIRS[level] + opened[level] * KNOTS[level] ** 2 for level in range(LEVELS) if opened[level]]
    known = effects.cells[: max([OF_PAIRS[0], *ends]), 0].astype(float)
    return np.pad(known, ((0, KNOTS[-1] + 1), (0, 0)))  # stand in for the knot after the last one


def _opened_pairs(effects: Effects) -> np.ndarray:
    """Number of pairs (4,) with cells at each level; models saved by earlier versions may list more."""
    return np.minimum(effects.opened[OF_TWO], rooms_of_pairs(effects))


def _places(graph: Graph, effects: Effects, x: str, level: int) -> tuple[str, str]:
    """Add which knots of a level numbers have reached (n, columns), and how far they are on the way to the next."""
    some, steps = int(effects.opened[OF_ONE, level]), int(STEPS[level])
    edges = effects.edges[level, :some, : (KNOTS[level] - 1) * steps]
    number = graph("Unsqueeze", graph("Gather", x, np.arange(some), axis=1), np.array([2]))
    reached = graph("Cast", graph("GreaterOrEqual", number, edges), to=7)
    passed = graph("ReduceSum", reached, np.array([2]), keepdims=0)
    share = graph("Cast", graph("Mod", passed, np.array(steps)), to=11)
    return graph("Div", passed, np.array(steps)), graph("Div", share, float(steps))


def _chosen(graph: Graph, places: tuple[str, str], columns: np.ndarray) -> tuple[str, tuple[str, str]]:
    """Add the knots of some columns, and what parts of their weights, and of the next ones, count."""
    knots, shares = (graph("Gather", part, columns, axis=1) for part in places)
    return knots, (graph("Sub", 1.0, shares), shares)


def _sum(graph: Graph, known: str, at: str, behind: int, parts: str) -> str:
    """Add the sums (n, K) of parts (n, m) of the weights of cells: those at `at` (n, m) + `behind`."""
    weights = graph("Gather", known, graph("Add", at, np.array(behind)))
    return graph(
        "ReduceSum", graph("Mul", weights, graph("Unsqueeze", parts, np.array([2]))), np.array([1]), keepdims=0
    )


def _cut(graph: Graph, effects: Effects, kind: int, scores: list[str]) -> list[str]:
    """Add scores within the range of the numbers learnt; the first of them, and those of classes, are as they are."""
    if kind != NUMBERS:
        return scores
    low, high = effects.totals[LOW], effects.totals[HIGH]
    return [scores[0], *(graph("Clip", score, low, high) for score in scores[1:])]


def _pooled(graph: Graph, effects: Effects, kind: int, scores: list[str]) -> str:
    """Add the score that pools the others."""
    if kind == NUMBERS:
        parts = [scores[0], *(graph("Sub", score, scores[0]) for score in scores)]
        weights = [1.0, *effects.pool.weights]
    else:
        ends = [END] if kind == TWO else []
        below = scores if ends else [graph("Sub", s, graph("ReduceMax", s, np.array([1]))) for s in scores]
        parts, weights = [graph("Clip", score, -END, *ends) for score in below], list(effects.pool.weights)
    total = graph("Sum", *(graph("Mul", part, float(w)) for part, w in zip(parts, weights, strict=True)))
    return _cut(graph, effects, kind, [scores[0], total])[1]


def _believed(graph: Graph, effects: Effects, kind: int, scores: list[str]) -> str:
    """Add the mean of what the experts say, by how far they are believed."""
    if kind == NUMBERS:
        return _mean(graph, effects, scores)
    if kind == TWO:
        yes = _mean(graph, effects, [graph("Sigmoid", score) for score in scores])
        no = _mean(graph, effects, [graph("Sigmoid", graph("Neg", score)) for score in scores])
        return graph("Sub", graph("Log", graph("Max", yes, LEAST)), graph("Log", graph("Max", no, LEAST)))
    shares = _mean(graph, effects, [graph("Softmax", score, axis=1) for score in scores])
    return graph("Log", graph("Max", shares, LEAST))


def _mean(graph: Graph, effects: Effects, parts: list[str]) -> str:
    believed = [*effects.beliefs, *effects.pooled]
    return graph("Sum", *(graph("Mul", part, float(w)) for part, w in zip(parts, believed, strict=True)))
