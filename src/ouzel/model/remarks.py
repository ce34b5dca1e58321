"""What a model has to say of the data that it learns: a value of 1,000 times its column's usual size."""

from __future__ import annotations

from typing import Any

import numpy as np

from ouzel.learners.auto.outliers import STRIKING
from ouzel.learners.auto.standardisation import OUTLIER, SEEN, Features
from ouzel.streams.block import Block


def outlier_of(model: Any) -> int:
    """The slot of the first feature that had a value of 1,000 times its usual size; 0 if none had."""
    return 0 if model.scales is None else int(model.scales.totals[OUTLIER])


def remark_on_outlier(model: Any, block: Block, before: int) -> str | None:
    """The column, row and value of an outlier that was found while this block was learnt, in a line.

    None where the same one was known `before`, or the value is of an earlier block, and its scale was put right now.
    """
    slot, features = outlier_of(model), model.scales
    if slot == before or features is None:
        return None
    feature = (slot if model.slot_map is None else int(model.slot_map.numbers[slot])) - 1
    here = np.arange(int(block.offsets[0]), int(block.offsets[-1]))
    places = here[block.indices[here] == feature]
    mean, usual = _usual(features, slot)
    sizes = np.abs(block.values[places].astype(np.float64) - mean)
    striking = np.flatnonzero(sizes > STRIKING * usual)
    if not len(striking):
        return None
    place = places[striking[0]]
    row = int(np.searchsorted(block.offsets, place, side="right")) - 1
    number = model.examples - block.rows + row if block.numbers is None else int(block.numbers[row])
    return (
        f"column {model.feature_name(feature)!r}: row {number + 1} has the value {block.values[place]:.7g}, over 1,000 "
        "times its usual size; such values hardly move the scale; leave the cell empty if it stands for "
        "an unknown value"
    )


def _usual(features: Features, slot: int) -> tuple[float, float]:
    """Where the values of a feature lie, and how far from there."""
    _, mean, squares, largest = features.moments[slot]
    if largest >= 0.0:
        return 0.0, float(largest)
    return float(mean), float(np.sqrt(squares / features.totals[SEEN]))
