"""sigma and eta of online Newton as its regret bound asks for them.

Luo, Agarwal, Cesa-Bianchi & Langford (2016), Assumptions 1 and 2, Theorems 2 and 3: with predictions and numbers to
predict within [-C, C], |l'(z)| <= L there, and sigma the largest for which for all such z and u
    l(z) >= l(u) + l'(u) (z - u) + sigma / 2 (l'(u) (z - u))^2,
the bounds are smallest with eta = 0 if sigma is above 0, and eta_t = sqrt(d / t) / (C L) otherwise. For a sketch of m
directions d is m. Both constants are found here by trying numbers, so that a loss of one's own has them as well.

Of the logistic loss sigma is e^-C. With p = 1 / (1 + e^-C), the steepest slope, e^-C p^2 = p (1 - p) is the least l''
within [-C, C]; so what the bound leaves of l is convex in z, and it is 0 with its slope at z = u. No larger sigma does,
for 2 (l(z) - l(u) - l'(u) (z - u)) / (l'(u) (z - u))^2 goes to l'' / l'^2 = e^-C as u and z go to the steepest end.
"""

from __future__ import annotations

from itertools import product
from math import exp, isfinite, sqrt
from typing import Any

import numpy as np

from ouzel.errors import OuzelError
from ouzel.terms.losses import REGRESSION, Logistic, derivative, value

TRIED = 33  # numbers within [-C, C]
NEAR = 1e-6  # part of C by which z is beside u where the limit z -> u is tried
LEAST = 1e-9  # a curvature that is rounding


def lipschitz_of(loss: Any, largest: float) -> float:
    """L: the steepest that a loss is at predictions within [-largest, largest].

    >>> from ouzel.terms.losses import Squared
    >>> lipschitz_of(Squared(), 2.0)
    4.0
    """
    places = np.linspace(-largest, largest, TRIED).tolist()
    return max(abs(derivative(loss, z, y)) for z, y in product(places, _targets(loss, places)))


def curvature_of(loss: Any, largest: float) -> float:
    """sigma of Assumption 2 within [-largest, largest]; 0 if there is none.

    >>> from ouzel.terms.losses import Hinge, Squared
    >>> round(curvature_of(Squared(), 2.0), 6), curvature_of(Hinge(), 2.0)
    (0.0625, 0.0)
    """
    if isinstance(loss, Logistic):
        return exp(-largest)
    places = np.linspace(-largest, largest, TRIED).tolist()
    least = np.inf
    for u, z, y in product(places, places, _targets(loss, places)):
        rise = derivative(loss, u, y) * (z - u)
        if rise != 0.0:
            least = min(least, 2.0 * (value(loss, z, y) - value(loss, u, y) - rise) / rise**2)
    for u, y in product(places, _targets(loss, places)):  # z -> u: l'' / l'^2
        slope, beside = derivative(loss, u, y), u - NEAR * u
        if slope != 0.0 and u != 0.0:
            least = min(least, (derivative(loss, beside, y) - slope) / (beside - u) / slope**2)
    return float(least) if LEAST < least < np.inf else 0.0


def _targets(loss: Any, places: list[float]) -> list[float]:
    return places if isinstance(loss, REGRESSION) else [-1.0, 1.0]


def from_theorem(settings: Any, dimension: float) -> Any:
    """Settings with `curvature` and `eta` as the theorem asks, for predictions within `largest`."""
    if not isfinite(settings.largest):
        raise OuzelError("from_theory needs `largest`, the C within which predictions are; set largest=1, say")
    sigma = curvature_of(settings.loss, settings.largest)
    steepest = lipschitz_of(settings.loss, settings.largest)
    eta = 0.0 if sigma > 0.0 or steepest == 0.0 else sqrt(dimension) / (settings.largest * steepest)
    return settings._replace(curvature=sigma, eta=eta)
