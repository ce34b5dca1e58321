"""Laws every loss keeps."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ouzel.kernels.jit import kernel
from ouzel.terms.losses import LOSSES, derivative, link, value

margins = st.floats(-20, 20)
signs = st.sampled_from([-1.0, 1.0])


@kernel
def compiled(loss, prediction, target):
    return value(loss, prediction, target), derivative(loss, prediction, target), link(loss, prediction)


@pytest.mark.parametrize("name", LOSSES)
@given(prediction=margins, other=margins, target=signs)
def test_derivative_is_a_subgradient(name, prediction, other, target):
    loss = LOSSES[name]

    linear = value(loss, prediction, target) + derivative(loss, prediction, target) * (other - prediction)

    assert value(loss, other, target) >= linear - 1e-9 * (1 + abs(linear))


@pytest.mark.parametrize("name", LOSSES)
@given(prediction=margins, target=signs)
def test_compiled_body_equals_python(name, prediction, target):
    loss = LOSSES[name]

    expected = (value(loss, prediction, target), derivative(loss, prediction, target), link(loss, prediction))

    np.testing.assert_allclose(compiled(loss, prediction, target), expected, rtol=1e-14, atol=1e-300)
