"""Sketched online Newton with Oja's sketch turned once for `sketch_every` gradients: what `sketched_oja` is then.

Luo, Agarwal, Cesa-Bianchi & Langford (2016), section 3. See `sketches.spectral.block_oja`.
"""

from __future__ import annotations

from ouzel.learners.newton import sketched_oja
from ouzel.learners.newton.sketched import Settings, State, by_sketch
from ouzel.sketches.spectral import block_oja

__all__ = ["Settings", "State"]

_made = by_sketch(block_oja, __name__)
layout, init, grow, check = _made.layout, _made.init, _made.grow, _made.check
learn_row, learn_rows = _made.learn_row, _made.learn_rows
predict_row, predict_rows = _made.predict_row, _made.predict_rows
weights, eigenvalues, directions = _made.weights, _made.eigenvalues, _made.directions
condition_number, swap_classes, merge = _made.condition_number, _made.swap_classes, _made.merge


def fade(state: State, kept: float, settings: Settings) -> None:
    """As without blocks; the one under way ends."""
    block_oja.end_block(state.sketch)
    sketched_oja.fade(state, kept, settings)
