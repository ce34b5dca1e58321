"""Sketched online Newton with a random projection, for sparse examples.

Luo, Agarwal, Cesa-Bianchi & Langford (2016), Algorithm 1; an example of s non-zeros costs O(m^3 + m s), m
rows. See `sketched`.
"""

from __future__ import annotations

from ouzel.learners.newton.sketched import by_sketch
from ouzel.sketches.spectral import random_projection

globals().update(by_sketch(random_projection, __name__)._asdict())
