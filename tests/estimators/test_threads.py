"""Threads that teach one estimator from its first example on teach one model."""

import pickle
import threading
from functools import partial

import numpy as np
import pytest

import ouzel

MANY = 8


def at_once(*calls):
    """Call functions in threads that begin together; errors are raised here."""
    gate, errors = threading.Barrier(len(calls)), []

    def run(call):
        gate.wait()
        try:
            call()
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


@pytest.mark.parametrize("learner", ["adagrad", "adagrad-multiclass"])
def test_first_examples_are_taught_to_one_model(learner):
    ouzel.OnlineClassifier(learner).learn_one({"a": 1.0}, "x")  # kernels are ready
    for _ in range(10):
        model = ouzel.OnlineClassifier(learner)

        at_once(*(partial(model.learn_one, {f"name {k}": 1.0}, f"class {k % 4}") for k in range(MANY)))

        assert model.model_.examples == MANY
        assert sorted(model.classes_) == [f"class {k}" for k in range(4)]
        assert model.predict_one({"name 0": 1.0}) in model.classes_


def test_first_parts_are_taught_to_one_model():
    X, y = np.eye(4), np.array([0, 1, 0, 1])
    for kind in (ouzel.OnlineClassifier, ouzel.OnlineRegressor, ouzel.OnlineRanker):
        kind("adagrad").partial_fit(X, y)
        model = kind("adagrad")

        at_once(*[partial(model.partial_fit, X, y)] * MANY)

        assert model.model_.examples == MANY * len(y)


def test_an_estimator_that_has_begun_is_copied_and_pickled():
    model = ouzel.OnlineClassifier("adagrad").learn_one({"a": 1.0}, "x")

    for copied in (pickle.loads(pickle.dumps(model)), model.clone(include_attributes=True)):
        assert copied.learn_one({"b": 1.0}, "y").model_.examples == 2
