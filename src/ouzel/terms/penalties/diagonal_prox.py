"""The problem every update of AdaGrad comes down to, over a vector at once.

Duchi, Hazan & Singer (2011), eq. (23): with u linear and H a diagonal metric,

    argmin_x  <u, x> + strength * r(x) + <x, H x> / 2

where r is a penalty, or the indicator of a domain (then `strength` does not matter). Dual averaging has u = rate * sum
of gradients and strength = rate * t, mirror descent u = rate * gradient - H x and strength = rate.

Terms of whole vectors are in `norms` (L2Norm, MaxNorm) and `projections` (L1Ball, L2Ball); penalties that are sums over
single weights are accepted too, and Box. Over the row of a class-by-feature matrix the norms are the mixed norms of
section 5.5, which null whole features.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ouzel.errors import OuzelError
from ouzel.kernels.jit import dispatch
from ouzel.terms.penalties.l1_and_l2 import L1, ElasticNet, NoPenalty, SquaredL2, proximal


@dispatch
def minimise(
    term: Any, linear: np.ndarray, metric: np.ndarray, strength: float, out: np.ndarray, work: np.ndarray
) -> None:
    """Write the minimiser (d,) to `out`; `work` is scratch of shape (2, d).

    Where `metric` is 0 nothing is known of a coordinate (its `linear` is 0 then), and it is put to 0: 0/0 is 0.
    """


def require_minimiser(term: Any, learner: str) -> None:
    """Refuse a term that `minimise` does not know."""
    if type(term) not in minimise.bodies:
        known = ", ".join(kind.__name__ for kind in minimise.bodies)
        raise OuzelError(f"{learner} takes as penalty one of {known}; got {term!r}")


def separable(term, linear, metric, strength, out, work):
    """The body of `minimise` for penalties that are sums over single weights."""
    for j in range(len(linear)):
        out[j] = proximal(term, -linear[j] / metric[j], strength / metric[j]) if metric[j] > 0.0 else 0.0


for _kind in (NoPenalty, L1, SquaredL2, ElasticNet):
    minimise.register(_kind)(separable)
