"""How large a sketch the theorems on WM-Sketch ask for: of theoretical use alone.

Tai, Sharan, Bailis & Valiant (2018), Theorems 1 and 2. With w the minimiser of mean loss + l2 / 2 ||w||^2, a loss that
is `smoothness`-smooth (beta), and examples of l1 norm at most `norm` (gamma), every estimate is within epsilon ||w||_1
of its weight with probability 1 - delta if the sketch has
    k = C1 / epsilon^4 log^3(d / delta) max(1, beta^2 gamma^4 / l2^2)    counters in
    s = C2 / epsilon^2 log^2(d / delta) max(1, beta gamma^2 / l2)        rows,
and, learnt in one pass of random order with averaging and weights kept to a ball of radius D2 + epsilon D1, after
    T >= C3 / epsilon^4 zeta log^2(d / delta) max(1, beta gamma^2 / l2)
examples, zeta = (D2 / (l2 ||w||_1))^2 (G + (1 + epsilon gamma) H)^2, G = H (1 + epsilon gamma) + l2 D, H the steepest
that the loss is. The theorems do not tell the constants C: they are 1 here, and no constant would do. The bounds grow
with 1 / l2^2 and 1 / epsilon^4, and the size that recovery needs hardly does: of 2^18 features, epsilon = 0.3 and
l2 = 0.1 ask for 175 MB, epsilon = 0.1 and l2 = 0.01 for more than a million, where 8 KB do well (docs/budgets.md). So
this says how the bounds grow. To choose a size, give a budget, or compare some.
"""

from __future__ import annotations

from math import ceil, log
from typing import Annotated, Any, NamedTuple

from ouzel.errors import OuzelError
from ouzel.ranges import Range, checked, memory, ranged

Part = Annotated[float, Range(0.0, 1.0, above=True, below=True), "between 0 and 1"]
Above = Annotated[float, Range(0.0, 1e15, above=True), "above 0"]
COUNTER = 4  # bytes

Epsilon = Annotated[
    float, Range(0.0, 1.0, below=True), "error for which Theorem 1 sizes the sketch, far too large in practice; 0: none"
]
Delta = Annotated[float, Range(1e-9, 0.5), "with `epsilon`: the chance to miss it"]
Features = Annotated[float, Range(1.0, 1e15), "with `epsilon`: features that there are"]
GUARANTEE = {"epsilon": (Epsilon, 0.0), "delta": (Delta, 0.05), "features": (Features, 2.0**18)}
"""The settings that ask for a size by Theorem 1, and their defaults."""


class Size(NamedTuple):
    """What the theorems ask for."""

    width: int  # counters in a row
    depth: int  # rows, s
    examples: float  # T

    @property
    def bytes(self) -> int:
        """Of the counters."""
        return COUNTER * self.width * self.depth


@ranged
def size_for(
    epsilon: Part,
    delta: Part = 0.05,
    features: Above = 2.0**18,
    l2: Above = 1.0,
    norm: Above = 1.0,
    smoothness: Above = 1.0,
    steepest: Above = 1.0,
    l1_of_weights: Above = 1.0,
    l2_of_weights: Above = 1.0,
) -> Size:
    """Width, depth and examples for errors of at most epsilon ||w||_1, by the theorems, with constants of 1.

    Of theoretical use alone: sketches a thousand times smaller do well.

    >>> size_for(0.5, features=1000)
    Size(width=40, depth=393, examples=31777.61...)
    """
    terms, conditioning = log(features / delta), max(1.0, smoothness * norm**2 / l2)
    if terms <= 0.0:
        raise OuzelError(f"features must be more than delta; got {features:g} and {delta:g}")
    counters = terms**3 * conditioning**2 / epsilon**4
    depth = ceil(terms**2 * conditioning / epsilon**2)
    radius = l2_of_weights + epsilon * l1_of_weights
    reach = (1.0 + epsilon * norm) * steepest
    zeta = (l2_of_weights / (l2 * l1_of_weights) * (2.0 * reach + l2 * radius)) ** 2
    return Size(ceil(counters / depth), depth, zeta * terms**2 * conditioning / epsilon**4)


def sized(settings: Any) -> Any:
    """The settings of `wm`, of the size that their `epsilon` asks for."""
    if not settings.epsilon:
        return settings
    size = size_for(settings.epsilon, settings.delta, settings.features, max(settings.l2, 1e-9))
    heap_size, counters = settings.heap_size or 128.0, (1.0 + settings.averaging) * size.bytes
    found = {"heap_size": heap_size, "width": float(size.width), "depth": float(size.depth)}
    found["budget"] = 8.0 * heap_size + counters
    wanted = f"for epsilon={settings.epsilon:g}"
    try:
        known = checked(type(settings), found, wanted)
        if found["budget"] > memory():
            raise OuzelError(f"the sketch {wanted} is larger than this machine's memory")
    except OuzelError as error:
        raise OuzelError(
            f"{error}; Theorem 1 asks for {size.bytes / 2**20:,.0f} MB, which is of theoretical use alone: leave out "
            "epsilon and give a budget, such as",
            budget="16KB",
        ) from None
    return settings._replace(**known)
