"""Sketched online Newton with Frequent Directions, for sparse examples.

Luo, Agarwal, Cesa-Bianchi & Langford (2016), Algorithms 1, 6 and 8; an example of s non-zeros costs O(m^2 + m
s), m directions. See `sketched`.
"""

from __future__ import annotations

from ouzel.learners.newton.sketched import by_sketch
from ouzel.sketches.spectral import newton_frequent_directions

globals().update(by_sketch(newton_frequent_directions, __name__)._asdict())
