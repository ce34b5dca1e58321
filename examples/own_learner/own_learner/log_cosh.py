"""The loss log(cosh(p - y)): squared where errors are small, absolute where they are large, smooth in between."""

from __future__ import annotations

from math import exp, log, log1p, tanh
from typing import NamedTuple

from ouzel.extend import curvature, derivative, value


class LogCosh(NamedTuple):
    """log(cosh(p - y))."""


@value.register(LogCosh)
def _(loss, prediction, target):
    error = abs(prediction - target)
    return error + log1p(exp(-2.0 * error)) - log(2.0)


@derivative.register(LogCosh)
def _(loss, prediction, target):
    return tanh(prediction - target)


@curvature.register(LogCosh)
def _(loss, prediction, target):
    return 1.0 - tanh(prediction - target) ** 2
