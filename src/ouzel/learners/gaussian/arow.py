"""AROW: adaptive regularisation of weights.

Crammer, Kulesza & Dredze (2009), "Adaptive Regularization of Weight Vectors", NIPS, Figure 1. When the margin m < 1,
    beta = 1 / (v + r),    alpha = (1 - m) beta,
which minimises the divergence from the last Gaussian and (squared hinge + variance of the margin) / (2 r).
An importance weight divides r, so multiplies the loss.

With the logistic loss, as Duchi, Hazan & Singer (2011) compare AdaGrad with (section 6): alpha is least in
log(1 + exp(-m)) / r and alpha^2 v / 2, m the margin after the step (`terms.implicit_steps`); beta, which is for the
variance of the margin, stays, and there is a step whatever the margin was.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

from ouzel.kernels.jit import dispatch
from ouzel.learners.gaussian.rule import step
from ouzel.learners.shared_settings import PRICE, Full, Loss, Pairwise, Prior
from ouzel.terms.implicit_steps import implicit_step, require_implicit
from ouzel.terms.losses import Hinge, Logistic


class Settings(NamedTuple):
    regularization: Annotated[float, PRICE, "r"] = 1.0
    prior: Prior = 1.0
    full: Full = False
    pairwise: Pairwise = True
    loss: Loss = Hinge()  # squared

    def completed(self) -> Settings:
        """The settings, if there is a step for the loss."""
        require_implicit(self.loss, "arow")
        return self


@dispatch
def mean_step(loss: Any, margin: float, variance: float, regularization: float) -> float:
    """The step alpha of the mean; 0 leaves the covariance alone as well."""


@mean_step.register(Hinge)
def _(loss, margin, variance, regularization):
    return (1.0 - margin) * (1.0 / (variance + regularization)) if margin < 1.0 else 0.0


@mean_step.register(Logistic)
def _(loss, margin, variance, regularization):
    return implicit_step(loss, margin, variance, 1.0 / regularization)


@step.register(Settings)
def _(settings, case):
    regularization = settings.regularization / case.importance
    alpha = mean_step(settings.loss, case.margin, case.variance, regularization)
    return alpha, 1.0 / (case.variance + regularization)
