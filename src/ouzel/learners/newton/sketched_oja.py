"""Sketched online Newton with Oja's sketch, for sparse examples.

Luo, Agarwal, Cesa-Bianchi & Langford (2016), Algorithms 1, 4 and 5; an example of s non-zeros costs O(m^2 + m
s), m directions. See `sketched`.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from ouzel.learners.newton.scaled_features import fade_scales
from ouzel.learners.newton.sketched import Settings, State, by_sketch
from ouzel.sketches.spectral import oja

globals().update(by_sketch(oja, __name__)._asdict())


def module_for(task: str, loss: Any, settings: Any = None) -> Any:
    """The module that learns by these settings: another one for blocks of gradients."""
    blocks = settings is not None and settings.sketch_every > 1.0
    return importlib.import_module(f"{__name__}_block" if blocks else __name__)


def fade(state: State, kept: float, settings: Settings) -> None:
    """Decay the masses and D, no further than to where it began; weights of the features as they are stay."""
    state.sketch.counts[0] = np.floor(kept * state.sketch.counts[0])
    state.sketch.mass[...] *= kept
    fade_scales(state, kept, settings)
