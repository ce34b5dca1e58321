"""Sketched online Newton with Oja's sketch turned once for `sketch_every` gradients: what `sketched_oja` is then.

Luo, Agarwal, Cesa-Bianchi & Langford (2016), section 3. See `sketches.spectral.block_oja`.
"""

from __future__ import annotations

from ouzel.learners.newton import sketched_oja
from ouzel.learners.newton.sketched import Settings, State, by_sketch
from ouzel.sketches.spectral import block_oja

globals().update(by_sketch(block_oja, __name__)._asdict())


def fade(state: State, kept: float, settings: Settings) -> None:
    """As without blocks; the one under way ends."""
    block_oja.end_block(state.sketch)
    sketched_oja.fade(state, kept, settings)
