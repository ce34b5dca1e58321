"""The slots of the last keys are kept from example to example, and mean what a look at each would."""

import threading

import numpy as np
import pytest

import ouzel
from ouzel.estimators.slots import Slots


def taught(count=6, keys="abcdefgh"):
    model = ouzel.AdaGradClassifier()
    for k in range(count):
        model.learn_one({key: float(k + place) for place, key in enumerate(keys)}, k % 2)
    return model


def fresh(model):
    return Slots(model.model_, model._slots.options)


@pytest.mark.parametrize(
    "x",
    [
        dict.fromkeys("abcdefgh", 2.0),
        dict.fromkeys("abcdefgi", 2.0),
        dict.fromkeys("ahgfedcb", 2.0),
        {**dict.fromkeys("abcdefg", 2.0), "h": 0.0},
        {**dict.fromkeys("abcdefg", 2.0), "h": "word"},
        {**dict.fromkeys("abcdefg", 2.0), "h": None},
        {**dict.fromkeys("abcdefg", 2.0), "h": True},
    ],
)
def test_rows_after_rows_of_the_same_keys_are_those_of_a_new_look(x):
    model = taught()

    for _ in range(3):
        found = [part.tolist() for part in model._slots.row(x)]
        assert found == [part.tolist() for part in fresh(model).row(x)]
        model.predict_one(dict.fromkeys("abcdefgh", 1.0))


def test_keys_are_looked_up_once():
    model, looks = taught(), []

    class Noting(Slots):
        def __getitem__(self, key):
            looks.append(key)
            return super().__getitem__(key)

    slots = Noting(model.model_, model._slots.options)
    slots.learning = True
    for _ in range(5):
        slots.row(dict.fromkeys("abcdefgh", 2.0))

    assert len(looks) == 2 * 8  # of the first, and of the second, whose first key is the same


def test_a_name_that_is_only_predicted_is_not_remembered():
    model = taught()
    for _ in range(3):
        model.predict_one(dict.fromkeys("abcdefgx", 2.0))

    model.learn_one(dict.fromkeys("abcdefgx", 2.0), 1)

    assert "x" in dict(model.top_weights(20))


def test_threads_do_not_write_to_the_same_row():
    model = taught()
    rows = [{key: float(k + place) for place, key in enumerate("abcdefgh")} for k in range(8)]
    expected, wrong = [model.predict_proba_one(x)[1] for x in rows], []

    def predict(k):
        wrong.extend(k for _ in range(2000) if model.predict_proba_one(rows[k])[1] != expected[k])

    threads = [threading.Thread(target=predict, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert not wrong
    assert len(set(np.round(expected, 12))) > 1
