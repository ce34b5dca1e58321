"""The moments of features, by which their weights become comparable."""

import copy

import numpy as np
import pytest

import ouzel
from ouzel.learners import feature_moments
from ouzel.model.average_example import means_and_spreads
from ouzel.model.merge import merge
from ouzel.model.model import Model
from ouzel.model.rounds import merge_onto
from ouzel.streams.memory import blocks_from


def stream(rows=3000):
    random = np.random.default_rng(5)
    X = random.normal(size=(rows, 4)) * [1.0, 1000.0, 0.01, 1.0] + [0.0, 50.0, 0.0, 3.0]
    X[random.random(rows) < 0.7, 3] = 0.0
    return X, (X[:, 0] > 0).astype(int)


def learnt(X, y, block_rows=1000, weights=None):
    model = Model("ogd", standardize=False)
    for block in blocks_from(X, y, weights=weights, block_rows=block_rows):
        model.learn(block)
    return model


def moments_of(model):
    return [array.tolist() for array in model.preparation.moments]


def test_means_and_spreads_are_those_of_the_first_examples():
    X, y = stream(feature_moments.FIRST)

    mean, spread = means_and_spreads(learnt(X, y))

    assert mean[1:] == pytest.approx(X.mean(axis=0), rel=1e-4, abs=1e-4)
    assert spread[1:] == pytest.approx(X.std(axis=0), rel=1e-4)
    assert (mean[0], spread[0]) == (1.0, 0.0)


def test_later_examples_are_sampled_by_their_number_whatever_the_block_size():
    X, y = stream()
    sample = [k for k in range(len(X)) if feature_moments.in_sample(k)]

    models = [learnt(X, y, rows) for rows in (1, 7, 1000)]

    assert moments_of(models[0]) == moments_of(models[1]) == moments_of(models[2])
    assert models[0].preparation.moments.sampled[0] == len(sample) < len(X)
    assert means_and_spreads(models[0])[1][1:] == pytest.approx(X[sample].std(axis=0), rel=1e-3)


def test_single_examples_are_counted_as_those_of_a_block():
    X, y = stream(2200)
    single = ouzel.OnlineClassifier("ogd", standardize=False)
    for row, label in zip(X.astype(np.float32).tolist(), y.tolist(), strict=True):
        single.learn_one(dict(enumerate(row)), label)

    assert moments_of(single.model_) == moments_of(learnt(X, y))


@pytest.mark.parametrize("stray", [1e3, -1e6, 1e30])
def test_a_stray_value_does_not_decide_what_is_usual(stray):
    X, y = stream(1000)
    usual = means_and_spreads(learnt(X, y))[1]
    X[400, 0] = stray

    spoilt = means_and_spreads(learnt(X, y))[1]

    assert usual[1] <= spoilt[1] <= 2.0 * usual[1]


def test_examples_of_no_importance_are_not_counted():
    X, y = stream(100)
    weights = np.arange(100) % 2

    assert moments_of(learnt(X, y, weights=weights)) == moments_of(learnt(X[1::2], y[1::2]))


def test_merged_models_have_the_moments_of_all_examples():
    X, y = stream(1000)
    parts = [learnt(X[:300], y[:300]), learnt(X[300:], y[300:])]

    merged = merge(parts)

    for found, expected in zip(means_and_spreads(merged), means_and_spreads(learnt(X, y)), strict=True):
        assert found == pytest.approx(expected, rel=1e-4, abs=1e-4)


def test_workers_of_a_round_add_to_the_moments_of_their_base():
    X, y = stream(1500)
    base = learnt(X[:500], y[:500])
    workers = [copy.deepcopy(base) for _ in range(2)]
    for worker, start in zip(workers, (500, 1000), strict=True):
        for block in blocks_from(X[start : start + 500], y[start : start + 500]):
            worker.learn(block)

    merged = merge_onto(base, workers)

    assert merged.preparation.moments.sampled[0] == 1500
    assert means_and_spreads(merged)[1] == pytest.approx(means_and_spreads(learnt(X, y))[1], rel=1e-4, abs=1e-6)


def test_a_file_holds_the_moments(tmp_path):
    X, y = stream(300)
    estimator = ouzel.OnlineClassifier("ogd").fit(X[:, :1], y)
    estimator.save(tmp_path / "m.ouzel")

    assert moments_of(ouzel.load(tmp_path / "m.ouzel").model_) == moments_of(estimator.model_)


def test_learners_of_a_byte_budget_keep_no_moments():
    X, y = stream(50)

    assert ouzel.OnlineClassifier("awm", budget="8KB").fit(X, y).model_.preparation.moments is None
