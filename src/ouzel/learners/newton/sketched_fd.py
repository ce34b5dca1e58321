"""Sketched online Newton with Frequent Directions, for sparse examples.

Luo, Agarwal, Cesa-Bianchi & Langford (2016), Algorithms 1, 6 and 8; an example of s non-zeros costs O(m^2 + m
s), m directions. See `sketched`.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from ouzel.learners.newton.scaled_features import fade_scales
from ouzel.learners.newton.sketched import Settings, State, by_sketch
from ouzel.sketches.spectral import newton_frequent_directions
from ouzel.sketches.spectral.newton_frequent_directions import settle

globals().update(by_sketch(newton_frequent_directions, __name__)._asdict())


def module_for(task: str, loss: Any, settings: Any = None) -> Any:
    """The module that learns by these settings: another one for Robust Frequent Directions."""
    robust = settings is not None and settings.robust
    return importlib.import_module(f"{__name__}_robust" if robust else __name__)


def fade(state: State, kept: float, settings: Settings) -> None:
    """Decay the sketch, whose epoch ends with it, and D; weights of the features as they are stay.

    What an epoch's end takes off the sketch the guarantee of Frequent Directions allows for, as often as it comes.
    """
    settle(state.sketch)
    state.sketch.counts[0] = np.floor(kept * state.sketch.counts[0])
    state.sketch.mass[...] *= kept
    fade_scales(state, kept, settings)
