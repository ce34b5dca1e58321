"""A pickled estimator holds its model as the bytes of a file: small, and without what was around it."""

import copy
import pickle
from pathlib import Path

import joblib
import numpy as np
import pytest

import ouzel
from ouzel.errors import OuzelError
from ouzel.layout import flat
from ouzel.model import persistence
from ouzel.model.model import Model

RNG = np.random.default_rng(1)
X = RNG.normal(size=(80, 4)).round(3)
ROWS = [dict(zip("abcd", row, strict=True)) for row in X.tolist()]
SIGNS = np.where(X[:, 0] + X[:, 1] > 0, "yes", "no").tolist()


def learnt(learner="auto"):
    model = ouzel.OnlineClassifier(learner)
    for row, label in zip(ROWS, SIGNS, strict=True):
        model.learn_one(row, label)
    return model


@pytest.mark.parametrize("learner", ["auto", "adagrad", "awm", "son-oja"])
def test_a_pickle_is_as_small_as_the_file(learner, tmp_path):
    model = learnt(learner)
    model.save(tmp_path / "file")
    joblib.dump(model, tmp_path / "pickle")

    sizes = [(tmp_path / name).stat().st_size for name in ("file", "pickle")]

    assert sizes[1] < sizes[0] + 4096


@pytest.mark.parametrize("learner", ["auto", "adagrad", "awm"])
@pytest.mark.parametrize("how", [lambda model: pickle.loads(pickle.dumps(model)), copy.deepcopy, copy.copy])
def test_what_is_pickled_or_copied_predicts_and_learns_on_with_the_same_bits(learner, how):
    model = learnt(learner)
    again = how(model)

    assert again.get_params() == model.get_params()
    assert [again.predict_proba_one(row) for row in ROWS] == [model.predict_proba_one(row) for row in ROWS]
    if how is not copy.copy:
        for row, label in zip(ROWS, SIGNS, strict=True):
            for one in (again, model):
                one.learn_one(row, label)
    parts = (flat(one.model_.states[0]) for one in (again, model))
    assert all(np.array_equal(array, other) for (_, array), (_, other) in zip(*parts, strict=True))


def test_a_pickle_holds_no_path(tmp_path):
    model = learnt("adagrad")
    model.save(tmp_path / "secret-place")

    assert b"secret-place" not in pickle.dumps(ouzel.load(tmp_path / "secret-place"))
    assert str(Path.home()).encode() not in pickle.dumps(model)


def test_pickles_of_earlier_versions_whose_models_are_objects_are_read():
    model = learnt("adagrad")
    again = ouzel.OnlineClassifier.__new__(ouzel.OnlineClassifier)

    again.__setstate__({**vars(model), "model_": pickle.loads(pickle.dumps(model.model_))})

    assert isinstance(again.model_, Model)
    assert [again.predict_proba_one(row) for row in ROWS] == [model.predict_proba_one(row) for row in ROWS]


def test_an_estimator_that_has_learnt_nothing_is_pickled():
    assert pickle.loads(pickle.dumps(ouzel.OnlineClassifier(bits=12))).get_params()["bits"] == 12


def test_a_model_that_no_file_can_hold_is_pickled_as_it_is():
    model = learnt("adagrad")
    model.model_.states[0].table[3, 0] = np.nan

    again = pickle.loads(pickle.dumps(model))

    assert np.isnan(again.model_.states[0].table[3, 0])


@pytest.mark.parametrize(
    "spoil", [lambda data: data[:-9], lambda data: data[:40], lambda data: data[:-1] + b"\x00\x01"]
)
def test_bytes_that_are_no_model_are_refused_in_one_line(spoil):
    data = persistence.to_bytes(learnt("adagrad").model_)

    with pytest.raises(OuzelError, match="a pickled model"):
        persistence.from_bytes(spoil(data))
