"""Four models, and four cells of effects, learn in one instruction what the plain bodies say."""

import numpy as np
import pytest

from ouzel.kernels.jit import kernel
from ouzel.learners.auto.simd import add_squares, add_squares_by_dither, move, move_weights, sum_weights


@kernel
def in_a_kernel(table, slots, values, slopes, steps):
    pushes = add_squares(table, slots, values, slopes)
    move(table, slots, values, steps)
    return pushes


def test_a_kernel_does_what_the_plain_bodies_say():
    rng = np.random.default_rng(1)
    table = np.abs(rng.normal(size=(40, 10))).astype(np.float32)
    table[3:9, 4:8] = 0.0  # s = 0
    slots = rng.permutation(40)[:30].astype(np.uint32)
    values = rng.normal(size=30).astype(np.float32)
    values[::5] = 0.0
    for sloping in ((0.5, -2.0, 0.0, 1e17), (0.0, 0.0, 0.0, 0.0)):
        slopes, steps = (tuple(np.float32(factor * slope) for slope in sloping) for factor in (1.0, 0.1))
        found, expected = table.copy(), table.copy()

        pushes = in_a_kernel(found, slots, values, slopes, steps)
        pushes_expected = add_squares(expected, slots, values, slopes)
        move(expected, slots, values, steps)

        np.testing.assert_allclose(found, expected, rtol=1e-5)
        np.testing.assert_allclose(pushes, pushes_expected, rtol=1e-5)
        assert np.isfinite(found).all()


@kernel
def many_times(table, slots, values, slopes, times, dithered):
    for t in range(times):
        if dithered:
            add_squares_by_dither(table, slots, values, slopes, np.float32((t * 0.6180339887498949) % 1.0))
        else:
            add_squares(table, slots, values, slopes)


def test_sums_of_squares_go_on_where_single_precision_would_stop():
    slopes = (np.float32(1.0), np.float32(0.5), np.float32(0.1), np.float32(0.0))
    start = np.array([[0, 0, 0, 0, 2.0**-12, 2.0**-12, 2.0**-12, 2.0**-12]], np.float32)  # s = 2^24
    slots, values = np.zeros(1, np.uint32), np.ones(1, np.float32)
    stopped, going = start.copy(), start.copy()

    many_times(stopped, slots, values, slopes, 2000, False)
    many_times(going, slots, values, slopes, 50_000, True)

    np.testing.assert_array_equal(stopped, start)
    expected = 2.0**24 + 5e4 * np.array(slopes, float) ** 2
    np.testing.assert_allclose(going[0, 4:].astype(float) ** -2, expected, rtol=3e-6)


def test_dithered_changes_are_those_of_the_plain_body():
    rng = np.random.default_rng(2)
    table = np.abs(rng.normal(size=(30, 10))).astype(np.float32)
    table[3:6, 4:8] = 0.0
    slots, values = rng.permutation(30).astype(np.uint32), (10.0 ** rng.uniform(-5, 0, 30)).astype(np.float32)
    slopes = tuple(np.float32(slope) for slope in (1.0, 0.01, 1e-4, 0.0))
    found, expected = table.copy(), table.copy()

    many_times(found, slots, values, slopes, 1, True)
    add_squares_by_dither(expected, slots, values, slopes, np.float32(0.0))

    np.testing.assert_allclose(found, expected, rtol=2.0**-23)
    assert (found[:, 4:8] != table[:, 4:8]).any()


@kernel
def cells_in_a_kernel(cells, at, parts, slope, step, damping):
    move_weights(cells, at, parts, slope, step, damping)
    return sum_weights(cells, at, parts)


@pytest.mark.parametrize("many", [0, 1, 2, 7, 8])
def test_cells_of_effects_learn_what_the_plain_bodies_say(many):
    rng = np.random.default_rng(many)
    cells = np.abs(rng.normal(size=(20, 2, 1))).astype(np.float32)
    at, parts = 2 * rng.permutation(9)[:many], rng.random((many, 2)).astype(np.float32)
    parts[::3, 1] = 0.0
    numbers = tuple(np.float32(number) for number in (-0.7, 0.2, 0.03))
    found, expected = cells.copy(), cells.copy()

    total = cells_in_a_kernel(found, at, parts, *numbers)
    move_weights(expected, at, parts, *numbers)

    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert total == pytest.approx(sum_weights(expected, at, parts), rel=1e-6)
    untouched = np.ones(20, bool)
    untouched[at], untouched[at[parts[:, 1] > 0.0] + 1] = False, False
    np.testing.assert_array_equal(found[untouched], cells[untouched])
