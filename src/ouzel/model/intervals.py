"""The intervals about predicted numbers, and the sets of labels, that a model tells by what its coverage has learnt."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, isfinite
from typing import Any

import numpy as np

from ouzel.errors import OuzelError
from ouzel.model.answers import estimates
from ouzel.model.coverage import ends_of, highs_of, leads_of_block
from ouzel.model.group_coverage import parts


def level_of(model: Any, level: float | None) -> int:
    """The place of a level among those that a model keeps to; the only one, if none is given."""
    levels = model.interval
    if not levels:
        raise OuzelError("the model keeps no intervals; train it with", interval=level or 0.9)
    if level is None and len(levels) == 1:
        return 0
    known = ", ".join(f"{one:g}" for one in levels)
    if level is None:
        raise OuzelError(f"say which interval: the model keeps {known}")
    if level not in levels:
        raise OuzelError(f"the model keeps intervals of {known}; got {level:g}")
    return int(levels.index(level))


def intervals_about(
    model: Any, margins: np.ndarray, level: float | None, settled: bool, groups: np.ndarray | None = None
) -> np.ndarray:
    """The ends (n, 2) of the intervals about what margins (n,) estimate; infinite where nothing can be said yet.

    Those of the example that is learnt next keep the promise; settled ones are for examples that are not learnt.
    `groups` (n,) are the keys of the examples' groups, of a model that keeps intervals by group.
    """
    if not model.task.numbers:
        raise OuzelError("intervals are of numbers; of classes there are sets of labels: predict_set")
    ends = _bounds(model, level, ends_of, (2,), settled, len(margins), groups)
    found: np.ndarray = estimates(model.task.loss, margins)[:, None] + ends
    return found


def sets_of(
    model: Any, margins: np.ndarray, level: float | None, settled: bool, groups: np.ndarray | None = None
) -> np.ndarray:
    """Whether each class (n, classes), in the order shown, is in the set of an example; of margins as the model's."""
    if model.task.numbers or model.task.groups:
        raise OuzelError("sets of labels are of classes; of numbers there are intervals: predict_interval")
    highs = _bounds(model, level, highs_of, (), settled, len(margins), groups)[:, None]
    order = model.classes.order()
    if len(order) < 2:
        return np.ones((len(margins), len(order)), np.bool_)
    columns = np.ascontiguousarray(np.atleast_2d(margins.T).T)
    leads = np.empty((len(columns), max(columns.shape[1], 2)))
    leads_of_block(columns, leads)
    found: np.ndarray = (highs == inf) | (-leads <= highs)
    return found[:, order]


def _bounds(
    model: Any,
    level: float | None,
    write: Callable[..., None],
    shape: tuple[int, ...],
    settled: bool,
    rows: int,
    groups: np.ndarray | None,
) -> np.ndarray:
    """What `write` tells (rows, *shape) of a level by the coverage of all examples, or of each example's group."""
    place, bounds = level_of(model, level), np.empty((len(model.interval), *shape))
    shared, found = model.preparation.coverage, np.empty((rows, *shape))
    every = [(0, shared, slice(None))]
    for _, state, here in every if groups is None else parts(shared, model.preparation.group_coverage, groups):
        write(state, settled, bounds)
        found[here] = bounds[place]
    return found


def intervals_of(model: Any, margins: np.ndarray, groups: np.ndarray | None = None) -> list[dict[str, Any]]:
    """For each example that may be learnt next: its interval, or set, of each level, by the level as text, for JSON."""
    if not len(model.classes) and not model.task.numbers:
        return [{} for _ in range(len(margins))]
    by_level: dict[str, list[Any]] = {}
    for level in model.interval:
        if model.task.numbers:
            ends = intervals_about(model, margins, level, False, groups)
            by_level[f"{level:g}"] = [[end if isfinite(end) else None for end in row] for row in ends.tolist()]
        else:
            by_level[f"{level:g}"] = labels_in_sets(model, margins, level, False, groups)
    name = "intervals" if model.task.numbers else "sets"
    return [{name: dict(zip(by_level, row, strict=True))} for row in zip(*by_level.values(), strict=True)]


def labels_in_sets(
    model: Any, margins: np.ndarray, level: float | None, settled: bool, groups: np.ndarray | None = None
) -> list[list[Any]]:
    """The labels in the set of each example."""
    classes, held = model.classes.in_order(), sets_of(model, margins, level, settled, groups)
    return [[classes[place] for place in np.flatnonzero(row)] for row in held]
