"""Features are ranked by how far they usually move the margin."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.inspection import permutation_importance

import ouzel


def table(rows=400):
    random = np.random.default_rng(2)
    X = random.normal(size=(rows, 3))
    return X, (2.0 * X[:, 0] + X[:, 1] > 0).astype(int)


def test_the_unit_of_a_feature_does_not_change_its_rank():
    X, y = table()
    units = np.array([1e-4, 1e3, 1.0])

    plain = ouzel.AutoRateClassifier(forms="raw").fit(X, y).feature_importance()
    scaled = ouzel.AutoRateClassifier(forms="raw").fit(X / units, y).feature_importance()

    assert [feature.name for feature in plain] == [0, 1, 2, "(intercept)"]
    assert [feature.name for feature in scaled] == [0, 1, 2, "(intercept)"]
    for one, other in zip(plain, scaled, strict=True):
        assert other.importance == pytest.approx(one.importance, rel=0.05, abs=0.01)


def test_importance_is_the_size_of_the_weight_times_the_standard_deviation():
    X, y = table()
    model = ouzel.OnlineClassifier("adagrad").fit(X, y)

    found = {feature.name: feature for feature in model.feature_importance()}

    for column, weight in enumerate(model.coef_[0]):
        assert found[column].weight == pytest.approx(weight)
        assert found[column].importance == pytest.approx(abs(weight) * X[:, column].std(), rel=1e-3)


def test_three_classes_have_features_each():
    X, _ = table()
    y = np.where(X[:, 0] > 0.5, "a", np.where(X[:, 1] > 0.0, "b", "c"))
    model = ouzel.OnlineClassifier("adagrad").fit(X, y)

    found = model.feature_importance(2, feature_names=["x", "y", "z"])

    assert list(found) == ["a", "b", "c"]
    assert found["a"][0].name == "x"
    assert found["b"][0].name == "y"
    assert all(len(column) == 2 for column in found.values())


def test_the_importance_of_features_within_a_byte_budget_is_not_known():
    X, y = table()
    model = ouzel.OnlineClassifier("awm", budget="8KB").fit(X, y)

    found = model.feature_importance(2)

    assert [feature.importance for feature in found] == [None, None]
    assert [feature[:2] for feature in found] == model.top_weights(2)


def test_the_most_important_feature_is_among_those_that_matter_when_they_are_shuffled():
    X, y = load_breast_cancer(return_X_y=True)
    model = ouzel.AutoRateClassifier(forms="raw").fit(X, y)

    shuffled = permutation_importance(model, X, y, n_repeats=5, random_state=0).importances_mean

    ranks = np.argsort(np.argsort(-shuffled))
    assert ranks[model.feature_importance(1)[0].name] < 10
    assert ranks[model.top_weights(1)[0][0]] > 10  # the heaviest is one whose unit is small
