"""`missing="indicator"` is a parameter of every estimator: what is missing is a feature, however examples come."""

import math
import pickle

import pytest
from sklearn.base import clone

import ouzel

pandas = pytest.importorskip("pandas")

ROWS = [{"fare": fare, "age": age} for fare, age in [(1.0, 2.0), (math.nan, 3.0), (4.0, math.nan), (math.nan, 1.0)]] * 3
LABELS = [0, 1, 0, 1] * 3
KINDS = [name for name in ouzel.__all__ if name.endswith(("Classifier", "Regressor", "Ranker"))]
MARKS = {"fare=(missing)", "age=(missing)"}
FRAME = pandas.DataFrame(ROWS)


def made(name):
    """An estimator that names can be taught to: of one that has a number for every pair of ids there are few."""
    return getattr(ouzel, name)(missing="indicator", bits=6)


def names_in(estimator):
    """The names of the features of examples in which every column is missing once."""
    return {part["name"] for row in ROWS[1:3] for part in estimator.explain_one(row)[0]["features"]}


@pytest.mark.interpreted
@pytest.mark.parametrize("name", KINDS)
def test_every_estimator_has_features_of_what_is_missing(name, tmp_path):
    fitted = made(name).fit(FRAME, LABELS)
    assert names_in(fitted) >= MARKS

    copied = clone(fitted)
    assert copied.get_params()["missing"] == "indicator"
    assert clone(copied.set_params(missing="absent")).fit(FRAME, LABELS).model_.space.indicator is False
    fitted.save(tmp_path / "m")
    for again in (pickle.loads(pickle.dumps(fitted)), ouzel.load(tmp_path / "m")):
        assert again.missing == "indicator"
        assert again.predict(FRAME).tolist() == fitted.predict(FRAME).tolist()
        assert again.predict_one(ROWS[1]) == fitted.predict_one(ROWS[1])


@pytest.mark.interpreted
@pytest.mark.parametrize("name", [name for name in KINDS if not name.endswith("Ranker")])
def test_dictionaries_and_frames_teach_the_same(name):
    one_by_one, many, whole = made(name), made(name), made(name)
    for row, label in zip(ROWS, LABELS, strict=True):
        one_by_one.learn_one(row, label)
    many.learn_many(FRAME, LABELS)
    whole.partial_fit(FRAME, LABELS)

    assert names_in(one_by_one) >= MARKS
    found = many.predict_many(FRAME).tolist()  # sums of numbers that are not compiled may differ in a last digit
    assert [one_by_one.predict_one(row) for row in ROWS] == pytest.approx(found, rel=1e-9)
    if whole.model_.space.width is None:  # else features are columns, which come in another order
        assert whole.predict(FRAME).tolist() == pytest.approx(found, rel=1e-9)


def test_what_is_missing_of_columns_by_place_stands_behind_them():
    model = ouzel.AROWClassifier(covariance="full", missing="indicator").fit(FRAME, LABELS)

    assert (model.n_features_in_, model.coef_.shape) == (2, (1, 2))
    assert model.model_.space.id_of("age=(missing)", 0, 18) == 3
    assert model.predict_one({"fare": None, "age": 1.0}) == model.predict(FRAME)[3] == 1
    assert model.learn_one({"age": None}, 0).model_.examples == 13
    with pytest.raises(ouzel.OuzelError, match="there is no feature 4"):
        model.learn_one({4: 1.0}, 0)


def test_a_wrong_word_is_refused_where_it_is_used():
    with pytest.raises(ouzel.OuzelError, match="missing must be 'absent' or 'indicator'; got 'mean'"):
        ouzel.OnlineClassifier("ogd", missing="mean").fit(FRAME, LABELS)
    with pytest.raises(ouzel.OuzelError, match="leave out missing='indicator'"):
        ouzel.OnlineClassifier("ogd", missing="indicator").fit([[0.0], [1.0]], [0, 1])
