"""Sketched online Newton with Robust Frequent Directions (RFD-SON): what `sketched_fd` is with `robust`.

Luo, Chen, Zhang, Li & Zhang (2019), "Robust Frequent Directions with Application in Online Learning", JMLR 20. See
`sketches.spectral.newton_robust_directions`.
"""

from __future__ import annotations

from ouzel.learners.newton import sketched_fd
from ouzel.learners.newton.sketched import Settings, State, by_sketch
from ouzel.sketches.spectral import newton_robust_directions

globals().update(by_sketch(newton_robust_directions, __name__)._asdict())


def fade(state: State, kept: float, settings: Settings) -> None:
    """Decay the sketch as `sketched_fd` does, and what alpha has gained."""
    newton_robust_directions.settle(state.sketch)
    sketched_fd.fade(state, kept, settings)
    state.sketch.gained[...] *= kept
