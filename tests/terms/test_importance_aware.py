"""Safe steps end where many small steps end."""

import numpy as np
import pytest

from ouzel.terms.importance_aware import importance_aware_step
from ouzel.terms.losses import (
    Absolute,
    Hinge,
    Logistic,
    Poisson,
    Quantile,
    SmoothedHinge,
    Squared,
    SquaredHinge,
    derivative,
)
from tests.oracles.auto import arrived

PREDICTIONS = (-7.0, -0.4, 0.3, 2.5)
PUSHES = (1e-9, 0.2, 1.5, 20.0)
CASES = [
    (Logistic(), (-1.0, 1.0)),
    (Hinge(), (-1.0, 1.0)),
    (SmoothedHinge(), (-1.0, 1.0)),
    (SquaredHinge(), (-1.0, 1.0)),
    (Squared(), (-3.0, 0.5)),
    (Absolute(), (-3.0, 0.5)),
    (Quantile(0.8), (-3.0, 0.5)),
    (Poisson(), (0.0, 4.0)),
]


@pytest.mark.parametrize(("loss", "targets"), CASES, ids=lambda case: type(case).__name__)
def test_a_share_leads_where_many_small_steps_lead(loss, targets):
    for prediction in PREDICTIONS:
        for target in targets:
            for push in PUSHES:
                slope = derivative(loss, prediction, target)
                end = arrived(lambda p, y: derivative(loss, p, y), prediction, target, push, parts=4000)

                reached = prediction - importance_aware_step(loss, prediction, target, push) * push * slope

                assert reached == pytest.approx(end, rel=0.01, abs=0.02), (prediction, target, push)


@pytest.mark.parametrize(("loss", "targets"), CASES, ids=lambda case: type(case).__name__)
def test_shares_are_between_nothing_and_all(loss, targets):
    for prediction in np.linspace(-40, 40, 81):
        for push in (0.0, 1e-30, 1e-5, 1.0, 1e5, 1e30):
            for target in targets:
                assert 0.0 <= importance_aware_step(loss, prediction, target, push) <= 1.0 + 1e-6, (
                    prediction,
                    target,
                    push,
                )
