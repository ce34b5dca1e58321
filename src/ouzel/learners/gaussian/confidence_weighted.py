"""Confidence-weighted learning, in the standard deviation and in the variance.

The new Gaussian is the nearest to the last, in Kullback-Leibler divergence, under which the margin is positive with the
probability eta; phi is the normal quantile of eta.

By the standard deviation, m >= phi sqrt(v): Crammer, Dredze & Pereira (2008), "Exact Convex Confidence-Weighted
Learning", NIPS, equations (11) and (12). When m < phi sqrt(v), with psi = 1 + phi^2 / 2 and xi = 1 + phi^2,
    alpha = [-m psi + sqrt(m^2 phi^4 / 4 + v phi^2 xi)] / (v xi),
    beta = alpha phi / (sqrt(u) + v alpha phi),    sqrt(u) = (-alpha v phi + sqrt(alpha^2 v^2 phi^2 + 4 v)) / 2,
u being the new variance of the margin. By the variance, m >= phi v: Dredze, Crammer & Pereira (2008),
"Confidence-Weighted Linear Classification", ICML, equations (9) to (12). When m < phi v,
    alpha = [-(1 + 2 phi m) + sqrt((1 + 2 phi m)^2 - 8 phi (m - phi v))] / (4 phi v),
    beta = 2 alpha phi / (1 + 2 alpha phi v).
Every example is to be right whatever it costs, so an importance weight has no meaning but 0, which leaves it out, and
variances keep falling on a stream that no weights fit, down to the floor of `gaussian`.
"""

from __future__ import annotations

from math import erfc, exp, log, pi, sqrt
from typing import Annotated, NamedTuple

from ouzel.kernels.jit import force_inline
from ouzel.learners.gaussian.rule import step
from ouzel.learners.shared_settings import Confidence, Full, Pairwise, Prior
from ouzel.ranges import SWITCH


class Settings(NamedTuple):
    confidence: Confidence = 0.75
    by_variance: Annotated[bool, SWITCH, "the form in the variance, not in the deviation"] = False
    prior: Prior = 1.0
    full: Full = False
    pairwise: Pairwise = True


@force_inline
def normal_quantile(probability):
    """The standard normal's quantile, of a probability above one half."""
    t = sqrt(-2.0 * log(1.0 - probability))
    top = 2.515517 + t * (0.802853 + t * 0.010328)
    guess = t - top / (1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308)))  # Abramowitz & Stegun 26.2.23, to 4.5e-4
    beyond = 0.5 * erfc(guess / sqrt(2.0)) - (1.0 - probability)
    newton = beyond * sqrt(2.0 * pi) * exp(0.5 * guess * guess)
    return guess + newton / (1.0 - 0.5 * guess * newton)  # one step of Halley's, to 1e-10


@force_inline
def mean_step(margin, variance, phi):
    """alpha by the standard deviation; not above 0 where the margin is wide enough."""
    square = phi * phi
    root = sqrt(0.25 * (margin * square) ** 2 + variance * square * (1.0 + square))
    return (root - margin * (1.0 + 0.5 * square)) / (variance * (1.0 + square))


@force_inline
def covariance_step(alpha, variance, phi):
    """beta by the standard deviation"""
    moved = alpha * variance * phi
    deviation = 0.5 * (sqrt(moved * moved + 4.0 * variance) - moved)
    return alpha * phi / (deviation + moved)


@step.register(Settings)
def _(settings, case):
    margin, variance = case.margin, case.variance
    phi = normal_quantile(settings.confidence)
    if not settings.by_variance:
        alpha = max(mean_step(margin, variance, phi), 0.0)
        return alpha, covariance_step(alpha, variance, phi)
    half = 1.0 + 2.0 * phi * margin
    root = sqrt(max(half * half - 8.0 * phi * (margin - phi * variance), 0.0))
    alpha = max((root - half) / (4.0 * phi * variance), 0.0)
    return alpha, 2.0 * alpha * phi / (1.0 + 2.0 * alpha * phi * variance)
