"""Means and standard deviations of the features of a model in the examples learnt."""

from __future__ import annotations

import numpy as np

from ouzel.learners import feature_moments
from ouzel.learners.auto import standardisation
from ouzel.model.model import Model


def means_and_spreads(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation (slots,) of the features in the examples learnt, absent ones counting as 0.

    Those of a sample where features are not standardised; not known to learners of a byte budget.
    """
    scales = model.scales
    if scales is not None:
        mean, spread = standardisation.means_and_spreads(scales)
    else:
        mean, spread = feature_moments.means_and_spreads(model.preparation.moments)
    return mean[: model.slots], spread[: model.slots]
