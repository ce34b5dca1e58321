"""Effects of columns in a graph: bins are counted edges, and weights are gathered by them (`auto/effects.py`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ouzel.exporting.nodes import Graph
from ouzel.learners.auto.effects import (
    BINS,
    COLUMNS,
    COUNT,
    HIGH,
    LEVELS,
    LOW,
    MOST_BINS,
    NUMBERS,
    OF_BINS,
    OF_PAIRS,
    OF_TWO,
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
    bins = [_bins(graph, effects, x, level) for level in range(LEVELS)]
    known = graph("Identity", _weights(effects))
    first, second = [line], []
    for level in range(LEVELS):
        some, many = int(effects.opened[OF_BINS, level]), int(effects.opened[OF_TWO, level])
        if some:
            at = graph("Add", bins[level], (level * COLUMNS + np.arange(some)) * MOST_BINS)
            first.append(_sum(graph, known, at))
        if many > 1:
            one, other = np.tril_indices(many, -1)
            size = int(BINS[level])
            before = OF_PAIRS[level] + (one * (one - 1) // 2 + other) * size * size
            chosen = [graph("Gather", bins[level], columns.astype(np.int64), axis=1) for columns in (one, other)]
            at = graph("Add", graph("Add", graph("Mul", chosen[0], np.array(size)), chosen[1]), before)
            second.append(_sum(graph, known, at))
    additive = graph("Sum", *first)
    return _believed(graph, effects, kind, [line, additive, graph("Sum", additive, *second)])


def _weights(effects: Effects) -> np.ndarray:
    """The weights (cells, K) of all cells up to the last that was learnt, or that a row can have."""
    most = int(effects.opened.max())
    ends = [OF_PAIRS[level] + most * (most - 1) // 2 * BINS[level] ** 2 for level in range(LEVELS)]
    opened = [end for end, count in zip(ends, effects.opened[OF_TWO], strict=True) if count]
    return effects.cells[: max([OF_PAIRS[0], *opened]), 0].astype(float)


def _bins(graph: Graph, effects: Effects, x: str, level: int) -> str:
    """Add the bins (n, columns) of numbers at a level: how many edges are not above them."""
    some = int(effects.opened[OF_BINS, level])
    edges = effects.edges[level, :some, : BINS[level] - 1]
    number = graph("Unsqueeze", graph("Gather", x, np.arange(some), axis=1), np.array([2]))
    reached = graph("Cast", graph("GreaterOrEqual", number, edges), to=7)
    return graph("ReduceSum", reached, np.array([2]), keepdims=0)


def _sum(graph: Graph, known: str, at: str) -> str:
    """Add the sums (n, K) of the weights of cells (n, m)."""
    return graph("ReduceSum", graph("Gather", known, at), np.array([1]), keepdims=0)


def _believed(graph: Graph, effects: Effects, kind: int, scores: list[str]) -> str:
    """Add the mean of what the experts say, by how far they are believed."""
    if kind == NUMBERS:
        low, high = effects.totals[LOW], effects.totals[HIGH]
        said: list[Any] = [scores[0], *(graph("Clip", score, low, high) for score in scores[1:])]
        return _mean(graph, effects, said)
    if kind == TWO:
        yes = _mean(graph, effects, [graph("Sigmoid", score) for score in scores])
        no = _mean(graph, effects, [graph("Sigmoid", graph("Neg", score)) for score in scores])
        return graph("Sub", graph("Log", graph("Max", yes, LEAST)), graph("Log", graph("Max", no, LEAST)))
    shares = _mean(graph, effects, [graph("Softmax", score, axis=1) for score in scores])
    return graph("Log", graph("Max", shares, LEAST))


def _mean(graph: Graph, effects: Effects, parts: list[str]) -> str:
    return graph("Sum", *(graph("Mul", part, float(w)) for part, w in zip(parts, effects.beliefs, strict=True)))
