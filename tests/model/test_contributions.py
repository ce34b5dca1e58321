"""Contributions add up to the margin."""

from itertools import chain

import numpy as np
import pytest

import ouzel
from ouzel.model.contributions import explained
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
