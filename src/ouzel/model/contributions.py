"""Why examples are predicted as they are: what each of their features adds to the margin of an average example."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ouzel.learners.rows import Rows
from ouzel.model.answers import heaviest_slots, shown, shown_weights
from ouzel.model.importance import means_and_spreads
from ouzel.model.model import Model
from ouzel.streams.block import Block

MOST_ABSENT = 64  # absent features that are listed one by one: those that usually add most
AVERAGE, ABSENT = "(average example)", "(other absent features)"


def explained(model: Model, block: Block) -> Iterator[list[dict[str, Any]]]:
    """What is added to the margins of each example of a block, see `contributions`."""
    return contributions(model, model.numbered_rows(block), model.margins(block))


def contributions(model: Model, rows: Rows, margins: np.ndarray) -> Iterator[list[dict[str, Any]]]:
    """For each example, and each class or the one column of margins, its features and what they add, the most first.

    `rows` hold the features as they came, by id + 1 and the constant one as 0, and `margins` (n,) or (n, classes) what
    the model predicts of them. A feature adds weight × (value - mean), with its mean over the examples that were
    learnt: at its usual value it adds nothing, and one that is absent takes away what it usually adds. The last entry
    is the margin of an average example; the one before it may sum up absent features that are not listed. Contributions
    and the remainder add up to the margin. The remainder is rounding, but where a learner cuts large values: at three
    standard deviations where features are standardised, as `auto` does, or at the largest seen (`son-oja`). A learner
    of a byte budget knows no means; there an example is compared with one that has no features.
    """
    if not (model.task.numbers or model.task.groups or len(model.classes)):
        yield from ([] for _ in range(len(margins)))
        return
    known, columns = _of_budget(model, rows) if model.budgeted else _of_table(model)
    shown_margins = np.atleast_2d(shown(model.classes, margins).T).T
    labels = _labels(model)
    for row, (start, stop) in enumerate(zip(rows.offsets[:-1].tolist(), rows.offsets[1:].tolist(), strict=True)):
        there, values = rows.indices[start:stop].astype(np.int64), rows.values[start:stop].astype(np.float64)
        yield [
            _explanation(model, label, float(margin), column, known, there, values)
            for label, margin, column in zip(labels, shown_margins[row], columns, strict=True)
        ]


class _Column:
    """A column of margins: weights of features and what they usually add, by place among the known slots."""

    def __init__(self, weights: np.ndarray, average: float, means: np.ndarray) -> None:
        self.weights, self.average = weights, average
        self.usual = weights * means
        self.total = float(self.usual.sum())
        self.most = heaviest_slots(self.usual, MOST_ABSENT)[0]


def _explanation(
    model: Model, label: Any, margin: float, column: _Column, known: np.ndarray, row: np.ndarray, values: np.ndarray
) -> dict[str, Any]:
    """What an example's features, `row`, add to a margin; `known` are those that the column has weights of."""
    places = np.minimum(np.searchsorted(known, row), len(known) - 1)
    found = known[places] == row
    weights, usual = (np.where(found, part[places], 0.0) for part in (column.weights, column.usual))
    absent = column.most[~np.isin(column.most, places[found])]
    slots = np.concatenate([row, known[absent]])
    parts = (
        np.concatenate([values, np.zeros(len(absent))]),
        np.concatenate([weights, column.weights[absent]]),
        np.concatenate([weights * values - usual, -column.usual[absent]]),
    )
    order = np.lexsort((np.arange(len(slots)), -np.abs(parts[2])))
    order = order[slots[order] > 0]  # the constant feature is in every example
    names = [str(model.feature_name(slot - 1)) for slot in slots[order].tolist()]
    features = [_entry(*entry) for entry in zip(names, *(part[order].tolist() for part in parts), strict=True)]
    others = float(usual.sum() + column.usual[absent].sum()) - column.total
    if len(column.most) == MOST_ABSENT:
        features.append(_entry(ABSENT, 0.0, 0.0, others))
    features.append(_entry(AVERAGE, 1.0, column.average, column.average))
    added = sum(feature["contribution"] for feature in features)
    return {"class": label, "margin": margin, "remainder": margin - added, "features": features}


def _entry(name: str, value: float, weight: float, contribution: float) -> dict[str, Any]:
    return {"name": name, "value": value, "weight": weight, "contribution": contribution}


def _labels(model: Model) -> list[Any]:
    """The class that each column speaks for; of two, that of the positive margin."""
    known = model.classes.in_order()
    return known if len(known) > 2 else [known[-1] if known else None]


def _of_table(model: Model) -> tuple[np.ndarray, list[_Column]]:
    """All features by id + 1, rising, and their columns, of a learner that knows its weights."""
    weights, means = np.atleast_2d(model.slot_weights()), means_and_spreads(model)[0]
    means[0] = 0.0
    known = np.arange(model.slots)
    if model.slot_map is not None:
        order = np.argsort(model.slot_map.numbers)
        known, weights, means = model.slot_map.numbers[order], weights[:, order], means[order]
    weights = shown_weights(model.classes, weights)
    constant = weights[:, 0] * model.intercept
    columns = [_Column(row, float(row @ means + own), means) for row, own in zip(weights, constant, strict=True)]
    return known, columns


def _of_budget(model: Model, rows: Rows) -> tuple[np.ndarray, list[_Column]]:
    """The slots of some rows, and their columns, of a learner of a byte budget.

    It is asked for the margin of each feature alone, less that of none: margins are linear.
    """
    slots = np.unique(np.append(rows.indices, np.uint32(0)))
    count = len(slots)
    offsets = np.concatenate([np.arange(count + 1), [count]]).astype(np.uint64)
    alone = model.task.margins(model, Rows(offsets, slots, np.ones(count, np.float32)))
    shown_alone = np.atleast_2d(shown(model.classes, alone).T)
    none = shown_alone[:, -1]
    weights = shown_alone[:, :-1] - none[:, None]
    average = none + weights[:, 0] * model.intercept
    nothing = np.zeros(count)
    return slots.astype(np.int64), [
        _Column(row, float(own), nothing) for row, own in zip(weights, average, strict=True)
    ]
