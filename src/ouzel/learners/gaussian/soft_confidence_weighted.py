"""Soft confidence-weighted learning, SCW-I and SCW-II.

Wang, Zhao & Hoi (2012), "Exact Soft Confidence-Weighted Learning", ICML, propositions 1 and 2: confidence-weighted
learning (see `confidence_weighted`, whose beta it shares) that may miss its margin by l = phi sqrt(v) - m at the price
C l (I) or C l^2 (II) beside the divergence:
    SCW-I:   alpha = min(C, alpha of CW),
    SCW-II:  alpha = [-(2 m n + phi^2 m v) + phi sqrt(phi^2 m^2 v^2 + 4 n v (n + v phi^2))] / (2 (n^2 + n v phi^2)),
with n = v + 1 / (2 C), where that is positive. An importance weight multiplies C.
"""

from __future__ import annotations

from math import sqrt
from typing import Annotated, NamedTuple

from ouzel.learners.gaussian.confidence_weighted import covariance_step, mean_step, normal_quantile
from ouzel.learners.gaussian.rule import step
from ouzel.learners.shared_settings import Aggressiveness, Confidence, Full, Pairwise, Prior
from ouzel.ranges import SWITCH


class Settings(NamedTuple):
    confidence: Confidence = 0.75
    aggressiveness: Aggressiveness = 1.0
    squared: Annotated[bool, SWITCH, "SCW-II, not SCW-I"] = False
    prior: Prior = 1.0
    full: Full = False
    pairwise: Pairwise = True


@step.register(Settings)
def _(settings, case):
    margin, variance = case.margin, case.variance
    phi, price = normal_quantile(settings.confidence), settings.aggressiveness * case.importance
    if not settings.squared:
        alpha = min(price, mean_step(margin, variance, phi))
    else:
        square, n = phi * phi, variance + 0.5 / price
        root = phi * sqrt(square * (margin * variance) ** 2 + 4.0 * n * variance * (n + variance * square))
        alpha = (root - margin * (2.0 * n + square * variance)) / (2.0 * n * (n + variance * square))
    alpha = max(alpha, 0.0)
    return alpha, covariance_step(alpha, variance, phi)
