"""Values of features as a learner uses them, where it cuts large ones: in the features' own units."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ouzel.deferred import deferred
from ouzel.learners import protocol
from ouzel.learners.auto import standardisation
from ouzel.model.model import Model

if TYPE_CHECKING:
    from ouzel.learners import feature_scaling
else:
    feature_scaling = deferred("ouzel.learners.feature_scaling")


class CutValues:
    """What the weights of some slots (d,) multiply of their values: the same values where nothing is cut."""

    def __init__(self, model: Model, slots: np.ndarray) -> None:
        self.features, self.slots, self.intercept = model.scales, slots, model.intercept
        self.columns, self.limit = model.preparation.columns, model.preparation.limit
        sizes = largest_sizes(model)
        self.sizes = None if sizes is None else sizes[slots]
        if self.features is not None:
            reaching = standardisation.units(self.features, reaching=True)
            slopes, shifts = feature_scaling.units(self.features, self.limit) if self.limit > 0.0 else reaching
            self.slopes, self.shifts = slopes[slots], shifts[slots]

    def of(self, places: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return what is multiplied of values (n,) of the slots at these places (n,), each in an example of its own."""
        if self.columns is not None:
            from ouzel.learners.budget import scaled_columns

            return scaled_columns.cut_values(self.columns, self.slots[places], values, self.intercept)
        if self.features is None:
            values = feature_scaling.cut(values) if self.limit > 0.0 else values
            return values if self.sizes is None else np.clip(values, -self.sizes[places], self.sizes[places])
        own = self.features, self.slots[places], values, self.intercept
        z = feature_scaling.standardised(*own, self.limit) if self.limit > 0.0 else standardisation.standardised(*own)
        if self.sizes is not None:
            z = np.clip(z, -self.sizes[places], self.sizes[places])
        slopes = self.slopes[places]
        return np.divide(z + self.shifts[places], slopes, out=values.copy(), where=slopes > 0.0)


def cut_values(model: Model, slots: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return what the weights of slots (n,) multiply of their values (n,)."""
    return CutValues(model, slots).of(np.arange(len(slots)), values)


def largest_sizes(model: Model) -> np.ndarray | None:
    """The largest |value| (slots,) of each feature, as which a larger one counts; None where the learner cuts none.

    States of several classes see the same values.
    """
    if not (isinstance(model.module, protocol.CutsValues) and model.states):
        return None
    sizes = model.module.largest_sizes(model.states[0])
    return sizes if len(sizes) else None
