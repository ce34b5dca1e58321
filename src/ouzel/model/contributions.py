"""Why examples are predicted as they are: what each of their features adds to the margins."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ouzel.learners.rows import Rows
from ouzel.model.answers import shown, shown_weights
from ouzel.model.model import Model
from ouzel.streams.block import Block


def explained(model: Model, block: Block) -> Iterator[list[dict[str, Any]]]:
    """What is added to the margins of each example of a block, see `contributions`."""
    return contributions(model, model.numbered_rows(block), model.margins(block))


def contributions(model: Model, rows: Rows, margins: np.ndarray) -> Iterator[list[dict[str, Any]]]:
    """For each example, and each class or the one column of margins, its features and what they add, the most first.

    `rows` hold the features as they came, by id + 1 and the constant one as 0, and `margins` (n,) or (n, classes) what
    the model says of them. Contributions and the remainder add up to the margin. The remainder is no more than
    rounding, but where a learner cuts large values: at three standard deviations where features are standardised, as
    `auto` does, or at the largest seen (`son-oja`). What is not known adds nothing.
    """
    if not (model.task.numbers or model.task.groups or len(model.classes)):
        yield from ([] for _ in range(len(margins)))
        return
    weights = shown_weights(model.classes, np.atleast_2d(_weights(model, rows)))
    shown_margins = np.atleast_2d(shown(model.classes, margins).T).T
    labels = _labels(model)
    for row, (start, stop) in enumerate(zip(rows.offsets[:-1].tolist(), rows.offsets[1:].tolist(), strict=True)):
        names = [str(model.feature_name(slot - 1)) for slot in rows.indices[start:stop].tolist()]
        values = rows.values[start:stop].astype(np.float64)
        yield [
            _explanation(label, float(margin), names, values, weight[start:stop])
            for label, margin, weight in zip(labels, shown_margins[row], weights, strict=True)
        ]


def _explanation(
    label: Any, margin: float, names: list[str], values: np.ndarray, weights: np.ndarray
) -> dict[str, Any]:
    added = weights * values
    features = [
        {"name": names[k], "value": float(values[k]), "weight": float(weights[k]), "contribution": float(added[k])}
        for k in np.argsort(-np.abs(added), kind="stable").tolist()
    ]
    return {"class": label, "margin": margin, "remainder": float(margin - added.sum()), "features": features}


def _labels(model: Model) -> list[Any]:
    """The class that each column speaks for; of two, that of the positive margin."""
    known = model.classes.in_order()
    return known if len(known) > 2 else [known[-1] if known else None]


def _weights(model: Model, rows: Rows) -> np.ndarray:
    """Weights (columns, k) or (k,) of the entries of rows, as the model has its classes.

    A learner of a byte budget is asked for the margin of each feature alone, less that of none: margins are linear.
    """
    slots = rows.indices.astype(np.int64)
    if not model.budgeted:
        table = model.slot_weights()
        if model.slot_map is not None:
            slots = np.where(slots > 0, model.slot_map.slots_of(slots - 1), 0)
        inside = (slots >= 0) & (slots < table.shape[1])
        return np.where(inside, table[:, np.minimum(slots, table.shape[1] - 1)], 0.0)
    count = len(slots)
    offsets = np.concatenate([np.arange(count + 1), [count]]).astype(np.uint64)
    alone = Rows(offsets, rows.indices, np.ones(count, np.float32))
    margins = model.task.margins(model, alone)
    return (margins[:-1] - margins[-1]).T
