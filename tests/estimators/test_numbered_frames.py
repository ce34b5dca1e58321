"""A frame of numbers that pandas has numbered is an array, to every entry point; one with other names goes by them."""

import numpy as np
import pytest
from scipy import sparse

import ouzel

pandas = pytest.importorskip("pandas")

RNG = np.random.default_rng(5)
X = RNG.normal(size=(400, 3)).round(3)
GONE = RNG.random(400) < 0.3
Y = np.where(GONE | (X[:, 1] > 0.5), "late", "early")
X[GONE, 0] = np.nan
FRAME = pandas.DataFrame(X)
WAYS = {
    "fit": lambda model, data: model.fit(data, Y),
    "learn_many": lambda model, data: model.learn_many(data, Y),
    "blocks": lambda model, data: [model.begin().learn(block) for block in ouzel.blocks_from(data, Y)],
}


@pytest.mark.parametrize("data", [FRAME, X, FRAME.astype("Float64")], ids=["frame", "array", "nullable"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("learner", ["adagrad", "auto"])
def test_numbered_frames_and_arrays_with_missing_cells_are_the_same(learner, way, data):
    model, expected = ouzel.OnlineClassifier(learner), ouzel.OnlineClassifier(learner).fit(X, Y)
    WAYS[way](model, data)
    accuracy = expected.score(X, Y)

    for given in (FRAME, X):
        np.testing.assert_array_equal(model.decision_function(given), expected.decision_function(X))
        assert (np.asarray(model.predict_many(given)) == Y).mean() == accuracy > 0.9
        for blocks in (ouzel.blocks_from(given, Y), ouzel.blocks_from(given, Y, model=model)):
            assert ouzel.evaluate(model, blocks).figures["accuracy"] == pytest.approx(accuracy)


def test_rows_of_an_array_learnt_together_keep_the_names_of_classes_and_what_is_said_of_missing_cells():
    model = ouzel.OnlineClassifier("adagrad", missing="absent").learn_many(X, pandas.Series(Y))

    assert model.predict_many(X[:2]).isin(["late", "early"]).all()
    assert model.model_.space.indicator is False
    full = ouzel.OnlineClassifier("adagrad").learn_many(sparse.csr_matrix(np.nan_to_num(X)), Y)
    assert full.classes_.tolist() == ["early", "late"]
    with pytest.raises(ouzel.OuzelError, match="columns of an array have no names"):
        ouzel.OnlineClassifier("adagrad", categorical=["0"]).learn_many(X, Y)


def test_columns_of_several_levels_go_by_name():
    frame = FRAME.set_axis(pandas.MultiIndex.from_product([["delay"], ["least", "mean", "most"]]), axis=1)
    model = ouzel.OnlineClassifier("adagrad").fit(frame, Y)

    assert model.feature_names_in_.tolist() == ["('delay', 'least')", "('delay', 'mean')", "('delay', 'most')"]
    np.testing.assert_array_equal(model.decision_function(frame[frame.columns[::-1]]), model.decision_function(frame))


def test_what_numpy_masks_is_missing():
    masked = np.ma.masked_array(np.nan_to_num(X), np.isnan(X))
    model, expected = ouzel.OnlineClassifier("adagrad").fit(masked, Y), ouzel.OnlineClassifier("adagrad").fit(X, Y)

    np.testing.assert_array_equal(model.decision_function(masked), expected.decision_function(X))
    assert ouzel.evaluate(model, ouzel.blocks_from(masked, Y)).figures["accuracy"] == expected.score(X, Y)
