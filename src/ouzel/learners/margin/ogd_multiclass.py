"""Online gradient descent on the multiclass hinge.

Zinkevich (2003), "Online Convex Programming and Generalized Infinitesimal Gradient Ascent", ICML, on the loss
max(0, 1 - (s_y - s_r)) of Crammer & Singer (2001), "On the Algorithmic Implementation of Multiclass Kernel-based Vector
Machines", JMLR 2. When the loss of example t is positive,
    w_y <- w_y + rate_t x,    w_r <- w_r - rate_t x,    rate_t = learning_rate / t^power.
With two classes each row moves half as far, which is the step of the binary hinge for w_1 - w_0. An importance weight
multiplies the loss, so the step.
"""

from __future__ import annotations

from typing import NamedTuple

from ouzel.learners.margin.rule import step
from ouzel.learners.shared_settings import Power, Rate


class Settings(NamedTuple):
    learning_rate: Rate = 1.0
    power: Power = 0.5


@step.register(Settings)
def _(settings, case):
    if not case.margin < 1.0:
        return 0.0
    rate = settings.learning_rate / case.seen**settings.power
    return case.importance * rate * (0.5 if case.classes == 2 else 1.0)
