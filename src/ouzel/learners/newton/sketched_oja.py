"""Sketched online Newton with Oja's sketch, for sparse examples.

Luo, Agarwal, Cesa-Bianchi & Langford (2016), Algorithms 1, 4 and 5; an example of s non-zeros costs O(m^2 + m
s), m directions. See `sketched`.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from ouzel.learners.newton.scaled_features import first_scale
from ouzel.learners.newton.sketched import Settings, State, by_sketch
from ouzel.sketches.spectral import oja
from ouzel.sketches.spectral.low_rank_table import LEAD

globals().update(by_sketch(oja, __name__)._asdict())


def module_for(task: str, loss: Any, settings: Any = None) -> Any:
    """The module that learns by these settings: another one for blocks of gradients."""
    blocks = settings is not None and settings.sketch_every > 1.0
    return importlib.import_module(f"{__name__}_block" if blocks else __name__)


def fade(state: State, kept: float, settings: Settings) -> None:
    """Decay the masses and D, no further than to where it began; weights of the features as they are stay."""
    sketch = state.sketch
    sketch.counts[0] = np.floor(kept * sketch.counts[0])
    sketch.mass[...] *= kept
    if not settings.diagonal:
        return
    table, before = sketch.table, sketch.table[:, 1].copy()
    weight = table @ sketch.coefficients * before
    ratio, first = kept ** (-0.25 if settings.normalised else -0.5), np.full(len(table), first_scale(settings))
    if settings.normalised:
        first = np.divide(first, state.largest, out=first, where=state.largest > 0.0)
    table[:, 1] = np.where(before > 0.0, np.minimum(before * ratio, first), 0.0)
    sketch.coefficients[LEAD:] /= ratio
    table[:, 0] = 0.0
    scaled = np.divide(weight, table[:, 1], out=np.zeros_like(weight), where=before > 0.0)
    table[:, 0] = scaled - table @ sketch.coefficients
