"""Recovery error: 1 for the best choice there is, and what its definition says for any other."""

import numpy as np
import pytest

from ouzel.comparison.recovery import recovery_error, relative_error
from ouzel.model.model import Model
from ouzel.streams.memory import blocks_from


def learnt(name, **settings):
    random = np.random.default_rng(2)
    X = random.standard_normal((600, 4)).astype(np.float32)
    model = Model(name, **settings)
    for block in blocks_from(X, np.where(X[:, 0] > 0, "a", "b"), block_rows=200):
        model.learn(block)
    return model


def test_relative_error_is_the_quotient_of_two_distances():
    random = np.random.default_rng(1)
    true = random.normal(size=40)
    slots, weights = random.permutation(40)[:12], random.normal(size=12)
    vector, best = np.zeros(40), np.zeros(40)
    heaviest = np.argsort(-np.abs(weights))[:5]
    vector[slots[heaviest]] = weights[heaviest]
    keep = np.argsort(-np.abs(true))[:5]
    best[keep] = true[keep]

    found = relative_error(slots, weights, true, 5)

    assert found == pytest.approx(np.linalg.norm(vector - true) / np.linalg.norm(best - true))


def test_a_weight_the_reference_never_saw_counts_in_full():
    assert relative_error(np.array([9]), np.array([2.0]), np.array([1.0, 0.0, 1.0]), 1) == pytest.approx(6**0.5)


def test_there_is_no_error_where_every_weight_is_among_the_heaviest():
    assert relative_error(np.array([0]), np.array([2.0]), np.array([1.0, 0.0]), 1) is None


@pytest.mark.parametrize("name", ["ogd", "unbounded"])
def test_recovery_of_the_reference_itself_is_one(name):
    model = learnt(name)

    assert recovery_error(model, model, 2) == pytest.approx(1.0)
    assert recovery_error(Model(name, classes=["b", "a"]), model, 2) > 1.0


@pytest.mark.parametrize("name", ["awm", "hashing"])
def test_a_budget_with_room_for_all_recovers_all(name):
    assert recovery_error(learnt(name, budget="64KB"), learnt("unbounded"), 2) == pytest.approx(1.0, abs=1e-6)


def test_the_order_of_the_classes_does_not_matter():
    turned = learnt("awm", classes=["b", "a"])

    assert recovery_error(turned, learnt("unbounded"), 2) == pytest.approx(1.0, abs=1e-6)
