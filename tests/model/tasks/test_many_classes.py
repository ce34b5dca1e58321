"""Many classes that are new in a block cost a few calls each, with the bits of one piece after the other."""

import numpy as np
import pytest

import ouzel
from ouzel.layout import flat
from ouzel.model.model import Model
from ouzel.model.tasks import classification
from ouzel.model.tasks.classification import OneAgainstRest


def examples(rows=300, classes=40, seed=0):
    rng = np.random.default_rng(seed)
    labels = [f"c{k}" for k in rng.integers(classes, size=rows)]
    return [({f"w{k}": 1.0 for k in rng.integers(50, size=3)}, label) for label in labels]


def raw(data, begin, seed=1):
    """The same with columns of unlike units, the largest of which are small before an example."""
    rng = np.random.default_rng(seed)
    units = [0.01, 1.0, 500.0]
    return [
        ({**row, **{f"x{k}": rng.normal(unit, unit) if i >= begin else 1.0 for k, unit in enumerate(units)}}, label)
        for i, (row, label) in enumerate(data)
    ]


def learnt(data, learner, block_rows=100, **how):
    model = Model(learner, bits=10, **how)
    parts = [model.learn(block) for block in ouzel.blocks_from(data, bits=10, block_rows=block_rows)]
    return model, parts


@pytest.mark.parametrize("how", [{}, {"standardize": True}, {"forget": 50.0}, {"class_weight": "balanced"}], ids=str)
@pytest.mark.parametrize("first", [0, 1, 5], ids=lambda first: f"{first} classes before")
def test_pieces_learnt_together_give_the_bits_of_pieces_one_by_one(how, first, monkeypatch):
    data = [({"w1": 1.0}, f"c{k}") for k in range(first)] + examples()
    together, outcomes = learnt(data, "adagrad", **how)
    small, _ = learnt(data, "adagrad", block_rows=3, **how)
    monkeypatch.setattr(classification, "MANY_NEW", 1 << 30)
    one_by_one, expected = learnt(data, "adagrad", **how)

    for model in (together, small):
        for state, other in zip(model.states, one_by_one.states, strict=True):
            assert all(np.array_equal(a, b) for (_, a), (_, b) in zip(flat(state), flat(other), strict=True))
    for outcome, other in zip(outcomes, expected, strict=True):
        assert np.array_equal(outcome.margins, other.margins)
        assert np.array_equal(outcome.losses, other.losses)


@pytest.mark.parametrize("learner", ["ogd", "adagrad", "hashing", "son-oja"])
@pytest.mark.parametrize("standardize", ["auto", True, False])
@pytest.mark.parametrize("begin", [0, 30, 150], ids=lambda begin: f"large values from {begin} on")
def test_so_do_those_of_features_in_unlike_units(learner, standardize, begin, monkeypatch):
    data, how = raw(examples(), begin), {"standardize": standardize}
    if learner == "hashing":
        how = {"standardize": "auto" if standardize is True else standardize}  # moments do not keep to a byte budget
    together, outcomes = learnt(data, learner, **how)
    small, _ = learnt(data, learner, block_rows=3, **how)
    monkeypatch.setattr(classification, "MANY_NEW", 1 << 30)
    one_by_one, expected = learnt(data, learner, **how)

    for model in (together, small):
        for state, other in zip(model.states, one_by_one.states, strict=True):
            assert all(np.array_equal(a, b) for (_, a), (_, b) in zip(flat(state), flat(other), strict=True))
    for outcome, other in zip(outcomes, expected, strict=True):
        assert np.array_equal(outcome.margins, other.margins)


def test_a_thousand_new_classes_take_a_few_thousand_calls(monkeypatch):
    data = [({"w1": 1.0}, f"c{k}") for k in range(1000)]
    calls = []
    learn = OneAgainstRest.learn_piece
    monkeypatch.setattr(OneAgainstRest, "learn_piece", lambda *given: calls.append(1) or learn(*given))

    model, _ = learnt(data, "adagrad", block_rows=1000)

    assert len(model.classes) == 1000
    assert len(calls) < 10
