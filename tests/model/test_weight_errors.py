"""Intervals of weights: of a logistic model they have the true weights as often as they say; others say nothing."""

import numpy as np
import pytest

import ouzel
from ouzel.model import persistence
from ouzel.model.answers import Feature
from ouzel.model.average_example import means_and_spreads
from ouzel.model.contributions import explained
from ouzel.model.model import Model
from ouzel.model.weight_errors import variances_of, weight_intervals
from ouzel.streams.memory import blocks_from
from tests.forging import parts_of, write

TRUTH = np.array([-0.3, 1.0, -0.5, 0.25, 0.0, 0.8])  # of the constant first


def logistic(rows, seed, scale=1.0, shared=0.0):
    """Examples of a logistic model, independent columns times I + `shared`."""
    rng = np.random.default_rng(seed)
    X = (scale * rng.normal(size=(rows, 5)) @ (np.eye(5) + shared)).astype(np.float32)
    chances = 1.0 / (1.0 + np.exp(-(TRUTH[0] + X @ TRUTH[1:] / scale)))
    return X, (rng.random(rows) < chances).astype(int)


def learnt(X, y, **options):
    model = Model("ons", classes=[0, 1], **options)
    for block in blocks_from(X, y):
        model.learn(block)
    return model


def coverages(curvature, rows, shared, runs):
    """How often intervals of two levels have each true weight, by level."""
    held = {0.8: np.zeros(6), 0.95: np.zeros(6)}
    for seed in range(runs):
        model = learnt(*logistic(rows, seed, shared=shared), curvature=curvature, standardize=False)
        named = [Feature(model.feature_name(k - 1), weight) for k, weight in enumerate(model.weights()[0, :6].tolist())]
        for level, hits in held.items():
            for k, (low, high) in enumerate(weight_intervals(model, named, level)):
                hits[k] += low <= TRUTH[k] <= high
    return {level: hits / runs for level, hits in held.items()}


@pytest.mark.parametrize("shared", [0.0, 0.4])
@pytest.mark.parametrize("curvature", [0.25, 0.5])
def test_intervals_have_the_true_weights_as_often_as_they_say(curvature, shared):
    runs = 200
    for level, shares in coverages(curvature, 5_000, shared, runs).items():
        assert abs(shares.mean() - level) < 0.02
        assert np.abs(shares - level).max() < 4.0 * (level * (1.0 - level) / runs) ** 0.5


@pytest.mark.long
@pytest.mark.parametrize("curvature", [0.25, 0.5])
def test_they_do_where_true_margins_lie_beyond_the_largest_prediction(curvature):
    for level, shares in coverages(curvature, 20_000, 0.4, runs=100).items():  # every second stream has one beyond 10
        assert -0.02 < shares.mean() - level < 0.06


def test_an_error_has_what_projections_have_moved_a_weight_by():
    X, y = logistic(5_000, 0)
    X[-1] *= 12.0 / (X[-1] @ TRUTH[1:])  # a margin of 12
    projected, clipped = (learnt(X, y, bound=bound, standardize=False) for bound in ("project", "clip"))
    apart = projected.weights()[0, :6] - clipped.weights()[0, :6]
    more = variances_of(projected)[:6] - variances_of(clipped)[:6]
    assert np.abs(apart).max() > 0.5 * np.sqrt(variances_of(clipped)[:6].max())
    np.testing.assert_allclose(np.sqrt(more), np.abs(apart), rtol=0.05, atol=0.002)


def test_a_file_of_before_predicts_and_learns_as_it_did(tmp_path):
    X, y = logistic(2_000, 0)
    model = learnt(X[:1_000], y[:1_000], standardize=False)
    persistence.save(model, tmp_path / "m")
    described, arrays = parts_of(tmp_path / "m")
    del arrays["state.0.moved"]
    write(tmp_path / "old", described, arrays)

    loaded = persistence.load_model(tmp_path / "old")

    for block in blocks_from(X[1_000:], y[1_000:]):
        np.testing.assert_array_equal(loaded.learn(block).margins, model.learn(block).margins)
    np.testing.assert_array_equal(loaded.weights(), model.weights())


def test_nothing_is_said_where_the_start_still_counts():
    few, many = learnt(*logistic(40, 0)), learnt(*logistic(5_000, 0))
    assert np.isnan(variances_of(few)[1])
    assert np.isfinite(variances_of(many)[:6]).all()
    weak = learnt(*logistic(5_000, 0, scale=0.02), curvature=0.5)  # weights of 50, which alpha pulls to 0
    assert np.isnan(variances_of(weak)[1])


@pytest.mark.parametrize(
    ("learner", "options"),
    [
        ("adagrad", {}),
        ("arow", {}),
        ("ons", {"eta": 0.1}),
        ("ons", {"curvature": 0.01}),
        ("ons", {"curvature": 1.0}),
        ("ons", {"loss": "squared-hinge"}),
        ("ons", {"standardize": True}),
        ("ons", {"forget": 1_000.0}),
        ("ons", {"class_weight": "balanced"}),
        ("ons", {"loss": "squared"}),
    ],
)
def test_others_say_nothing(learner, options):
    model = Model(learner, **options)
    for block in blocks_from(*logistic(300, 0)):
        model.learn(block)
    assert weight_intervals(model, [Feature(0, 1.0)]) == [None]


def test_three_classes_say_nothing():
    X, y = logistic(300, 0)
    model = Model("ons")
    for block in blocks_from(X, y + np.arange(300) % 2):
        model.learn(block)
    assert variances_of(model) is None


def test_estimators_tell_intervals_of_weights_as_shown():
    X, y = logistic(5_000, 3)
    model = ouzel.OnlineClassifier("ons").fit(X, y)
    for feature, weight, low, high in model.weight_intervals(6):
        assert low < weight < high
        place = 0 if feature == "(intercept)" else feature + 1
        assert low - 0.05 < TRUTH[place] < high + 0.05
    with pytest.raises(ouzel.OuzelError, match="adagrad knows no error of its weights"):
        ouzel.OnlineClassifier("adagrad").fit(X, y).weight_intervals()


def test_what_a_feature_adds_to_a_prediction_has_the_interval_of_its_weight():
    X, y = logistic(5_000, 0)
    model = learnt(X, y)
    (block,) = blocks_from(X[:20])
    means = means_and_spreads(model)[0][1:]
    weights = weight_intervals(model, [Feature(model.feature_name(k), model.weights()[0, k + 1]) for k in range(5)])
    for row, (why,) in enumerate(explained(model, block)):
        features = {feature["name"]: feature for feature in why["features"]}
        for k, (low, high) in enumerate(weights):
            ends = sorted(end * (X[row, k] - means[k]) for end in (low, high))
            np.testing.assert_allclose(features[str(k)]["interval"], ends, rtol=1e-4, atol=1e-5)
        assert "interval" not in features["(average example)"]


def test_where_no_error_is_known_what_a_feature_adds_has_no_interval():
    X, y = logistic(500, 0)
    model = Model("adagrad", classes=[0, 1])
    for block in blocks_from(X, y):
        model.learn(block)
    ((why,),) = explained(model, next(iter(blocks_from(X[:1]))))

    assert not any("interval" in feature for feature in why["features"])
