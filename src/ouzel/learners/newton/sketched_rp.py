"""Sketched online Newton with a random projection, for sparse examples.

Luo, Agarwal, Cesa-Bianchi & Langford (2016), Algorithm 1; an example of s non-zeros costs O(m^3 + m s), m
rows. See `sketched`.
"""

from __future__ import annotations

from ouzel.learners.newton.sketched import Settings, State, by_sketch
from ouzel.sketches.spectral import random_projection

__all__ = ["Settings", "State"]

_made = by_sketch(random_projection, __name__)
layout, init, grow, check = _made.layout, _made.init, _made.grow, _made.check
learn_row, learn_rows = _made.learn_row, _made.learn_rows
predict_row, predict_rows = _made.predict_row, _made.predict_rows
weights, eigenvalues, directions = _made.weights, _made.eigenvalues, _made.directions
condition_number, swap_classes, merge = _made.condition_number, _made.swap_classes, _made.merge
