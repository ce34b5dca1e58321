"""Types that only pandas has: what a column of them holds is what dictionaries and files of the same table hold."""

import uuid

import numpy as np
import pyarrow
import pytest

import ouzel
from ouzel.learners.catalogue import LEARNERS
from ouzel.model.room import slots_of
from ouzel.streams import frames
from ouzel.streams.block import Slots
from ouzel.streams.options import Options

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


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("learner", ["adagrad", "auto", "awm", "adagrad-full"])
def test_predictions_of_numbers_in_slots_are_those_of_blocks(learner, intercept, monkeypatch):
    monkeypatch.setattr(frames, "rows_at_once", lambda columns: 5000)  # more than a block has, and less than the frame
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame(rng.normal(size=(12_000, 9)) * (rng.random((12_000, 9)) < 0.9), columns=[*"abcdefghi"])
    frame.iloc[11_000, 3] = np.nan
    found = ouzel.OnlineClassifier(learner, fit_intercept=intercept, bits=10).partial_fit(frame, frame["a"] > 0.1)
    blocks, in_slots = list(found._unlabelled(frame)), list(found._unlabelled(frame, slots_of(found.model_)))

    np.testing.assert_array_equal(
        found._margins(frame), np.concatenate([found.model_.margins(block) for block in blocks])
    )
    fits = learner != "adagrad-full"
    assert [(block.rows, block.in_slots) for block in in_slots] == [
        (rows, fits and k < 4) for k, rows in enumerate([4096, 904, 4096, 904, 2000])
    ]
    assert not any(block.in_slots for block in blocks)


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_learner_predicts_rows_in_slots_as_it_does_blocks(learner):
    rng = np.random.default_rng(1)  # the second block of a table begins within its arrays
    frame = pandas.DataFrame(rng.normal(size=(5000, 12)) * (rng.random((5000, 12)) < 0.8), columns=[*"abcdefghijkl"])
    found = ouzel.OnlineClassifier(learner).partial_fit(frame[:1000], frame["a"][:1000] > 0.1)

    expected = np.concatenate([found.model_.margins(block) for block in found._unlabelled(frame)])
    np.testing.assert_array_equal(found._margins(frame), expected)


def test_numbers_beyond_a_learners_slots_and_tables_with_words_are_not_in_slots():
    frame = pandas.DataFrame({"a": NUMBERS, "b": 1.0})
    words = frame.assign(c=LABELS)
    ids = [int(i) for i in next(frames.table_blocks(frames.as_table(frame), None, None, Options())).indices]
    cases = [(frame, max(ids) + 2, True), (frame, max(ids) + 1, False), (words, 1 << 20, False)]

    for data, limit, expected in cases:
        blocks = frames.table_blocks(frames.as_table(data), None, None, Options(), slots=Slots(True, limit))
        assert [block.in_slots for block in blocks] == [expected]


PLAIN = pandas.DataFrame(np.arange(60.0).reshape(20, 3), columns=[*"abc"])
IN_PLACE = {
    "double": PLAIN,
    "single": PLAIN.astype(np.float32),
    "bytes": PLAIN.astype(np.int8),
    "of two types": PLAIN.assign(b=range(20)),
    "indexed": PLAIN.set_index("a"),
    "backwards": PLAIN[::-2],
    "no rows": PLAIN[:0],
}
NOT_IN_PLACE = {
    "missing": PLAIN.where(PLAIN != 7.0),
    "infinite": PLAIN.assign(a=np.inf),
    "truth values": PLAIN > 3.0,
    "no columns": PLAIN[[]],
    "two of one name": PLAIN.rename(columns={"a": "b"}),
    "numbered": PLAIN.rename(columns={"a": 1}),
    "of pandas's own": PLAIN.astype("Float64"),
    "sparse": PLAIN.astype(pandas.SparseDtype(float)),
    "swapped": PLAIN.astype(">f8"),
    "half": PLAIN.astype(np.float16),
    "long": PLAIN.astype(np.longdouble),
    "words": PLAIN.assign(a="word"),
}


@pytest.mark.filterwarnings("ignore:.*mixed type")
@pytest.mark.parametrize("kind", [*IN_PLACE, *NOT_IN_PLACE])
def test_a_frame_of_finite_numbers_becomes_a_table_in_place_and_the_same_one(kind, monkeypatch):
    frame, calls = {**IN_PLACE, **NOT_IN_PLACE}[kind], []
    whole = pyarrow.table
    monkeypatch.setattr(pyarrow, "table", lambda data: calls.append(data) or whole(data))

    def found():
        try:
            return frames.as_table(frame)
        except ouzel.OuzelError as error:
            return str(error)

    given = found()
    assert bool(calls) == (kind in NOT_IN_PLACE)
    monkeypatch.setattr(frames, "_in_place", lambda data: None)
    expected = found()
    assert given == expected if isinstance(expected, str) else given.equals(expected)
