"""The perceptron.

Rosenblatt (1958), "The Perceptron", Psychological Review 65; several classes by the best wrong one, Crammer & Singer
(2003), "Ultraconservative Online Algorithms for Multiclass Problems", JMLR 3, section 4. On a mistake, s_y <= s_r,
    w_y <- w_y + x,    w_r <- w_r - x.
An importance weight multiplies the step.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

from ouzel.learners.margin.rule import step
from ouzel.learners.shared_settings import Rate


class Settings(NamedTuple):
    learning_rate: Annotated[Rate, "step size; the predicted classes do not depend on it"] = 1.0


@step.register(Settings)
def _(settings, case):
    return case.importance * settings.learning_rate if not case.margin > 0.0 else 0.0
