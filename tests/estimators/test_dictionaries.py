"""Lists of dictionaries are input of estimators, as arrays and data frames are."""

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score

import ouzel

X = np.random.default_rng(0).normal(size=(60, 3))
EXAMPLES = [{"a": float(a), "b": "x" if b > 0 else "y", "c": None if c > 1 else 2} for a, b, c in X]
LABELS = ["yes" if a > 0 else "no" for a in X[:, 0]]


@pytest.mark.parametrize("given", [{}, {"categorical": ["c"], "crosses": [("a", "b")]}, {"class_weight": "balanced"}])
def test_they_are_learnt_as_one_by_one(given):
    whole, single = (ouzel.OnlineClassifier("adagrad", **given) for _ in range(2))
    for features, label in zip(EXAMPLES, LABELS, strict=True):
        single.learn_one(features, label)

    margins = whole.fit(EXAMPLES, LABELS).decision_function(EXAMPLES)

    np.testing.assert_array_equal(margins, single.decision_function(EXAMPLES))
    assert whole.predict(EXAMPLES[:5]).tolist() == [single.predict_one(example) for example in EXAMPLES[:5]]
    assert whole.score(EXAMPLES, LABELS) > 0.9


@pytest.mark.parametrize("learner", ["adagrad", "adagrad-full"])
@pytest.mark.parametrize("given", [{}, {"numeric": ["open"]}, {"categorical": ["open"]}])
def test_truth_values_are_the_same_features_as_in_a_data_frame(learner, given):
    pandas = pytest.importorskip("pandas")
    rows = [{"size": float(a), "open": bool(b > 0)} for a, b, _ in X]
    frame, listed, single = (ouzel.OnlineClassifier(learner, **given) for _ in range(3))

    frame.fit(pandas.DataFrame(rows), LABELS)
    listed.fit(rows, LABELS)
    for row, label in zip(rows, LABELS, strict=True):
        single.learn_one(row, label)

    for model in (frame, listed, single):
        assert {name for name, *_ in model.top_weights(9)} == {name for name, *_ in single.top_weights(9)}
        np.testing.assert_allclose(
            model.decision_function(pandas.DataFrame(rows)), single.decision_function(rows), 1e-9
        )


def test_numbers_and_ranks_are_learnt_of_them():
    assert ouzel.OnlineRegressor("adagrad").fit(EXAMPLES, X[:, 0]).score(EXAMPLES, X[:, 0]) > 0.9
    assert ouzel.OnlineRanker("adagrad").fit(EXAMPLES, X[:, 0]).score(EXAMPLES, X[:, 0]) > 0.9


def test_weights_and_passes_count():
    weights = np.r_[np.zeros(30), np.ones(30)]

    weighed = ouzel.OnlineClassifier("adagrad", passes=2).fit(EXAMPLES, LABELS, sample_weight=weights)

    later = ouzel.OnlineClassifier("adagrad", passes=2).fit(EXAMPLES[30:], LABELS[30:])
    np.testing.assert_array_equal(weighed.decision_function(EXAMPLES), later.decision_function(EXAMPLES))


@pytest.mark.parametrize("kind", [list, np.array])
def test_cross_validation_takes_them(kind):
    assert cross_val_score(ouzel.OnlineClassifier("adagrad"), kind(EXAMPLES), LABELS, cv=3).min() > 0.7


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (EXAMPLES[0], "X is one dictionary; give a list of them, or one example to learn_one and predict_one"),
        (iter(EXAMPLES), r"X can be gone through only once; give list\(X\), or examples one by one to learn_one"),
        ([EXAMPLES[0], 3], "X: row 1: found 3; an example is a dictionary of features"),
        (
            ["good film", "bad film"],
            "X is an array of numbers, a data frame, or a list of dictionaries",
        ),
    ],
)
def test_what_is_no_list_of_them_is_one_line(bad, message):
    with pytest.raises(ouzel.OuzelError, match=f"^{message}"):
        ouzel.OnlineClassifier("adagrad").fit(bad, LABELS)


def test_keys_that_are_tuples_are_shown_by_their_text():
    rows = [{("u", k % 3): 1.0, ("c", "x"): k % 2, "plain": 1.0, 2.5: 0.5} for k in range(100)]
    labels = [k % 2 for k in range(100)]
    one, many = ouzel.OnlineClassifier("adagrad"), ouzel.OnlineClassifier("adagrad").fit(rows, labels)
    for row, label in zip(rows, labels, strict=True):
        one.learn_one(row, label)
    for model in (one, many):
        names = {str(name) for name, _ in model.top_weights(9)}
        assert names == {"('u', 0)", "('u', 1)", "('u', 2)", "('c', 'x')", "plain", "2.5", "(intercept)"}
        assert model.column_importance()[0][0] == "('c', 'x')"
        assert "('c', 'x')" in model.debug_one(rows[1])
    assert dict(one.top_weights(9)) == pytest.approx(dict(many.top_weights(9)), rel=1e-6)
