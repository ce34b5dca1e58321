"""eta and delta of AdaGrad as its regret bounds ask for them, from the domain that weights are kept to.

Duchi, Hazan & Singer (2011), Corollaries 1, 6 and 11: with D the diameter of the domain, in the largest difference of a
weight for the diagonal and in the Euclidean norm for the full matrix, mirror descent has
    eta = D / sqrt(2),  delta = 0;
dual averaging has eta the size of the best weights, for which the radius of the domain stands here, and delta no less
than any gradient: the steepest slope of the loss, for features within [-1, 1].
"""

from __future__ import annotations

from math import isfinite, sqrt
from typing import Any

from ouzel.errors import OuzelError
from ouzel.terms.losses import derivative
from ouzel.terms.penalties.domains import Box, L1Ball, L2Ball

FAR = 1e6  # a prediction at which a loss that has a steepest slope has reached it


def from_domain(settings: Any, *, full: bool = False) -> Any:
    """Settings with `learning_rate` and `damping` as the corollaries ask.

    >>> from ouzel.learners.gradient.adagrad_eager import Settings
    >>> from_domain(Settings(penalty=L2Ball(3.0)))[2:4]
    (4.242640687119285, 0.0)
    """
    domain = settings.penalty
    if isinstance(domain, (L1Ball, L2Ball)):
        radius, diameter = domain.radius, 2.0 * domain.radius
    elif isinstance(domain, Box) and not full and isfinite(domain.high - domain.low):
        radius, diameter = max(-domain.low, domain.high), domain.high - domain.low
    else:
        kinds = "l1-ball(radius=R) or l2-ball(radius=R)" + ("" if full else ", or a bounded box(low=A, high=B)")
        raise OuzelError(f"from_domain needs a domain for the weights; set penalty to {kinds}")
    if not getattr(settings, "dual_averaging", False):
        return settings._replace(learning_rate=diameter / sqrt(2.0), damping=0.0)
    steepest = max(abs(derivative(settings.loss, sign * FAR, target)) for sign in (-1, 1) for target in (-1.0, 1.0))
    if steepest > 1e3:
        raise OuzelError("from_domain needs a loss of bounded slope, such as logistic or hinge, for dual averaging")
    return settings._replace(learning_rate=radius, damping=float(steepest))
