"""Experiments on RFD-SON, S-AdaGrad and AIOLI run in their small variants, and measure what they say."""

import numpy as np
import pytest

from reproduce import find
from reproduce.later_methods import improper_logistic, sketched_adagrad
from reproduce.later_methods.passes import first_examples, logistic, one_pass
from reproduce.provenance import DataFolder


@pytest.fixture
def folder(data):
    return DataFolder(data("heart.svm.xz").parent)


@pytest.mark.long
@pytest.mark.parametrize("name", ["rfd-son-alpha", "aioli-scale", "sketched-adagrad-losses"])
def test_an_experiment_leaves_a_table_and_a_plot(name, folder, tmp_path):
    find(name).load()(folder, tmp_path, quick=True)

    assert "| --" in (tmp_path / f"{name}.md").read_text()
    assert (tmp_path / f"{name}.png").stat().st_size > 5000


def test_a_pass_counts_predictions_before_learning(folder):
    block = first_examples(folder, "heart", 200)

    found = one_pass("ogd", block, learning_rate=1e-9)

    assert block.rows == 200
    assert found.loss == pytest.approx(np.log(2.0), abs=1e-3)
    assert one_pass("adagrad-full", block).error < 0.5


def test_a_loss_that_is_no_number_is_never_the_least():
    np.testing.assert_array_equal(logistic(np.array([np.nan, 0.0]), np.ones(2)), [np.inf, np.log(2.0)])


@pytest.mark.parametrize("size", [1.0, 8.0])
def test_regret_is_against_weights_of_that_norm_or_less(size):
    stream = improper_logistic.source(size, 800, seed=0)
    true = np.full(improper_logistic.FEATURES, size / 2.0)

    assert stream.best <= logistic(stream.rows @ true, stream.labels).sum()
    assert np.linalg.norm(stream.rows, axis=1) == pytest.approx(1.0)


def test_regret_of_improper_predictions_is_within_its_bound_and_below_that_of_the_theorems_newton():
    found = improper_logistic.regrets(6.0, 1500, seed=1)

    assert found[improper_logistic.OURS] <= found[improper_logistic.BOUND]
    assert found[improper_logistic.OURS] < found[improper_logistic.PROPER]


def test_more_directions_come_nearer_to_the_full_matrix(folder):
    found = sketched_adagrad.by_size(first_examples(folder, "diabetes", 400))

    assert found["full matrix"] < found["m = 10"] < found["m = 1"]


def test_rates_and_deltas_are_those_of_the_authors_program():
    grids = {kind: grid for kind, (_, _, grid) in sketched_adagrad.authors(quick=False).items()}

    assert {len(grid) for grid in grids.values()} == {49}
    assert grids["OGD"][0]["learning_rate"] == pytest.approx(1e-6)
    deltas = sorted({1.0 / given["learning_rate"] for given in grids["FD-SON"]})
    assert deltas == pytest.approx(sketched_adagrad.COARSE)
