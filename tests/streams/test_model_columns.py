import numpy as np
import pytest

import ouzel
from ouzel.errors import DataError
from ouzel.streams.feature_space import FeatureSpace
from ouzel.streams.model_columns import MOST_KNOWN, require_shared

pd = pytest.importorskip("pandas")
REFUSED = r"has none of the columns that the model knows \(a, b\); it has c, d; give data with the model's columns"
FRAME = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": ["x", "y", "x", "y"]})


@pytest.fixture(scope="module")
def by_table():
    return ouzel.OnlineClassifier("ogd").fit(FRAME, [0, 1, 0, 1])


@pytest.mark.parametrize("method", ["predict", "predict_proba", "decision_function", "explain"])
def test_a_frame_without_a_column_of_the_model_is_refused_by_whatever_predicts(by_table, method):
    with pytest.raises(DataError, match=REFUSED):
        getattr(by_table, method)(pd.DataFrame({"c": [1.0], "d": ["x"]}))


def test_one_column_in_common_is_enough_and_dictionaries_may_have_any_name(by_table):
    with pytest.warns(UserWarning, match="columns b are missing"):
        assert len(by_table.predict(FRAME[["a"]])) == 4
    assert by_table.predict_one({"c": 1.0}) in (0, 1)
    assert np.isfinite(by_table.predict_proba_one({"b=x": 1.0})[1])


def test_a_model_that_may_know_more_names_than_columns_refuses_nothing():
    kinds = {f"c{k}": "number" for k in range(MOST_KNOWN)}

    require_shared(["d"], FeatureSpace(named=True, kinds=kinds, open_vocabulary=True), "t.csv")
    with pytest.raises(DataError, match="it has d"):
        require_shared(["d"], FeatureSpace(named=True, kinds=kinds), "t.csv")
    with pytest.raises(DataError, match="it has no others"):
        require_shared([], FeatureSpace(named=True, kinds=kinds), "t.csv")
