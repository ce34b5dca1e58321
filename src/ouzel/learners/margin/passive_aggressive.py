"""Passive-aggressive learning: PA, PA-I and PA-II.

Crammer, Dekel, Keshet, Shalev-Shwartz & Singer (2006), "Online Passive-Aggressive Algorithms", JMLR 7, Figure 1, and
section 8 for several classes. With the loss l = max(0, 1 - (s_y - s_r)) and the pair's square norm n = 2 x'x,
    w_y <- w_y + tau x,    w_r <- w_r - tau x,
    tau = l / n (PA),    min(C, l / n) (PA-I),    l / (n + 1 / (2 C)) (PA-II):
the nearest weights without loss, or those for which half the squared distance and the price, C l or C l^2, are least.
With two classes the distance is that of w_1 - w_0, whose square is twice that of the two rows: C / 2 stands for C.
An importance weight multiplies C in PA-I and PA-II; PA knows no price, and one above 0 changes nothing there.
"""

from __future__ import annotations

from typing import NamedTuple

from ouzel.kernels.jit import force_inline
from ouzel.learners.margin.rule import step
from ouzel.learners.shared_settings import Aggressiveness


class PA(NamedTuple):
    aggressiveness: Aggressiveness = 1.0


class PA1(NamedTuple):
    aggressiveness: Aggressiveness = 1.0


class PA2(NamedTuple):
    aggressiveness: Aggressiveness = 1.0


@force_inline
def price_of(settings, case):
    """C, times the importance; half of it where the two rows are one vector."""
    return case.importance * settings.aggressiveness * (0.5 if case.classes == 2 else 1.0)


@step.register(PA)
def _(settings, case):
    loss, norm = 1.0 - case.margin, 2.0 * case.square
    return loss / norm if loss > 0.0 and norm > 0.0 and price_of(settings, case) > 0.0 else 0.0


@step.register(PA1)
def _(settings, case):
    loss, norm, price = 1.0 - case.margin, 2.0 * case.square, price_of(settings, case)
    return min(price, loss / norm) if loss > 0.0 and norm > 0.0 and price > 0.0 else 0.0


@step.register(PA2)
def _(settings, case):
    loss, norm, price = 1.0 - case.margin, 2.0 * case.square, price_of(settings, case)
    return loss / (norm + 0.5 / price) if loss > 0.0 and norm > 0.0 and price > 0.0 else 0.0
