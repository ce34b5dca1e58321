"""Pipelines of scikit-learn: what their transformers say of columns is known to the model at their end."""

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import ouzel

pandas = pytest.importorskip("pandas")
X = pandas.DataFrame({"city": ["Rome", "Oslo", "Bonn"] * 20, "sun": np.arange(60) % 7.0})
LABELS = [int(city == "Rome") for city in X["city"]]


def pipeline(sparse):
    encoder = OneHotEncoder(sparse_output=sparse)
    transformer = ColumnTransformer(
        [("city", encoder, ["city"]), ("number", StandardScaler(), ["sun"])], sparse_threshold=float(sparse)
    )
    return make_pipeline(transformer, ouzel.OnlineClassifier("adagrad"))


def test_sparse_output_has_the_names_that_the_transformer_gives():
    model = pipeline(sparse=True).fit(X, LABELS)

    top = model[-1].top_weights(9, feature_names=model[:-1].get_feature_names_out())

    assert max(top, key=lambda pair: pair[1])[0] == "city__city_Rome"
    assert {name for name, _ in top} <= {"(intercept)", *model[:-1].get_feature_names_out()}


@pytest.mark.parametrize("output", ["pandas", "polars"])
def test_frames_of_a_transformer_are_known_by_name(output):
    pytest.importorskip(output)
    model = pipeline(sparse=False).set_output(transform=output).fit(X, LABELS)

    assert max(model[-1].top_weights(9), key=lambda pair: pair[1])[0] == "city__city_Rome"
    assert model[-1].feature_names_in_.tolist() == model[:-1].get_feature_names_out().tolist()
    assert model.score(X, LABELS) == 1.0


def test_sparse_columns_of_pandas_keep_their_names():
    dense = pandas.get_dummies(X["city"], dtype=float)
    sparse = dense.astype(pandas.SparseDtype(float, 0.0))

    model = ouzel.OnlineClassifier("adagrad").fit(sparse, LABELS)

    assert model.feature_names_in_.tolist() == ["Bonn", "Oslo", "Rome"]
    np.testing.assert_array_equal(model.decision_function(dense), model.decision_function(sparse))


def test_names_must_be_of_the_columns():
    model = ouzel.OnlineClassifier("adagrad").fit(np.eye(2), [0, 1])

    with pytest.raises(ouzel.OuzelError, match="arrays of 2 columns; got 1 feature_names"):
        model.top_weights(3, feature_names=["a"])
    with pytest.raises(ouzel.OuzelError, match="leave out feature_names"):
        ouzel.OnlineClassifier("adagrad").fit(X, LABELS).top_weights(3, feature_names=["a"])
