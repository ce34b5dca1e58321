"""NHERD: normal herding.

Crammer & Lee (2010), "Learning via Gaussian Herding", NIPS, section 3: every weight vector of the Gaussian takes a
passive-aggressive step of price C, and the Gaussian of those is kept. When the margin m < 1,
    alpha = (1 - m) / (v + 1 / C),    beta = (C^2 v + 2 C) / (1 + C v)^2,
the diagonal form being that which keeps the diagonal of the full one. An importance weight multiplies C.
"""

from __future__ import annotations

from typing import NamedTuple

from ouzel.learners.gaussian.rule import step
from ouzel.learners.shared_settings import Aggressiveness, Full, Pairwise, Prior


class Settings(NamedTuple):
    aggressiveness: Aggressiveness = 1.0
    prior: Prior = 1.0
    full: Full = False
    pairwise: Pairwise = True


@step.register(Settings)
def _(settings, case):
    if not case.margin < 1.0:
        return 0.0, 0.0
    price = settings.aggressiveness * case.importance
    beta = price * (price * case.variance + 2.0) / (1.0 + price * case.variance) ** 2
    return (1.0 - case.margin) / (case.variance + 1.0 / price), beta
