"""Types that only pandas has: what a column of them holds is what dictionaries and files of the same table hold."""

import uuid

import numpy as np
import pytest

import ouzel

pandas = pytest.importorskip("pandas")

NUMBERS = np.random.default_rng(3).normal(size=60).round(3)
LABELS = np.where(NUMBERS > 0.2, "high", "low")
SOME = pandas.Series(np.where(np.arange(60) % 7 == 0, np.nan, NUMBERS))  # some are missing
IDENTITIES = [uuid.UUID(int=k % 3) for k in range(60)]
COLUMNS = {
    "intervals that cut makes": pandas.cut(SOME, 4),
    "intervals that qcut makes": pandas.qcut(SOME, 4),
    "intervals": pandas.cut(SOME, 4).astype(object).astype("interval"),
    "intervals as objects": pandas.cut(SOME, 4).astype(object),
    "identities": pandas.Series(IDENTITIES),
    "identities among words": pandas.Series([one if k % 2 else "none yet" for k, one in enumerate(IDENTITIES)]),
    "categories of several types": pandas.Series(pandas.Categorical([["red", 1, 2.5, None][k % 4] for k in range(60)])),
    "sparse numbers": pandas.Series(pandas.arrays.SparseArray(np.where(NUMBERS > 1.0, NUMBERS, 0.0))),
    "months": pandas.Series(pandas.period_range("2024-01", periods=60, freq="M")),
}


@pytest.mark.parametrize("learner", ["adagrad", "auto"])
@pytest.mark.parametrize("column", COLUMNS)
def test_types_of_pandas_mean_what_they_mean_in_dictionaries_and_files(column, learner, tmp_path):
    frame = pandas.DataFrame({"x": COLUMNS[column], "z": NUMBERS})
    found = ouzel.OnlineClassifier(learner).fit(frame, LABELS)
    margins = found.decision_function(frame)
    rows = frame.astype(object).where(frame.notna(), None).to_dict("records")

    np.testing.assert_array_equal(found.decision_function(rows), margins)
    np.testing.assert_array_equal(found.decision_function(frame[5:9]), margins[5:9])
    if column != "months":  # a file has the text 2024-01, which is a date to `--dates` alone
        frame.to_csv(tmp_path / "t.csv", index=False)
        blocks = ouzel.read(tmp_path / "t.csv", space=found.model_.space, unlabelled=True)
        np.testing.assert_array_equal(np.concatenate([found.model_.margins(block) for block in blocks]), margins)


def test_an_interval_is_the_word_that_a_file_has():
    frame = pandas.DataFrame({"age": pandas.cut([5, 15, 25] * 4, [0, 10, 20, 30])})
    found = ouzel.OnlineClassifier("adagrad").fit(frame, ["child", "teen", "adult"] * 4)

    assert found.predict_one({"age": "(10, 20]"}) == found.predict_one({"age": pandas.Interval(10, 20)}) == "teen"
