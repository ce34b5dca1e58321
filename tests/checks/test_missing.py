"""What is missing is a feature, to every estimator and however examples come, unless `missing="absent"` is given."""

import itertools
import math
import pickle

import numpy as np
import pytest
import scipy.sparse as sparse
from sklearn.base import clone

import ouzel
from ouzel.cli.app import run
from ouzel.model import persistence

pandas = pytest.importorskip("pandas")

ROWS = [{"fare": fare, "age": age} for fare, age in [(1.0, 2.0), (math.nan, 3.0), (4.0, math.nan), (math.nan, 1.0)]] * 3
LABELS = [0, 1, 0, 1] * 3
KINDS = [name for name in ouzel.__all__ if name.endswith(("Classifier", "Regressor", "Ranker"))]
MARKS = {"fare=(missing)", "age=(missing)"}
FRAME = pandas.DataFrame(ROWS)


def made(name):
    """An estimator that names can be taught to: of one that has a number for every pair of ids there are few."""
    return getattr(ouzel, name)(bits=6)


def names_in(estimator):
    """The names of the features of examples in which every column is missing once, as the model reads them."""
    numbers = [number for row in ROWS[1:3] for number in estimator._row_one(row)[0].tolist()]
    return {estimator.model_.feature_name(number - 1) for number in numbers if number > 0}


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
    model = ouzel.AROWClassifier(covariance="full").fit(FRAME, LABELS)

    assert (model.n_features_in_, model.coef_.shape) == (2, (1, 2))
    assert model.model_.space.id_of("age=(missing)", 0, 18) == 3
    assert model.predict_one({"fare": None, "age": 1.0}) == model.predict(FRAME)[3] == 1
    assert model.learn_one({"age": None}, 0).model_.examples == 13
    with pytest.raises(ouzel.OuzelError, match="there is no feature 4"):
        model.learn_one({4: 1.0}, 0)


def test_a_wrong_word_is_refused_where_it_is_used():
    with pytest.raises(ouzel.OuzelError, match="missing must be 'indicator' or 'absent'; got 'mean'"):
        ouzel.OnlineClassifier("ogd", missing="mean").fit(FRAME, LABELS)
    with pytest.raises(ouzel.OuzelError, match="leave out missing='absent'"):
        list(ouzel.blocks_from(sparse.csr_array([[0.0], [1.0]]), [0, 1], missing="absent"))
    fitted = ouzel.OnlineClassifier("ogd").fit(FRAME, LABELS).set_params(missing="absent")
    with pytest.raises(
        ouzel.OuzelError, match="to the model a missing value is a feature of its own; leave out missing"
    ):
        fitted.predict(FRAME)


ARRAY = FRAME.to_numpy()


def features_of(blocks):
    """The ids and values of each row."""
    return [
        dict(zip(block.indices[a:b].tolist(), block.values[a:b].tolist(), strict=True))
        for block in blocks
        for a, b in itertools.pairwise(block.offsets.tolist())
    ]


def test_nan_in_an_array_is_missing():
    expected = [{0: 1.0, 1: 2.0}, {1: 3.0, 2: 1.0}, {0: 4.0, 3: 1.0}, {1: 1.0, 2: 1.0}] * 3
    assert features_of(ouzel.blocks_from(ARRAY)) == expected
    assert features_of(ouzel.blocks_from(ARRAY.astype(np.float32), block_rows=5)) == expected
    without = [{key: value for key, value in row.items() if key < 2} for row in expected]
    assert features_of(ouzel.blocks_from(ARRAY, missing="absent")) == without

    fitted, one_by_one = ouzel.OnlineClassifier("adagrad").fit(ARRAY, LABELS), ouzel.OnlineClassifier("adagrad")
    one_by_one.partial_fit(ARRAY[:1], LABELS[:1], [0, 1])
    for row, label in zip(ARRAY[1:], LABELS[1:], strict=True):
        one_by_one.learn_one(dict(enumerate(row)), label)
    assert (fitted.n_features_in_, fitted.coef_.shape) == (2, (1, 2))
    assert {name for name, _ in fitted.top_weights(9)} == {"(intercept)", 0, 1, "0=(missing)", "1=(missing)"}
    named = {name for name, *_ in fitted.feature_importance(9, ["fare", "age"])}
    assert named == {"(intercept)", "fare", "age", *MARKS}
    assert [fitted.predict_proba_one(dict(enumerate(row))) for row in ARRAY] == [
        dict(zip([0, 1], pair, strict=True)) for pair in fitted.predict_proba(ARRAY).tolist()
    ]
    np.testing.assert_array_equal(one_by_one.predict_proba(ARRAY), fitted.predict_proba(ARRAY))
    plain = ouzel.OnlineClassifier("adagrad", missing="absent").fit(ARRAY, LABELS)
    np.testing.assert_array_equal(plain.predict_proba(ARRAY), plain.predict_proba(np.nan_to_num(ARRAY)))


