"""Passive-aggressive learning: PA, PA-I and PA-II.

Crammer, Dekel, Keshet, Shalev-Shwartz & Singer (2006), "Online Passive-Aggressive Algorithms", JMLR 7, Figure 1, and
section 8 for several classes. With the loss l = max(0, 1 - (s_y - s_r)) and the pair's square norm n = 2 x'x,
    w_y <- w_y + tau x,    w_r <- w_r - tau x,
    tau = l / n (PA),    min(C, l / n) (PA-I),    l / (n + 1 / (2 C)) (PA-II):
the nearest weights without loss, or those for which half the squared distance and the price, C l or C l^2, are least.
With two classes the distance is that of w_1 - w_0, whose square is twice that of the two rows: C / 2 stands for C.
An importance weight multiplies C in PA-I and PA-II; PA knows no price, and one above 0 changes nothing there.

PA-I with the logistic loss, as Duchi, Hazan & Singer (2011) compare AdaGrad with (section 6): tau is least in
C log(1 + exp(-m)) and half the squared distance, m the margin after the step (`terms.implicit_steps`).
"""

from __future__ import annotations

from typing import NamedTuple

from ouzel.kernels.jit import force_inline
from ouzel.learners.margin.rule import step
from ouzel.learners.shared_settings import Aggressiveness, Loss
from ouzel.terms.implicit_steps import implicit_step, require_implicit
from ouzel.terms.losses import Hinge


class PA(NamedTuple):
    aggressiveness: Aggressiveness = 1.0


class PA1(NamedTuple):
    aggressiveness: Aggressiveness = 1.0
    loss: Loss = Hinge()

    def completed(self) -> PA1:
        """The settings, if there is a step for the loss."""
        require_implicit(self.loss, "pa1")
        return self


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
    norm, price = 2.0 * case.square, price_of(settings, case)
    return implicit_step(settings.loss, case.margin, norm, price) if norm > 0.0 and price > 0.0 else 0.0


@step.register(PA2)
def _(settings, case):
    loss, norm, price = 1.0 - case.margin, 2.0 * case.square, price_of(settings, case)
    return loss / (norm + 0.5 / price) if loss > 0.0 and norm > 0.0 and price > 0.0 else 0.0
