"""Laws every loss keeps."""

import math
import re
import textwrap
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ouzel.kernels.jit import kernel
from ouzel.terms import losses
from ouzel.terms.losses import LOSSES, curvature, derivative, link, value

margins = st.floats(-20, 20)
signs = st.sampled_from([-1.0, 1.0])


DOCS = Path(__file__).parents[2] / "docs"


@kernel
def compiled(loss, prediction, target):
    first, second = derivative(loss, prediction, target), curvature(loss, prediction, target)
    return value(loss, prediction, target), first, second, link(loss, prediction)


def test_every_loss_has_a_name_and_stands_in_the_page_of_learners():
    registered = {kind for kind in derivative.bodies if kind.__module__ == losses.__name__}

    assert {type(loss) for loss in LOSSES.values()} == registered
    assert [name for name in LOSSES if f"`{name}`" not in (DOCS / "learners.md").read_text()] == []


@pytest.mark.parametrize("name", LOSSES)
@given(prediction=margins, other=margins, target=signs)
def test_derivative_is_a_subgradient(name, prediction, other, target):
    loss = LOSSES[name]

    linear = value(loss, prediction, target) + derivative(loss, prediction, target) * (other - prediction)

    assert value(loss, other, target) >= linear - 1e-9 * (1 + abs(linear))


@pytest.mark.parametrize("name", LOSSES)
@given(prediction=margins, target=signs)
def test_curvature_is_the_slope_of_the_derivative(name, prediction, target):
    loss, step = LOSSES[name], 1e-4
    below, here, above = (derivative(loss, prediction + move, target) for move in (-step, 0.0, step))
    left, right = (here - below) / step, (above - here) / step
    assume(abs(right - left) <= 1e-3 * (1 + abs(left)))  # no kink within a step

    assert curvature(loss, prediction, target) == pytest.approx((left + right) / 2, rel=1e-3, abs=1e-3)


@pytest.mark.parametrize("name", LOSSES)
@given(prediction=margins, target=signs)
def test_compiled_body_equals_python(name, prediction, target):
    loss = LOSSES[name]

    expected = compiled.py_func(loss, prediction, target)

    np.testing.assert_allclose(compiled(loss, prediction, target), expected, rtol=1e-14, atol=1e-300)


def test_the_loss_of_the_page_for_developers_is_one():
    code = "\n".join(re.findall(r"```python\n(.*?)```", (DOCS / "developer/add_a_loss.md").read_text(), re.DOTALL))
    names = {**vars(math), **vars(losses), "__name__": "page"}
    exec(compile(textwrap.dedent(code), "add_a_loss.md", "exec"), names)
    loss, step = names["LogCosh"](), 1e-6

    for gap in (-2.0, -0.3, 0.0, 1.5):
        slope, bend = derivative(loss, gap, 0.0), curvature(loss, gap, 0.0)
        assert slope == pytest.approx((value(loss, gap + step, 0) - value(loss, gap - step, 0)) / (2 * step), abs=1e-6)
        assert bend == pytest.approx(
            (derivative(loss, gap + step, 0) - derivative(loss, gap - step, 0)) / (2 * step), abs=1e-6
        )
