"""Why an example is predicted as it is: what each of its features adds to the margin."""

from __future__ import annotations

from typing import Any

import numpy as np

from ouzel.learners.rows import Rows
from ouzel.model.answers import shown, shown_weights
from ouzel.model.model import Model
from ouzel.streams.block import Block


def explained(model: Model, block: Block) -> list[dict[str, Any]]:
    """For each class, or the one column of margins, the features of one example and what they add, the most first.

    Contributions and the remainder add up to the margin. The remainder is no more than rounding, but for `auto`, which
    cuts features at three standard deviations, and margins too. A feature that the model does not know adds nothing.
    """
    rows = model.raw_rows(block)
    slots, values = rows.indices.astype(np.int64), rows.values.astype(np.float64)
    weights = _weights(model, rows)
    if weights.ndim == 1:
        weights = weights[None, :]
    weights = shown_weights(model.classes, weights)
    if not model.task.numbers and not len(model.classes):
        return []
    margins = np.atleast_2d(shown(model.classes, model.margins(block)).T)[:, 0]
    names = [str(model.feature_name(int(slot) - 1)) for slot in slots]
    labels = _labels(model)
    found = []
    for label, margin, weight in zip(labels, margins, weights, strict=True):
        added = weight * values
        features = [
            {"name": names[k], "value": values[k], "weight": weight[k], "contribution": added[k]}
            for k in np.argsort(-np.abs(added), kind="stable").tolist()
        ]
        plain = [{name: _plain(value) for name, value in feature.items()} for feature in features]
        remainder = float(margin - added.sum())
        found.append({"class": label, "margin": float(margin), "remainder": remainder, "features": plain})
    return found


def _labels(model: Model) -> list[Any]:
    """The class that each column speaks for; of two, that of the positive margin."""
    known = model.classes.in_order()
    return known if len(known) > 2 else [known[-1] if known else None]


def _weights(model: Model, rows: Rows) -> np.ndarray:
    """Weights (columns, k) or (k,) of the entries of one row, as the model has its classes.

    A learner of a byte budget is asked for the margin of each feature alone, less that of none: margins are linear.
    """
    slots = rows.indices.astype(np.int64)
    if not model.budgeted:
        table = model.weights()
        inside = slots < table.shape[1]
        return np.where(inside, table[:, np.minimum(slots, table.shape[1] - 1)], 0.0)
    count = len(slots)
    offsets = np.concatenate([np.arange(count + 1), [count]]).astype(np.uint64)
    alone = Rows(offsets, rows.indices, np.ones(count, np.float32))
    margins = model.task.margins(model, alone)
    return (margins[:-1] - margins[-1]).T


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
