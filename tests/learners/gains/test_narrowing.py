"""Gains are told of the slots that are met alone, however many others a table has room for."""

import numpy as np
import pytest

from ouzel.learners.gains import narrowing
from ouzel.learners.gains.parts import bytes_of
from ouzel.model.rounds import common, gains_of, model_of, shape_of, shaped
from tests.checks.rounds_laws import base_and_workers, close, merging_does_not_go_by_the_numbers_of_features
from tests.checks.tasks import CLASSES, stream

NARROWED = ["auto", "arow", "scw1", "rda", "adagrad-rda", "adagrad-multiclass", "son-oja", "son-fd", "son-rp"]


@pytest.mark.parametrize("task", CLASSES, ids=lambda task: task.name)
@pytest.mark.parametrize("name", NARROWED)
def test_room_for_other_features_costs_no_bytes_and_changes_nothing(name, task):
    base, (worker,) = base_and_workers(name, 30, task=task)
    shape = common([shape_of(base), shape_of(worker)])
    roomy = shape._replace(dimension=5000)

    gains, wide = gains_of(base, worker, shape), gains_of(shaped(base, roomy), shaped(worker, roomy), roomy)
    block = stream(task=task, seed=9)

    assert bytes_of(wide) == bytes_of(gains)
    np.testing.assert_allclose(
        model_of(base, wide, roomy).margins(block), model_of(base, gains, shape).margins(block), **close(name)
    )


@pytest.mark.parametrize("name", ["auto", "arow", "adagrad-rda", "son-oja"])
def test_slots_that_keep_their_narrow_numbers_are_found(monkeypatch, name):
    monkeypatch.setattr(narrowing, "_renumbered", lambda gains, number: gains)

    with pytest.raises((AssertionError, IndexError)):
        merging_does_not_go_by_the_numbers_of_features(name)
