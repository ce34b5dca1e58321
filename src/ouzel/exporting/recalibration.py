"""Recalibrated margins as nodes of a graph: the maps of `model/recalibration.py`, as they stand at the export.

A map has bins, whose edges are jumps: a margin that rounding moves over an edge is recalibrated as one of the next bin.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ouzel.exporting.nodes import Graph
from ouzel.model import recalibration
from ouzel.model.recalibration import (
    BINS,
    CAME,
    COUNT,
    FARTHEST,
    MAPS,
    NEAREST,
    PROMISED,
    PSEUDO,
    SEVERAL,
    SMALLEST,
    TINY,
    TWO,
)

WHOLE = 7  # ONNX's number of the type int64


def recalibrated(graph: Graph, state: recalibration.State, joint: bool, columns: int, margins: str) -> str:
    """Add the recalibrated margins (n, columns) of those of a learner, classes in the order of the model.

    `joint` are margins of classes that are learnt together.
    """
    if state.seen[1] != (TWO if columns == 1 else SEVERAL):  # nothing is recalibrated yet
        return margins
    return _two(graph, state, margins) if columns == 1 else _several(graph, state, joint, columns, margins)


def _two(graph: Graph, state: recalibration.State, margins: str) -> str:
    """The log-odds of the second class."""
    p = _mixed(graph, state, graph("Clip", margins, -FARTHEST, FARTHEST), 0.0)
    return graph("Sub", graph("Log", p), graph("Log", graph("Sub", 1.0, p)))


def _several(graph: Graph, state: recalibration.State, joint: bool, columns: int, margins: str) -> str:
    """The class on top has what the maps say of it, the others keep their shares of the rest."""
    best = graph("ReduceMax", margins, np.array([1]))
    top = graph("Equal", graph("ArgMax", margins, axis=1, keepdims=1), np.arange(columns))
    parts = graph("Exp", graph("Sub", margins, best)) if joint else graph("Sigmoid", margins)
    others = graph("Where", top, 0.0, parts)
    own = graph("ReduceSum", graph("Where", top, parts, 0.0), np.array([1]))
    second = graph("ReduceMax", others, np.array([1]))
    rest = graph("Max", graph("ReduceSum", others, np.array([1])), graph("Mul", own, TINY))
    finite = graph("Less", graph("ReduceMax", graph("Abs", margins), np.array([1])), np.inf)
    sound = graph("And", finite, graph("Greater", rest, 0.0))
    rest, own = graph("Where", sound, rest, 1.0), graph("Where", sound, own, 1.0)
    z = graph("Min", graph("Log", graph("Div", own, rest)), FARTHEST)
    least = graph("Div", graph("Mul", second, 1.0 + 1e-9), graph("Add", rest, second))
    p = _mixed(graph, state, z, graph("Min", least, 1.0 - TINY))
    left = graph("Div", graph("Sub", 1.0, p), rest)
    share = graph("Where", top, p, graph("Max", graph("Mul", parts, left), SMALLEST))
    found = graph("Log", share if joint else graph("Div", share, graph("Sub", 1.0, share)))
    return graph("Where", sound, found, margins)


def _mixed(graph: Graph, state: recalibration.State, z: str, least: Any) -> str:
    """The probability of an event of log-odds z (n, 1), `least` at least."""
    slope, shift = state.platt[:2].tolist()
    plain = [graph("Sigmoid", z), graph("Sigmoid", graph("Add", graph("Mul", z, slope), shift))]
    gaps = (state.bins[:, :, CAME] - state.bins[:, :, PROMISED]) / (state.bins[:, :, COUNT] + PSEUDO)
    maps = plain + [_moved(graph, p, own) for p, own in zip(plain, gaps, strict=True)]
    weighed = [graph("Mul", graph("Max", maps[k], least), float(state.shares[k])) for k in range(MAPS)]
    return graph("Clip", graph("Sum", *weighed), SMALLEST, 1.0 - TINY)


def _moved(graph: Graph, p: str, gaps: np.ndarray) -> str:
    """A probability moved by the gap (BINS,) of its bin."""
    place = graph("Cast", graph("Clip", graph("Mul", p, float(BINS)), 0.0, float(BINS - 1)), to=WHOLE)
    moved = graph("Add", p, graph("Gather", gaps, place))
    return graph("Min", graph("Max", moved, graph("Min", p, NEAREST)), graph("Max", p, 1.0 - NEAREST))
