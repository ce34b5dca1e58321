"""Values of features as a learner uses them, where it cuts large ones: in the features' own units."""

from __future__ import annotations

import numpy as np

from ouzel.learners import protocol
from ouzel.learners.auto import standardisation
from ouzel.model.model import Model


def cut_values(model: Model, slots: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return what the weights of slots (n,) multiply of their values (n,): the same values where nothing is cut."""
    features, sizes = model.scales, largest_sizes(model)
    if features is None:
        return values if sizes is None else np.clip(values, -sizes[slots], sizes[slots])
    slopes, shifts = (part[slots] for part in standardisation.units(features, reaching=True))
    z = standardisation.standardised(features, slots, values, model.intercept)
    if sizes is not None:
        z = np.clip(z, -sizes[slots], sizes[slots])
    return np.divide(z + shifts, slopes, out=values.copy(), where=slopes > 0.0)


def largest_sizes(model: Model) -> np.ndarray | None:
    """The largest |value| (slots,) of each feature, as which a larger one counts; None where the learner cuts none.

    States of several classes see the same values.
    """
    if not (isinstance(model.module, protocol.CutsValues) and model.states):
        return None
    sizes = model.module.largest_sizes(model.states[0])
    return sizes if len(sizes) else None