def test_an_id_behind_the_columns_of_an_array_is_refused_though_what_is_missing_stands_there(tmp_path):
    fitted = ouzel.OnlineClassifier("adagrad").fit(ARRAY, LABELS)
    (tmp_path / "t.svm").write_text("1 1:2 2:1\n")

    for x in ({2: 1.0}, {"0": 1.0}):
        with pytest.raises(ouzel.OuzelError, match=r"arrays of 2 columns"):
            fitted.predict_one(x)
    with pytest.raises(ouzel.OuzelError, match=r"arrays of 2 columns"):
        fitted.model_.answers(ouzel.read(tmp_path / "t.svm").first())
    pairs = [(dict(enumerate(row)), None) for row in ARRAY]
    assert features_of(ouzel.blocks_from(pairs, model=fitted)) == features_of(ouzel.blocks_from(ARRAY))
    (block,) = ouzel.blocks_from(pairs, model=fitted)
    np.testing.assert_array_equal(fitted.model_.answers(block).probabilities, fitted.predict_proba(ARRAY))


def test_an_array_with_infinity_or_a_sparse_matrix_with_nan_is_refused(tmp_path):
    for X in ([[math.inf], [1.0]], sparse.csr_array([[math.nan], [1.0]])):
        with pytest.raises(ValueError, match=r"infinity|expected a finite number"):
            ouzel.OnlineClassifier("ogd").fit(X, [0, 1])
    (tmp_path / "t.svm").write_text("1 1:2\n0 1:1 2:3\n")
    fitted = ouzel.OnlineClassifier("ogd")
    ouzel.progressive_validation(fitted, ouzel.read(tmp_path / "t.svm"))
    model = fitted.model_
    X = np.array([[1.0, math.nan, 2.0]])  # whose ids are those of the file
    assert features_of(ouzel.blocks_from(X, model=model)) == [{0: 1.0, 2: 2.0}]


def test_a_column_without_a_missing_cell_has_the_same_bits(tmp_path):
    full = FRAME.fillna(7.0).assign(city=["Rome", "Oslo"] * 6)
    full.assign(y=LABELS).to_csv(tmp_path / "t.csv", index=False)
    full.assign(y=LABELS).to_parquet(tmp_path / "t.parquet")
    full.assign(y=LABELS).to_json(tmp_path / "t.jsonl", orient="records", lines=True)
    for name in ("t.csv", "t.parquet", "t.jsonl"):
        (marked,), (plain,) = (ouzel.read(tmp_path / name, missing=missing) for missing in ("indicator", "absent"))
        for one, other in zip(marked[:4], plain[:4], strict=True):
            assert one.tobytes() == other.tobytes()
        assert marked.names.text.tobytes() == plain.names.text.tobytes()


def test_what_an_object_or_a_table_lacks_is_not_missing():
    rows = [({"a": 1.0, "b": None}, 1), ({"a": 2.0}, 0)]
    known = ouzel.Model("ogd")
    for block in ouzel.blocks_from(rows):
        known.learn(block)
    marked = known.space.id_of("b=(missing)", 0, 18)
    assert [marked in row for row in features_of(ouzel.blocks_from(rows, model=known))] == [True, False]
    table = pandas.DataFrame({"a": [1.0]})
    assert [len(row) for row in features_of(ouzel.blocks_from(table, model=known))] == [1]


def as_before(model, path):
    """The file of a model of before what is missing was a feature: neither its space nor its options say it."""
    persistence.save(model, path, {"reading": {"label": "y"}})
    return path


def test_a_model_of_before_reads_its_stream_as_it_did(tmp_path, capsys):
    table = FRAME.assign(y=LABELS)
    table.to_csv(tmp_path / "t.csv", index=False)
    old = ouzel.Model("adagrad")
    for block in ouzel.read(tmp_path / "t.csv", missing="absent"):
        old.learn(block)
    assert old.space.indicator is False
    path = as_before(old, tmp_path / "m")
    plain = features_of(ouzel.read(tmp_path / "t.csv", missing="absent"))

    estimator = ouzel.load(path)
    assert estimator.missing == "absent"
    assert features_of(ouzel.read(tmp_path / "t.csv", space=estimator.model_.space)) == plain
    assert features_of(ouzel.blocks_from(FRAME, model=estimator)) == plain
    assert features_of(ouzel.blocks_from([(row, None) for row in ROWS], model=estimator)) == plain
    estimator.learn_one(ROWS[1], 1)
    estimator.partial_fit(FRAME, LABELS)
    assert estimator.model_.space.indicator is False
    assert (
        run(["train", str(tmp_path / "t.csv"), "--resume", str(path), "--relearn", "--model", str(tmp_path / "n")]) == 0
    )
    assert ouzel.load(tmp_path / "n").model_.space.indicator is False
    flags = ["--resume", str(path), "--relearn", "--missing"]
    assert run(["train", str(tmp_path / "t.csv"), *flags, "absent"]) == 0
    capsys.readouterr()
    assert run(["train", str(tmp_path / "t.csv"), *flags, "indicator"]) == 2
    assert "--missing indicator contradicts" in capsys.readouterr().err


