"""What workers of the default have learnt of effects of columns beyond a base (see `auto.gains`).

Workers of a base that knows its columns have the same cells: weights move by the mean of the workers' moves, by the
growth of their sums of squares. Workers of a base that knows none have each chosen columns and edges by its own
examples; those of the worker that has learnt most are taken, with what it has learnt of them. So they are where
workers list different pairs, or others than the base, and where a worker has rescaled its weights because labels
changed their unit: weights of two pairs, or in two units, have no mean.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ouzel.layout import copied
from ouzel.learners.auto.effect_slopes import HIGH, LOW, RESIDUALS, SLOPES, SQUARES
from ouzel.learners.auto.effects import COUNT, OF_TWO, SEEN, Effects
from ouzel.learners.auto.gains import gains_of_mixture, mixture_onto
from ouzel.learners.auto.mixing import Mixture
from ouzel.learners.gains.parts import First, Gains, Peak, Rows


def gains(base: Any, state: Any, examples: float) -> Gains:
    """What a worker has learnt beyond its base; nothing of a state that has no effects."""
    if "effects" not in state._fields:
        return {}
    before, after = base.effects, state.effects
    slots = np.flatnonzero(after.column_of)
    content = {name: getattr(after, name) for name in ("edges", "opened", "sample", "totals")}
    content["columns"] = Rows(slots, after.column_of[slots])
    content |= {"cells": after.cells, "beliefs": after.beliefs, "pooled": after.pooled}
    content |= {**after.pool._asdict(), **{f"pairs.{name}": part for name, part in after.pairs._asdict().items()}}
    growth = weighed = np.zeros(0)
    if before.totals[COUNT] > 0.0:
        growth = np.maximum(after.cells[:, 1].astype(float) - before.cells[:, 1], 0.0)
        weighed = growth * (after.cells[:, 0].astype(float) - before.cells[:, 0])
    heard = after.totals[RESIDUALS] > 0.0
    rescaled = before.totals[RESIDUALS] > 0.0 and (
        after.totals[LOW] > before.totals[LOW] or after.totals[HIGH] < before.totals[HIGH]
    )
    found = {
        "first": First(examples, content),
        "rescaled": float(rescaled),
        "listed": Peak(np.concatenate([_listed(after), -_listed(after)])),
        "growth": growth,
        "weighed": weighed,
        "totals": after.totals[_sums(after)] - before.totals[_sums(after)],
        "ends": Peak(np.array([-after.totals[LOW], after.totals[HIGH]] if heard else [-np.inf, -np.inf])),
        "beliefs": examples * after.beliefs,
        "pooled": examples * after.pooled,
        "pool": gains_of_mixture(after.pool, examples),
    }
    return {"effects": found}


def onto(base: Any, gains: Gains, examples: float) -> dict[str, Effects]:
    """The effects of a base and of what workers have learnt beyond it, as a field of the state."""
    if "effects" not in base._fields:
        return {}
    gained, effects = gains["effects"], copied(base.effects)
    first = gained["first"].content
    rescaled = gained["rescaled"] > 0.0
    if base.effects.totals[COUNT] == 0.0 or rescaled or _differ(base.effects, gained["listed"].values):
        slots, numbers = first["columns"]
        effects.column_of[:], effects.column_of[slots] = 0, numbers
        effects.columns[:], effects.columns[numbers - 1] = 0, slots
        for name in ("edges", "opened", "sample", "totals", "cells", "beliefs", "pooled"):
            getattr(effects, name)[...] = first[name]
        for name in Mixture._fields:
            getattr(effects.pool, name)[...] = first[name]
        _take_pairs(effects, first)
    else:
        growth, weighed = gained["growth"], gained["weighed"]
        effects.cells[:, 0] += np.divide(weighed, growth, out=np.zeros(growth.shape), where=growth > 0.0)
        effects.cells[:, 1] += growth
        effects.beliefs[:] = gained["beliefs"] / examples
        effects.pooled[:] = gained["pooled"] / examples
        effects = effects._replace(pool=mixture_onto(effects.pool, gained["pool"], examples))
        _open_as(effects, first)
    added = _sums(effects)[:1] if rescaled else _sums(effects)  # what is in units of labels is that of the worker
    effects.totals[added] = base.effects.totals[added] + gained["totals"][: len(added)]
    if effects.totals[RESIDUALS] > 0.0 and not rescaled:
        ends = -gained["ends"].values[0], gained["ends"].values[1]
        before = base.effects.totals[[LOW, HIGH]] if base.effects.totals[RESIDUALS] > 0.0 else ends
        effects.totals[[LOW, HIGH]] = min(ends[0], before[0]), max(ends[1], before[1])
    return {"effects": effects}


def _sums(effects: Effects) -> list[int]:
    """Places of `totals` that are sums over examples."""
    return [SEEN, RESIDUALS, SQUARES, *range(SLOPES, len(effects.totals))]


def _open_as(effects: Effects, first: Any) -> None:
    """Have the levels open that a worker has opened, of the columns that the base knows."""
    count = int(effects.totals[COUNT])
    opened = np.maximum(effects.opened, first["opened"])
    opened[0] = np.minimum(opened[0], count)
    for level, (before, after) in enumerate(zip(effects.opened[0], opened[0], strict=True)):
        effects.edges[level, before:after] = first["edges"][level, before:after]
    effects.opened[:] = opened
    _take_pairs(effects, first)


def _take_pairs(effects: Effects, first: Any) -> None:
    for name, part in effects.pairs._asdict().items():
        part[...] = first[f"pairs.{name}"]


def _listed(effects: Effects) -> np.ndarray:
    """The columns (2 · 276,) of the pairs that have cells, and how many there are."""
    count = int(effects.opened[OF_TWO].max())
    inside = np.arange(len(effects.pairs.columns)) < count
    return np.append((effects.pairs.columns * inside[:, None]).ravel().astype(float), count)


def _differ(base: Effects, listed: np.ndarray) -> bool:
    """Whether workers list different pairs, or others than their base."""
    high, low, mine = listed[: len(listed) // 2], -listed[len(listed) // 2 :], _listed(base)
    known = 2 * int(mine[-1])
    return not np.array_equal(high, low) or not np.array_equal(high[:known], mine[:known])
