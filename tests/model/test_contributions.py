"""Contributions add up to the margin."""

from itertools import chain

import numpy as np
import pytest

import ouzel
from ouzel.learners.auto import standardisation
from ouzel.model.contributions import MOST_ABSENT, explained
from ouzel.model.model import Model

LEARNERS = ("ogd", "adagrad", "arow", "awm", "son-oja")
CASES = [
    (name, standardize) for name in LEARNERS for standardize in (False, True) if (name, standardize) != ("awm", True)
]


def stream(classes, rows=80):
    rng = np.random.default_rng(classes)
    X = rng.normal(size=(rows, 4))
    return X, X[:, :classes].argmax(axis=1) if classes > 2 else (X[:, 0] > 0.2).astype(int)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(("learner", "standardize"), CASES)
def test_contributions_add_up_to_the_margins(learner, classes, standardize):
    X, y = stream(classes)
    model = Model(learner, standardize=standardize)
    for block in ouzel.blocks_from(X, y):
        model.learn(block)
    (block,) = ouzel.blocks_from(X)

    found = list(explained(model, block))

    margins = np.atleast_2d(model.margins(block).T).T
    assert [[column["margin"] for column in row] for row in found] == margins.tolist()
    for column in chain.from_iterable(found):
        assert [feature["name"] for feature in column["features"]][-1] == "(average example)"
        total = sum(feature["contribution"] for feature in column["features"])
        assert total + column["remainder"] == pytest.approx(column["margin"])
        if not standardize and learner != "son-oja":  # which cut large values
            assert total == pytest.approx(column["margin"], rel=1e-4, abs=1e-5)


def test_numbers_are_explained_in_their_own_unit():
    X, _ = stream(2)
    y = 5000.0 + 300.0 * X[:, 0]
    estimator = ouzel.OnlineRegressor("adagrad").fit(X, y)
    x = {k: float(value) for k, value in enumerate(X[0])}

    (why,) = estimator.explain_one(x)

    assert why["class"] is None
    assert sum(f["contribution"] for f in why["features"]) == pytest.approx(estimator.predict_one(x), rel=1e-5)


def test_a_model_that_knows_no_class_explains_nothing():
    (block,) = ouzel.blocks_from(np.ones((2, 3)))

    assert list(explained(Model("ogd"), block)) == [[], []]


def test_the_average_example_has_the_mean_margin_of_the_examples_learnt():
    X, y = stream(2, rows=300)
    model = Model("ogd")
    for block in ouzel.blocks_from(X, y):
        model.learn(block)
    (block,) = ouzel.blocks_from(X)

    (why,) = next(explained(model, block))

    assert why["features"][-1]["contribution"] == pytest.approx(model.margins(block).mean(), rel=1e-4)


def test_a_feature_at_its_usual_value_adds_nothing():
    X, y = stream(2, rows=300)
    X += [0.0, 1000.0, 0.0, 0.0]
    estimator = ouzel.AutoRateClassifier(forms="raw").fit(X, y)

    (why,) = estimator.explain_one(dict(enumerate(X.mean(axis=0))))

    *features, average = why["features"]
    assert max(abs(feature["contribution"]) for feature in features) < 1e-3
    assert average["contribution"] + why["remainder"] == pytest.approx(why["margin"], abs=1e-3)


def test_an_absent_feature_takes_away_what_it_usually_adds():
    model = ouzel.OnlineClassifier("adagrad")
    for word, spam in [("free", True), ("hello", False)] * 20:
        model.learn_one({word: 1.0}, spam)

    (why,) = model.explain_one({"free": 1.0})

    added = {feature["name"]: feature for feature in why["features"]}
    assert added["hello"]["value"] == 0.0
    assert added["hello"]["contribution"] == pytest.approx(-added["hello"]["weight"] / 2)
    assert added["free"]["contribution"] == pytest.approx(added["free"]["weight"] / 2)


