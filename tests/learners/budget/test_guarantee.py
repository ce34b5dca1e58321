"""How large a sketch WM-Sketch's theorems ask for."""

from math import log

import pytest

import ouzel
from ouzel.learners.budget.guarantee import size_for
from ouzel.learners.budget.wm import configure
from ouzel.learners.catalogue import find
from ouzel.model.settings import resolve_settings


def test_sizes_are_those_of_the_theorem():
    size = size_for(0.1, 0.05, features=1e5, l2=0.1, norm=2.0)

    assert size.depth == pytest.approx(log(2e6) ** 2 * 40 / 0.1**2, abs=1)
    assert size.width * size.depth == pytest.approx(log(2e6) ** 3 * 40**2 / 0.1**4, rel=1e-2)


def test_half_the_error_takes_sixteen_times_the_counters_and_examples():
    one, half = size_for(0.2, norm=1e-9), size_for(0.1, norm=1e-9)

    assert half.bytes / one.bytes == pytest.approx(16, rel=0.02)
    assert half.examples / one.examples == pytest.approx(16, rel=0.2)  # the radius counts, too


def test_epsilon_sizes_the_sketch():
    settings = resolve_settings(find("wm"), {"epsilon": "0.9", "delta": 0.4, "features": 100, "l2": 2.0})
    size = size_for(0.9, 0.4, 100.0, 2.0)

    assert configure(settings) == (128, size.width, size.depth)
    assert settings.budget == 8 * 128 + size.bytes
    assert resolve_settings(find("wm"), settings._asdict()) == settings


def test_an_epsilon_beyond_memory_is_one_line_that_advises_a_budget():
    with pytest.raises(ouzel.OuzelError, match=r"depth for epsilon=0.1 must be a whole number from 0 to") as refused:
        resolve_settings(find("wm"), {"epsilon": 0.1})

    assert "of theoretical use alone: leave out epsilon and give a budget" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_sketch_larger_than_memory_is_refused_before_it_is_made():
    with pytest.raises(ouzel.OuzelError, match=r"of theoretical use alone.*budget"):
        resolve_settings(find("wm"), {"epsilon": 0.01, "l2": 1.0})


def test_the_sizes_that_the_module_quotes_are_those_of_the_theorem():
    assert size_for(0.3, l2=0.1).bytes / 2**20 == pytest.approx(175, abs=1)
    assert 1e6 < size_for(0.1, l2=0.01).bytes / 2**20 < 2e6
