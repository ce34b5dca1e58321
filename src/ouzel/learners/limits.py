"""How far weights go: a stream that has diverged keeps predicting numbers."""

from __future__ import annotations

from ouzel._jit import inlined

LARGEST = 1e18  # times any value of a feature, summed over an example, a number that squares still


@inlined
def bounded(weight):
    """The weight, kept within plus and minus LARGEST; infinity included, not NaN."""
    return min(max(weight, -LARGEST), LARGEST)