def test_absent_features_beyond_those_listed_are_summed_up():
    random = np.random.default_rng(0)
    X = random.random((200, 100))
    estimator = ouzel.OnlineClassifier("ogd").fit(X, (X[:, 0] > 0.5).astype(int))

    (why,) = estimator.explain_one({3: 0.5})

    names = [feature["name"] for feature in why["features"]]
    assert names[-2:] == ["(other absent features)", "(average example)"]
    assert len(names) == MOST_ABSENT + 3 or len(names) == MOST_ABSENT + 2
    assert why["remainder"] == pytest.approx(0.0, abs=1e-5)


@pytest.mark.parametrize("learner", ["ogd", "awm"])
def test_a_feature_that_the_model_does_not_know_adds_nothing(learner):
    estimator = ouzel.OnlineClassifier(learner)
    for k in range(20):
        estimator.learn_one({"a": 1.0, "b": k / 20}, k % 2 == 0)

    (why,) = estimator.explain_one({"a": 1.0, "unknown": 7.0})

    added = {feature["name"]: feature["contribution"] for feature in why["features"]}
    assert sum(added.values()) + why["remainder"] == pytest.approx(why["margin"])
    assert abs(why["remainder"]) < 1e-5


NUMBERS = {"loss": "squared"}
CUTTING = [
    ("auto", {}),
    ("auto", {"loss": "hinge"}),
    ("auto", NUMBERS),
    ("arow", {"standardize": True}),
    ("adagrad", NUMBERS | {"standardize": True}),
    ("son-oja", {}),
]


@pytest.mark.parametrize("value", [50.0, 1e9])
@pytest.mark.parametrize(("learner", "how"), CUTTING)
def test_a_value_that_a_learner_cuts_contributes_what_the_cut_one_does(learner, how, value):
    X, y = stream(2, rows=400)
    model = Model(learner, **how)
    for block in ouzel.blocks_from(X, X[:, 0] * 40.0 + 7.0 if "squared" in how.values() else y):
        model.learn(block)
    stray = X[:1].copy()
    stray[0, 0] = value
    (block,) = ouzel.blocks_from(stray)

    (why,) = next(explained(model, block))

    found, cut = {feature["name"]: feature for feature in why["features"]}, np.abs(X[:, 0]).max()
    if model.scales is not None:
        cut = X[:, 0].mean() + (3.0 * X[:, 0].std() if value < 1e3 else 0.0)  # so far off that it counts as the mean
    mean = 0.0 if model.scales is None else X[:, 0].mean()
    assert found["0"]["value"] == value
    assert found["0"]["contribution"] == pytest.approx((cut - mean) * found["0"]["weight"], rel=0.05, abs=1e-6)
    assert abs(why["remainder"]) < 100.0


def test_what_is_seen_of_values_is_what_a_row_of_its_own_makes_of_them():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(5.0, 2.0, 300), rng.lognormal(size=300), (rng.random(300) < 0.2) * rng.random(300)])
    model = Model("arow", standardize=True)
    for block in ouzel.blocks_from(X, X[:, 0] > 5.0):
        model.learn(block)
    slots, values = np.repeat([1, 2, 3], 6), np.tile([-1e9, -40.0, 0.2, 1.0, 90.0, 1e9], 3).astype(np.float32)

    found = standardisation.standardised(model.preparation.features, slots, values.astype(float), True)

    for k, (slot, value) in enumerate(zip(slots.tolist(), values, strict=True)):
        row = np.array([0, slot], np.uint32), np.array([1.0, value], np.float32)
        seen = dict(zip(*(part.tolist() for part in model.preparation.one(*row, None)), strict=True))
        assert found[k] == pytest.approx(seen.get(slot, 0.0), rel=1e-5)


def test_an_absent_feature_that_lies_far_from_0_takes_away_no_more_than_the_cut_one_adds():
    X, y = stream(2, rows=400)
    X[:, 1] += 500.0
    estimator = ouzel.OnlineClassifier().fit(X, y)

    (why,) = estimator.explain_one({0: X[0, 0], 2: X[0, 2], 3: X[0, 3]})

    found = {feature["name"]: feature for feature in why["features"]}
    assert found["1"]["contribution"] == pytest.approx(-3.0 * X[:, 1].std() * found["1"]["weight"], rel=0.05)
