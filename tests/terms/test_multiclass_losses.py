"""Laws every loss of several scores keeps."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ouzel.errors import OuzelError
from ouzel.kernels.jit import kernel
from ouzel.terms import losses
from ouzel.terms.losses import Hinge, Logistic, Squared
from ouzel.terms.multiclass_losses import derivatives, require_multiclass, value

EVERY = pytest.mark.parametrize("loss", [Hinge(), Logistic()], ids=str)
scores = st.lists(st.floats(-20, 20), min_size=3, max_size=3).map(np.array)


@kernel
def compiled(loss, at, target, slopes):
    derivatives(loss, at, target, slopes)
    return value(loss, at, target)


def slopes_of(loss, at, target):
    slopes = np.full(len(at), np.nan)
    derivatives(loss, at, target, slopes)
    return slopes


@EVERY
@given(at=scores, other=scores, target=st.integers(0, 2))
def test_derivatives_are_a_subgradient(loss, at, other, target):
    linear = value(loss, at, target) + slopes_of(loss, at, target) @ (other - at)

    assert value(loss, other, target) >= linear - 1e-9 * (1 + abs(linear))


@EVERY
@given(lead=st.floats(-20, 20), base=st.floats(-20, 20))
def test_two_classes_have_the_binary_loss_of_the_difference(loss, lead, base):
    at = np.array([base, base + lead])

    assert value(loss, at, 1) == pytest.approx(losses.value(loss, at[1] - at[0], 1.0), abs=1e-9)
    assert slopes_of(loss, at, 1)[1] == pytest.approx(losses.derivative(loss, at[1] - at[0], 1.0), abs=1e-9)


@EVERY
@given(at=scores, target=st.integers(0, 2))
def test_compiled_body_equals_python(loss, at, target):
    slopes = np.empty(3)

    assert compiled(loss, at, target, slopes) == pytest.approx(value(loss, at, target), rel=1e-12)
    np.testing.assert_allclose(slopes, slopes_of(loss, at, target), rtol=1e-12, atol=1e-300)


def test_a_loss_of_one_number_is_refused():
    with pytest.raises(OuzelError, match="takes the losses 'hinge', 'logistic'"):
        require_multiclass(Squared(), "adagrad-multiclass")
