"""Why rows are predicted as they are: the features that add most to a margin, and what all else adds."""

from __future__ import annotations

import numpy as np

from ouzel.evaluation.predictions import Predictions, reasons
from ouzel.model.model import Model
from ouzel.streams.block import Block

LITTLE = 5e-4  # of a margin, or of 1, which would not be seen beside the others


def why(model: Model, block: Block, predictions: Predictions, most: int, as_text: bool) -> dict[str, np.ndarray]:
    """The columns `why`, the `most` features that add most, and `all_else`, which with them is the margin.

    As text both are one column, `sun -0.5, (intercept) -0.05, all else +0.2`.
    """
    listed = reasons(model, block, most)
    margins = predictions.margins.max(axis=1)
    rest = margins - np.array([sum(feature["contribution"] for feature in features) for features in listed])
    if not as_text:
        return {"why": listed, "all_else": rest}
    texts = np.empty(block.rows, object)
    for row, (features, beyond, margin) in enumerate(zip(listed, rest.tolist(), margins.tolist(), strict=True)):
        told = [(feature["name"], feature["contribution"]) for feature in features]
        told += [("all else", beyond)] if abs(beyond) > LITTLE * max(1.0, abs(margin)) else []
        texts[row] = ", ".join(f"{name} {added:+.3g}" for name, added in told)
    return {"why": texts}
