"""Quantiles of all numbers so far, in a histogram of few bins."""

import numpy as np
import pytest

from ouzel.errors import OuzelError
from ouzel.kernels.jit import kernel
from ouzel.layout import allocate
from ouzel.learners.gains import histograms
from ouzel.sketches import running_quantile
from ouzel.sketches.running_quantile import BINS, check, layout, learn, quantile


@kernel
def learn_all(state, numbers, masses):
    for i in range(len(numbers)):
        learn(state, numbers[i], masses[i])


@kernel
def quantile_of(state, tau):
    return quantile(state, tau)


def seen(numbers, masses=None):
    state = allocate(layout())
    learn_all(state, np.asarray(numbers, float), np.ones(len(numbers)) if masses is None else masses)
    check(state)
    return state


@pytest.mark.parametrize("tau", [0.1, 0.5, 0.9])
def test_quantiles_of_few_different_numbers_are_exact(tau):
    numbers = np.random.default_rng(0).integers(0, BINS - 1, 5000).astype(float)

    assert quantile_of(seen(numbers), tau) == np.quantile(numbers, tau, method="averaged_inverted_cdf")


@pytest.mark.parametrize("tau", [0.02, 0.1, 0.5, 0.9])
@pytest.mark.parametrize("order", ["random", "rising", "falling"])
def test_those_of_many_are_off_by_one_part_of_64_in_rank_at_most(tau, order):
    numbers = np.random.default_rng(1).standard_cauchy(20_000)
    numbers = {"random": numbers, "rising": np.sort(numbers), "falling": -np.sort(-numbers)}[order]

    found = quantile_of(seen(numbers), tau)

    assert abs(np.mean(numbers <= found) - tau) < 4.0 / BINS


def test_a_frequent_number_stays_what_it_is():
    random = np.random.default_rng(2)
    numbers = np.where(random.random(20_000) < 0.6, 3.25, random.normal(3.0, 5.0, 20_000))

    assert quantile_of(seen(numbers), 0.5) == 3.25


def test_numbers_of_any_size_leave_a_histogram_finite():
    random = np.random.default_rng(3)
    numbers = random.choice([1.7e308, -1.7e308, 1e-300, 0.0, 5.0], 2000) * random.random(2000)

    state = seen(numbers)

    assert np.isfinite(state.centres).all()
    assert np.isfinite(quantile_of(state, 0.3))


def test_workers_counts_add_up_to_those_of_one():
    numbers = np.random.default_rng(4).gamma(2.0, 3.0, 9000)
    base = seen(numbers[:3000])
    parts = [allocate(layout()) for _ in range(2)]
    for part, more in zip(parts, (numbers[3000:6000], numbers[6000:]), strict=True):
        for array, before in zip(part, base, strict=True):
            array[...] = before
        learn_all(part, more, np.ones(3000))

    rounds = histograms.onto(histograms.onto(base, histograms.gains(base, parts[0])), histograms.gains(base, parts[1]))
    merged = allocate(layout())
    for k in range(3):
        merged = histograms.onto(merged, histograms.gains(allocate(layout()), seen(numbers[k::3])))

    for found in (rounds, merged):
        check(found)
        assert found.total[0] == pytest.approx(9000.0)
        for tau in (0.1, 0.5, 0.9):
            assert abs(np.mean(numbers <= quantile_of(found, tau)) - tau) < 0.03


def test_a_histogram_out_of_order_is_refused():
    state = seen([1.0, 2.0, 3.0])
    state.centres[0] = 5.0

    with pytest.raises(OuzelError, match="out of order"):
        check(state)


def test_what_was_seen_long_ago_counts_for_less():
    state = seen(np.zeros(1000))
    running_quantile.fade(state, 0.01)
    learn_all(state, np.ones(20), np.ones(20))

    assert quantile_of(state, 0.5) == 1.0
