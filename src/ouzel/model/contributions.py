"""Why examples are predicted as they are: what each of their features adds to the margin of an average example."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ouzel.learners.rows import Rows
from ouzel.model.answers import heaviest_slots, shown, shown_weights
from ouzel.model.column_effects import added_by_effects
from ouzel.model.cut_values import cut_values
from ouzel.model.importance import means_and_spreads
from ouzel.model.model import Model
from ouzel.model.weight_errors import errors_of_weights
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
    learnt: at its usual value it adds nothing, and one that is absent takes away what it usually adds. A value that the
    learner cuts adds what the cut one does: at three standard deviations where features are standardised, as `auto`
    does, or at the largest seen (`son-oja`). The last entry is the margin of an average example; the one before it may
    sum up absent features that are not listed. Contributions and the remainder add up to the margin. The remainder is
    rounding, but where a learner averages the margins of several models, and cuts these. A learner of a byte budget
    knows no means; there an example is compared with one that has no features. Where the error of a weight is known
    (`weight_errors.py`), `interval` is what a feature adds at the ends of the weight's 95 % interval. Effects of
    columns (`auto/effects.py`) are entries of their own: what a bin, or a pair of bins, adds beyond the mean.
    """
    if not (model.task.numbers or model.task.groups or len(model.classes)):
        yield from ([] for _ in range(len(margins)))
        return
    known, slots, columns = _of_budget(model, rows) if model.budgeted else _of_table(model)
    shown_margins = np.atleast_2d(shown(model.classes, margins).T).T
    labels, (effects, means) = _labels(model), added_by_effects(model, rows)
    nothing: list[list[tuple[str, float]]] = [[] for _ in labels]
    for row, (start, stop) in enumerate(zip(rows.offsets[:-1].tolist(), rows.offsets[1:].tolist(), strict=True)):
        there, values = rows.indices[start:stop].astype(np.int64), rows.values[start:stop].astype(np.float64)
        places = np.minimum(np.searchsorted(known, there), len(known) - 1)
        example = _Example(there, values, places, known[places] == there, cut_values(model, slots[places], values))
        yield [
            _explanation(model, label, float(margin), column, known, example, added, mean)
            for label, margin, column, added, mean in zip(
                labels, shown_margins[row], columns, effects[row] if effects else nothing, means.tolist(), strict=True
            )
        ]


class _Example(NamedTuple):
    """The features of an example."""

    ids: np.ndarray  # (n,) id + 1
    values: np.ndarray  # (n,) as they came
    places: np.ndarray  # (n,) among the known features
    found: np.ndarray  # (n,) bool  whether they are known
    cut: np.ndarray  # (n,) values as the learner uses them


class _Column:
    """A column of margins: weights of features, and what present and absent ones add, by place among the known."""

    def __init__(
        self,
        weights: np.ndarray,
        average: float,
        means: np.ndarray,
        zeros: np.ndarray,
        errors: np.ndarray | None = None,
    ) -> None:
        self.weights, self.average, self.means = weights, average, means
        self.errors = np.full(len(weights), np.nan) if errors is None else errors
        self.absent_by = zeros - means
        self.absent = weights * self.absent_by  # zeros as the learner uses them
        self.total = float(self.absent.sum())
        self.most = heaviest_slots(self.absent, MOST_ABSENT)[0]


def _explanation(
    model: Model,
    label: Any,
    margin: float,
    column: _Column,
    known: np.ndarray,
    example: _Example,
    effects: list[tuple[str, float]],
    mean: float,
) -> dict[str, Any]:
    """What an example's features add to a margin; `known` are those that the column has weights of."""
    row, places, found = example.ids, example.places, example.found
    weights = np.where(found, column.weights[places], 0.0)
    beyond = example.cut - np.where(found, column.means[places], 0.0)
    added = weights * beyond
    errors = np.where(found, column.errors[places], np.nan) * np.abs(beyond)
    absent = column.most[~np.isin(column.most, places[found])]
    slots = np.concatenate([row, known[absent]])
    parts = (
        np.concatenate([example.values, np.zeros(len(absent))]),
        np.concatenate([weights, column.weights[absent]]),
        np.concatenate([added, column.absent[absent]]),
        np.concatenate([errors, column.errors[absent] * np.abs(column.absent_by[absent])]),
    )
    order = np.lexsort((np.arange(len(slots)), -np.abs(parts[2])))
    order = order[slots[order] > 0]  # the constant feature is in every example
    names = [str(model.feature_name(slot - 1)) for slot in slots[order].tolist()]
    features = [_entry(*entry) for entry in zip(names, *(part[order].tolist() for part in parts), strict=True)]
    others = column.total - float(column.absent[places[found]].sum() + column.absent[absent].sum())
    if len(column.most) == MOST_ABSENT:
        features.append(_entry(ABSENT, 0.0, 0.0, others))
    if effects:
        features += [_entry(name, 1.0, added, added) for name, added in effects]
        features.sort(key=lambda feature: -abs(feature["contribution"]))
    features.append(_entry(AVERAGE, 1.0, column.average + mean, column.average + mean))
    total = sum(feature["contribution"] for feature in features)
    return {"class": label, "margin": margin, "remainder": margin - total, "features": features}


def _entry(name: str, value: float, weight: float, contribution: float, error: float = math.nan) -> dict[str, Any]:
    entry = {"name": name, "value": value, "weight": weight, "contribution": contribution}
    return entry if math.isnan(error) else {**entry, "interval": [contribution - error, contribution + error]}


def _labels(model: Model) -> list[Any]:
    """The class that each column speaks for; of two, that of the positive margin."""
    known = model.classes.in_order()
    return known if len(known) > 2 else [known[-1] if known else None]


def _of_table(model: Model) -> tuple[np.ndarray, np.ndarray, list[_Column]]:
    """All features by id + 1, rising, their slots, and their columns, of a learner that knows its weights."""
    weights, means = np.atleast_2d(model.slot_weights()), means_and_spreads(model)[0]
    means[0] = 0.0
    known = slots = np.arange(model.slots)
    if model.slot_map is not None:
        slots = np.argsort(model.slot_map.numbers)
        known, weights, means = model.slot_map.numbers[slots], weights[:, slots], means[slots]
    weights = shown_weights(model.classes, weights)
    errors = errors_of_weights(model)
    if errors is not None:
        errors = errors[slots]
    constant = weights[:, 0] * model.intercept
    zeros = cut_values(model, slots, np.zeros(len(slots)))
    zeros[0] = 0.0
    averages = (weights @ means + constant).tolist()
    columns = [_Column(row, own, means, zeros, errors) for row, own in zip(weights, averages, strict=True)]
    return known, slots, columns


def _of_budget(model: Model, rows: Rows) -> tuple[np.ndarray, np.ndarray, list[_Column]]:
    """The features of some rows by id + 1, their slots, and their columns, of a learner of a byte budget.

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
    nothing, known = np.zeros(count), slots.astype(np.int64)
    columns = [_Column(row, float(own), nothing, nothing) for row, own in zip(weights, average, strict=True)]
    return known, known, columns
