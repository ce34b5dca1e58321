"""Probabilities are held against what came true."""

import numpy as np
import pytest

from ouzel.evaluation.calibration import BINS, Calibration
from ouzel.terms.losses import Logistic


def of(margins, targets, cuts=(), joint=False):
    calibration = Calibration()
    for margin, target in zip(np.split(margins, cuts), np.split(targets, cuts), strict=True):
        calibration.add(Logistic(), margin, target, np.ones(len(target), np.float32), joint)
    return calibration


@pytest.fixture
def stream():
    rng = np.random.default_rng(0)
    margins = rng.normal(size=20_000) * 2.0
    return margins, (rng.random(20_000) < 1.0 / (1.0 + np.exp(-margins))).astype(np.int64)


def test_true_probabilities_have_next_to_no_error_and_bold_ones_have(stream):
    margins, targets = stream

    assert of(margins, targets).error < 0.01
    assert of(3.0 * margins, targets).error > 0.05


def test_the_error_is_the_mean_distance_within_bins(stream):
    margins, targets = stream
    shares = 1.0 / (1.0 + np.exp(-2.0 * margins))
    places = np.minimum((shares * BINS).astype(int), BINS - 1)
    expected = sum(
        abs(shares[places == k].sum() - targets[places == k].sum()) for k in range(BINS) if (places == k).any()
    ) / len(targets)

    assert of(2.0 * margins, targets).error == pytest.approx(expected)


def test_the_digits_do_not_depend_on_the_blocks(stream):
    margins, targets = stream

    np.testing.assert_array_equal(of(margins, targets).bins, of(margins, targets, [1, 77, 9000]).bins)


def test_of_several_classes_the_one_predicted_counts():
    margins = np.log(np.array([[0.7, 0.2, 0.1], [0.7, 0.2, 0.1], [0.1, 0.6, 0.3]]))

    assert of(margins, np.array([0, 2, 1]), joint=True).points == [
        (pytest.approx(0.6), 1.0),
        (pytest.approx(0.7), 0.5),
    ]


def test_examples_that_were_not_predicted_are_left_out():
    calibration = Calibration()

    calibration.add(Logistic(), np.array([np.nan, 0.0]), np.array([1, 1]), np.ones(2, np.float32))

    assert calibration.points == [(0.5, 1.0)]
