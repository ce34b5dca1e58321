"""Comparison of what an exported model says with what the model says, before it is written."""

from __future__ import annotations

import numpy as np

from ouzel.errors import OuzelError
from ouzel.model.model import Model

CLOSE = 1e-5  # to what the model itself says, which is rounded to single precision on its way


def check_alike(model: Model, found: np.ndarray, expected: np.ndarray) -> None:
    """Refuse a learner whose predictions are not what was found."""
    if not np.allclose(found, expected, rtol=0.0, atol=CLOSE * (1.0 + np.abs(expected).max())):
        raise OuzelError(
            f"{model.learner.name} predicts otherwise than by weights of the features, which is all that an "
            "exported model can do; learn with another learner, such as auto or adagrad"
        )