def test_a_model_of_text_without_cells_learns_what_is_missing_of_the_first_that_come(tmp_path):
    (tmp_path / "t.vw").write_text("1 | a:1\n-1 | b:2\n")
    model = ouzel.Model("ogd")
    for block in ouzel.read(tmp_path / "t.vw"):
        model.learn(block)
    assert model.space.indicator is None
    persistence.save(model, tmp_path / "m")
    model = ouzel.load(tmp_path / "m").model_
    for block in ouzel.blocks_from([({"a": None}, 1)], model=model):
        model.learn(block)
    assert model.space.indicator is True


NOTHING = {
    "none": [None] * 12,
    "floats": [math.nan] * 12,
    "whole numbers": pandas.array([None] * 12, "Int64"),
    "text": pandas.array([None] * 12, "string"),
    "dates": pandas.array([None] * 12, "datetime64[ns]"),
}
SOMETHING = {
    "number": [1.0, math.nan, 3.0] * 4,
    "category": ["red", None, "blue"] * 4,
    "date": pandas.date_range("2024-01-01", periods=12),
    "list": [["red"], [], ["blue", "red"]] * 4,
}


def rows_of(frame):
    """The rows of a frame as dictionaries, in which what is missing is None."""
    return frame.astype(object).where(frame.notna(), None).to_dict("records")


def frame_with(column):
    """A frame with this column, and one of numbers."""
    return pandas.DataFrame({"colour": column, "size": np.arange(12.0)})


@pytest.mark.parametrize("learner", ["adagrad", "auto", "ons"])
@pytest.mark.parametrize("nothing", NOTHING)
def test_a_column_that_is_missing_throughout_is_missing_to_every_entry_point(nothing, learner, tmp_path, recwarn):
    frame = frame_with(NOTHING[nothing])
    found = ouzel.OnlineClassifier(learner).fit(frame, LABELS)
    found.save(tmp_path / "m")
    frame.to_csv(tmp_path / "t.csv", index=False)
    shares = found.predict_proba(frame)

    assert found.feature_names_in_.tolist() == ["colour", "size"]
    read = found._row_one(rows_of(frame)[1])[0].tolist()  # a constant adds nothing, so that no explanation has it
    assert "colour=(missing)" in {found.model_.feature_name(number - 1) for number in read if number > 0}
    for again in (found, ouzel.load(tmp_path / "m")):
        np.testing.assert_array_equal(again.predict_proba(frame), shares)
        np.testing.assert_array_equal(
            np.concatenate([again.predict_proba(frame[k : k + 1]) for k in range(12)]), shares
        )
        ones = [again.predict_proba_one(row) for row in rows_of(frame)]
        np.testing.assert_array_equal([[one[0], one[1]] for one in ones], shares)
    if learner != "ons":  # which knows columns of a frame of numbers by their places
        (block,) = ouzel.read(tmp_path / "t.csv", space=found.model_.space, unlabelled=True)
        np.testing.assert_array_equal(found.model_.margins(block), found.decision_function(frame))
    assert [str(said.message) for said in recwarn] == []


@pytest.mark.parametrize("something", SOMETHING)
@pytest.mark.parametrize("nothing", NOTHING)
def test_the_first_values_decide_what_a_column_holds(nothing, something):
    empty, full = frame_with(NOTHING[nothing]), frame_with(SOMETHING[something])
    found = ouzel.OnlineClassifier("adagrad").partial_fit(empty, LABELS).partial_fit(full, LABELS)

    assert found.model_.space.kinds == {"colour": something, "size": "number"}
    for frame in (empty, full):
        rows = [{"colour": row["colour"], "size": row["size"]} for row in frame.to_dict("records")]
        ones = [found.predict_proba_one(row) for row in rows]
        np.testing.assert_array_equal([[one[0], one[1]] for one in ones], found.predict_proba(frame))


@pytest.mark.parametrize("something", SOMETHING)
@pytest.mark.parametrize("nothing", NOTHING)
def test_a_column_of_any_kind_may_be_missing_throughout_a_frame(nothing, something):
    found = ouzel.OnlineClassifier("adagrad").fit(frame_with(SOMETHING[something]), LABELS)

    empty = frame_with(NOTHING[nothing])
    row = found.predict_proba_one({"colour": None, "size": 3.0})
    assert found.predict_proba(empty)[3].tolist() == [row[0], row[1]]
