"""Settings that several learners have, each declared once: the range it is checked against, and what it is.

Bounds leave room for every grid that makes sense (2^-20 to 2^20, say) and keep squares and inverses of a setting within
floating point. What one learner alone has stands in its own file.
"""

from __future__ import annotations

from math import inf
from typing import Annotated, Any

from ouzel.ranges import MOST_SEED, STRENGTH, SWITCH, Range

STEP = Range(1e-30, 1e9)
ENTRIES = Range(0.0, whole=True, each=136)  # of a heap; most of it is the index
COUNTERS = Range(0.0, whole=True, each=4)
ROWS = Range(0.0, whole=True, each=12288)  # with the tables of their hash functions
PRICE = Range(1e-12, 1e12)  # of C and its like, which are divided by

Loss = Annotated[Any, "the loss of one prediction"]
Penalty = Annotated[Any, "a penalty, or a domain for the weights; l1 and l2 are strengths"]
Schedule = Annotated[Any, "how steps fall with the number of examples"]

Rate = Annotated[float, STEP, "step size"]
Power = Annotated[float, Range(0.0, 10.0), "how fast steps fall: as 1 / t^power"]
Damping = Annotated[float, STRENGTH, "added to the root of the sum of squared gradients"]
L2 = Annotated[float, STRENGTH, "strength of the squared l2 penalty"]
DualAveraging = Annotated[bool, SWITCH, "eq. (3) in place of eq. (4)"]
FromDomain = Annotated[bool, SWITCH, "step size and damping from the domain (Corollaries 1, 6, 11)"]

Curvature = Annotated[float, STRENGTH, "sigma: 1/4 suits the logistic loss, 1 / (8 C^2) the square loss"]
Eta = Annotated[float, STRENGTH, "for losses without curvature: added to it as eta / sqrt(t)"]
Bound = Annotated[Any, "beyond `largest`: clip predictions, or project weights"]
Largest = Annotated[float, Range(1e-30, inf), "C, the largest prediction; inf for none, as for numbers"]
FromTheory = Annotated[bool, SWITCH, "sigma and eta from the loss, `largest` and the regret bound (Theorem 2)"]
Features = Annotated[float, Range(1.0, 1e9), "d, features that `from_theory` counts on"]

Aggressiveness = Annotated[float, PRICE, "C, the price of slack"]
Confidence = Annotated[float, Range(0.501, 0.999999999), "eta, the probability of a right margin"]
Prior = Annotated[float, Range(1e-9, 1e9), "variance of the weights of a margin before any example"]
Pairwise = Annotated[bool, SWITCH, "a margin has the variance 2 x'Sx; otherwise x'Sx, as in LIBOL"]
Full = Annotated[bool, SWITCH, "the whole covariance, not its diagonal"]

HeapSize = Annotated[float, ENTRIES, "features kept; 0 for what the budget gives"]
Width = Annotated[float, COUNTERS, "counters in a row of the sketch; 0 likewise"]
Depth = Annotated[float, ROWS, "rows of the sketch; 0 likewise"]
SketchSeed = Annotated[float, Range(0.0, MOST_SEED, whole=True), "seed of the hash functions and random numbers"]


def byte_budget(low: float, each: int = 1) -> Range:
    """Bytes that a learner may keep, from `low` on; in memory each comes to `each`, indexes included."""
    return Range(low, each=each, size=True)
