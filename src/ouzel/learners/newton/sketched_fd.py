"""Sketched online Newton with Frequent Directions, for sparse examples.

Luo, Agarwal, Cesa-Bianchi & Langford (2016), Algorithms 1, 6 and 8; an example of s non-zeros costs O(m^2 + m
s), m directions. See `sketched`.
"""

from __future__ import annotations

from ouzel.learners.newton.sketched import Settings, State, by_sketch
from ouzel.sketches.spectral import newton_frequent_directions

__all__ = ["Settings", "State"]

_made = by_sketch(newton_frequent_directions, __name__)
layout, init, grow, check = _made.layout, _made.init, _made.grow, _made.check
learn_row, learn_rows = _made.learn_row, _made.learn_rows
predict_row, predict_rows = _made.predict_row, _made.predict_rows
weights, eigenvalues, directions = _made.weights, _made.eigenvalues, _made.directions
condition_number, swap_classes, merge = _made.condition_number, _made.swap_classes, _made.merge
