"""What columns hold, said to an estimator, counts for data frames, dictionaries and files of its model alike."""

import numpy as np
import pyarrow
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

import ouzel

RNG = np.random.default_rng(0)
ROWS = [
    {"zip": int(RNG.integers(100, 140)), "note": f"word{RNG.integers(9)} Common", "n": float(RNG.normal()), "key": k}
    for k in range(200)
]
LABELS = [int(row["zip"] % 3 == 0) for row in ROWS]
SAID = {"categorical": ["z*"], "text": "note", "ignore": ["key"]}


def table():
    return pyarrow.Table.from_pylist(ROWS)


def new(**more):
    return ouzel.OnlineClassifier("adagrad", **SAID, **more)


def test_parameters_are_scikit_learns():
    model = new(l1=1e-4)

    assert clone(model).get_params() == model.get_params()
    assert model.get_params()["categorical"] is SAID["categorical"]
    assert "ignore=['key']" in repr(model)
    assert ouzel.AdaGradClassifier(**SAID).set_params(ignore=None).get_params()["ignore"] is None
    assert ouzel.OnlineRegressor("adagrad", keep=["n"]).get_params()["keep"] == ["n"]


@pytest.mark.parametrize("kind", [ouzel.AdaGradClassifier, ouzel.OnlineRegressor, ouzel.OnlineRanker])
def test_every_estimator_takes_them(kind):
    model = kind(**SAID).fit(table(), LABELS)

    names = {name for name, _ in model.top_weights(1000)}

    assert "zip=120" in names
    assert "word1" in names
    assert not names & {"zip", "key", "note=word1 Common"}


def test_frames_dictionaries_and_the_shell_give_the_same_digits(tmp_path, monkeypatch):
    from ouzel.cli.app import run

    frame = new().fit(table(), LABELS)
    lines = [",".join([*map(str, row.values()), str(label)]) for row, label in zip(ROWS, LABELS, strict=True)]
    (tmp_path / "t.csv").write_text("\n".join([",".join([*ROWS[0], "label"]), *lines]) + "\n")
    flags = ["--categorical", "z*", "--text", "note", "--ignore", "key"]
    assert run(["train", str(tmp_path / "t.csv"), "--learner", "adagrad", *flags, "--model", str(tmp_path / "m")]) == 0
    one_by_one, many = new(), new()
    for row, label in zip(ROWS, LABELS, strict=True):
        one_by_one.learn_one(row, label)
    many.learn_many(table(), LABELS)
    blocks = new()
    ouzel.progressive_validation(blocks, ouzel.blocks_from(ROWS, LABELS, **SAID))

    expected = frame.decision_function(table())
    for model in (ouzel.load(tmp_path / "m"), one_by_one, many, blocks):
        np.testing.assert_array_equal(model.decision_function(table()), expected)
        assert [model.predict_proba_one(row)[1] for row in ROWS[:5]] == frame.predict_proba(table())[:5, 1].tolist()


def test_a_loaded_model_keeps_what_was_said(tmp_path):
    model = new()
    for row, label in zip(ROWS, LABELS, strict=True):
        model.learn_one(row, label)
    model.save(tmp_path / "m")

    loaded = ouzel.load(tmp_path / "m")

    assert {name: getattr(loaded, name) for name in SAID} == {
        "categorical": ["z*"],
        "text": ["note"],
        "ignore": ["key"],
    }
    assert [loaded.predict_proba_one(row) for row in ROWS[:9]] == [model.predict_proba_one(row) for row in ROWS[:9]]


def test_arrays_have_no_columns_to_speak_of():
    with pytest.raises(
        ouzel.OuzelError, match="columns of an array have no names; give a data frame, or leave out text="
    ):
        new().fit(np.ones((4, 2)), [0, 1, 0, 1])


@pytest.mark.parametrize("bad", [3, [1], [None]])
def test_names_are_names(bad):
    with pytest.raises(ouzel.OuzelError, match="categorical is a name, or a list of names; got"):
        ouzel.OnlineClassifier("adagrad", categorical=bad).fit(table(), LABELS)


def test_a_column_that_is_not_there_is_an_error_in_fit_alone():
    model = ouzel.OnlineClassifier("adagrad", categorical="zap")

    with pytest.raises(ouzel.OuzelError, match="has no column 'zap'; its columns are zip, note, n, key"):
        model.fit(table(), LABELS)


def test_learners_that_keep_a_matrix_take_the_columns_that_are_left():
    numbers = table().select(["zip", "n", "key"])

    model = ouzel.OnlineClassifier("arow-full", ignore="key")
    with pytest.warns(UserWarning, match="no better than a constant"):
        model.fit(numbers, LABELS)

    assert model.feature_names_in_.tolist() == ["zip", "n"]
    assert model.predict(numbers.drop_columns("key")).tolist() == model.predict(numbers).tolist()


def test_cross_validation_takes_frames_of_categories():
    frame = table().to_pandas()

    assert cross_val_score(new(passes=5), frame, LABELS, cv=3).mean() > 0.8
