"""Laws every separable penalty keeps."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ouzel.errors import OuzelError
from ouzel.kernels.jit import kernel
from ouzel.terms.penalties.domains import Box
from ouzel.terms.penalties.l1_and_l2 import (
    L1,
    ElasticNet,
    NoPenalty,
    SquaredL2,
    apply_penalty,
    penalty_increment,
    proximal,
    require_separable,
    value,
)
from ouzel.terms.penalties.norms import L2Norm

PENALTIES = [NoPenalty(), L1(0.7), L1(0.0), SquaredL2(0.4), ElasticNet(0.5, 0.3), ElasticNet(0.5, 1e-9), Box(-0.5, 2.0)]
EVERY = pytest.mark.parametrize("penalty", PENALTIES, ids=str)
numbers = st.floats(-10, 10)
steps = st.floats(1e-6, 10)


@kernel
def compiled(penalty, weight, step):
    debt = penalty_increment(penalty, step)
    return value(penalty, weight), proximal(penalty, weight, step), debt, apply_penalty(penalty, weight, debt)


@EVERY
@given(weight=numbers, other=numbers, step=steps)
def test_the_proximal_map_beats_every_other_point(penalty, weight, other, step):
    def cost(v):
        return step * value(penalty, v) + (v - weight) ** 2 / 2

    assert cost(proximal(penalty, weight, step)) <= cost(other) + 1e-9


@EVERY
@given(weight=numbers, rounds=st.lists(steps, min_size=1, max_size=20))
def test_doses_of_rounds_add_up(penalty, weight, rounds):
    one_by_one = weight
    for step in rounds:
        one_by_one = proximal(penalty, one_by_one, step)

    at_once = apply_penalty(penalty, weight, sum(penalty_increment(penalty, step) for step in rounds))

    assert at_once == pytest.approx(one_by_one, rel=1e-9, abs=1e-7)


@EVERY
@given(weight=numbers, step=steps)
def test_compiled_body_equals_python(penalty, weight, step):
    debt = penalty_increment(penalty, step)
    expected = (value(penalty, weight), proximal(penalty, weight, step), debt, apply_penalty(penalty, weight, debt))

    np.testing.assert_allclose(compiled(penalty, weight, step), expected, rtol=1e-13, atol=1e-14)


def test_a_norm_of_all_weights_is_not_separable():
    with pytest.raises(OuzelError, match="sums over single weights"):
        require_separable(L2Norm(1.0), "adagrad")
