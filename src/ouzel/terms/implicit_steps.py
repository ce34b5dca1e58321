"""The step that a loss takes along one direction when it is weighed against how far it goes.

`implicit_step(loss, margin, spread, price)` is the minimiser over a of

    price * loss(margin + a spread) + a^2 spread / 2,

what passive-aggressive learning and AROW do with an example: in closed form for the hinge; for the logistic loss the
root of q = margin + price spread / (1 + exp(q)), by Newton's method within bounds, a = (q - margin) / spread.

>>> round(implicit_step(Hinge(), 0.5, 2.0, 1.0), 12)
0.25
>>> a = implicit_step(Logistic(), 0.5, 2.0, 1.0)
>>> round(a - 1.0 / (1.0 + exp(0.5 + 2.0 * a)), 12)
0.0
"""

from __future__ import annotations

from math import exp, log1p
from typing import Any

from ouzel.errors import OuzelError
from ouzel.kernels.jit import dispatch, force_inline
from ouzel.terms.losses import Hinge, Logistic

ROUNDS = 100  # far more than it takes, as each at least halves the bounds where Newton's step would leave them
CLOSE = 1e-14


@dispatch
def implicit_step(loss: Any, margin: float, spread: float, price: float) -> float:
    """How far to go, for a spread and a price above 0."""


def require_implicit(loss: Any, learner: str) -> None:
    """Refuse a loss whose step is not known."""
    if type(loss) not in implicit_step.bodies:
        known = ", ".join(repr(kind.__name__.lower()) for kind in implicit_step.bodies)
        raise OuzelError(f"{learner} takes the losses {known}; got {loss!r}")


@implicit_step.register(Hinge)
def _(loss, margin, spread, price):
    return min(price, (1.0 - margin) / spread) if margin < 1.0 else 0.0


@force_inline
def _below(margin):
    """1 / (1 + exp(margin))."""
    if margin > 0.0:
        small = exp(-margin)
        return small / (1.0 + small)
    return 1.0 / (1.0 + exp(margin))


@implicit_step.register(Logistic)
def _(loss, margin, spread, price):
    reach = price * spread
    low, high = margin, min(margin + reach, max(margin, 0.0) + log1p(reach) + 1.0)
    q = low + reach * _below(high) if reach < 1.0 else 0.5 * (low + high)
    for _round in range(ROUNDS):
        part = _below(q)
        above = q - margin - reach * part
        if above > 0.0:
            high = q
        else:
            low = q
        after = q - above / (1.0 + reach * part * (1.0 - part))
        if not low <= after <= high:
            after = 0.5 * (low + high)
        if abs(after - q) <= CLOSE * (1.0 + abs(q)):
            break
        q = after
    return price * _below(q)
