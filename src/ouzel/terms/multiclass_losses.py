"""Losses of a vector of scores, one a class: what the binary losses are where a learner holds all classes at once.

`value(loss, scores, target)`, and `derivatives(loss, scores, target, slopes)`, which writes the derivative with respect
to every score. The hinge becomes that of Crammer & Singer (2001), "On the Algorithmic Implementation of Multiclass
Kernel-based Vector Machines", JMLR 2; the logistic loss the multinomial one. With two classes both are the binary loss
of the difference of the scores.
"""

from __future__ import annotations

from math import exp, log
from typing import Any

import numpy as np

from ouzel.errors import OuzelError
from ouzel.kernels.jit import dispatch, kernel
from ouzel.terms.losses import Hinge, Logistic


@dispatch
def value(loss: Any, scores: np.ndarray, target: int) -> float:
    """The loss of scores (classes,) where the class at position `target` is true."""


@dispatch
def derivatives(loss: Any, scores: np.ndarray, target: int, slopes: np.ndarray) -> None:
    """Write the derivative with respect to each score to `slopes` (classes,)."""


def require_multiclass(loss: Any, learner: str) -> None:
    """Refuse a loss that has no form for several classes."""
    if type(loss) not in derivatives.bodies:
        known = ", ".join(repr(kind.__name__.lower()) for kind in derivatives.bodies)
        raise OuzelError(f"{learner} takes the losses {known}; got {loss!r}")


@kernel
def rival_of(scores, target):
    """The best class but the true one, the first of equals; -1 if there is no other."""
    rival = -1
    for k in range(len(scores)):
        if k != target and (rival < 0 or scores[k] > scores[rival]):
            rival = k
    return rival


@kernel
def largest_of(scores):
    """The largest score; Numba's own `max` is a module that a kernel with it loads at every start."""
    largest = scores[0]
    for k in range(1, len(scores)):
        largest = max(largest, scores[k])
    return largest


@value.register(Hinge)
def _(loss, scores, target):
    rival = rival_of(scores, target)
    return max(0.0, 1.0 - (scores[target] - scores[rival])) if rival >= 0 else 0.0


@derivatives.register(Hinge)
def _(loss, scores, target, slopes):
    slopes[:] = 0.0
    rival = rival_of(scores, target)
    if rival >= 0 and not scores[target] - scores[rival] >= 1.0:
        slopes[target] = -1.0
        slopes[rival] = 1.0


@value.register(Logistic)
def _(loss, scores, target):
    largest = largest_of(scores)
    total = 0.0
    for k in range(len(scores)):
        total += exp(scores[k] - largest)
    return log(total) + largest - scores[target]


@derivatives.register(Logistic)
def _(loss, scores, target, slopes):
    largest = largest_of(scores)
    total = 0.0
    for k in range(len(scores)):
        slopes[k] = exp(scores[k] - largest)
        total += slopes[k]
    for k in range(len(scores)):
        slopes[k] /= total
    slopes[target] -= 1.0
