"""Explanations of predictions: the features with the largest contributions to a margin, and the sum of all others."""

from __future__ import annotations

import numpy as np

from ouzel.evaluation.predictions import Predictions, reasons
from ouzel.model.model import Model
from ouzel.streams.block import Block

LITTLE = 5e-4  # of a margin, or of 1, which would not be visible next to the others


def explanations(
    model: Model, block: Block, predictions: Predictions, most: int, as_text: bool
) -> dict[str, np.ndarray]:
    """Return the columns `why`, the `most` largest contributions, and `all_else`, the rest of the margin.

    As text both are one column, `sun -0.5, (intercept) -0.05, all else +0.2`.
    """
    listed = reasons(model, block, most)
    margins = predictions.margins.max(axis=1)
    rest = margins - np.array([sum(feature["contribution"] for feature in features) for features in listed])
    if not as_text:
        return {"why": listed, "all_else": rest}
    texts = np.empty(block.rows, object)
    for row, (features, beyond, margin) in enumerate(zip(listed, rest.tolist(), margins.tolist(), strict=True)):
        contributions = [(feature["name"], feature["contribution"]) for feature in features]
        contributions += [("all else", beyond)] if abs(beyond) > LITTLE * max(1.0, abs(margin)) else []
        texts[row] = ", ".join(f"{name} {added:+.3g}" for name, added in contributions)
    return {"why": texts}
