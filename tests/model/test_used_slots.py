"""Learners forget at the cost of the slots that examples have used, with the bits of forgetting in all of them."""

import time

import numpy as np
import pytest

import ouzel
from ouzel.layout import allocate, flat
from ouzel.learners import protocol
from ouzel.learners.catalogue import LEARNERS
from ouzel.model import persistence, used_slots
from ouzel.model.model import Model
from ouzel.model.used_slots import UsedSlots, arrays_by_slot

FORGETFUL = [name for name, learner in LEARNERS.items() if isinstance(learner.module, protocol.Fading)]
WITH_MATRICES = ("full", "ons", "aioli")
ADAGRAD = {"l1": 1e-3, "learning_rate": 0.5}


def words(rows=240, classes=2, seed=0):
    """Dictionaries of a number and three of 200 words each, hashed among 2^12 slots, and labels."""
    rng = np.random.default_rng(seed)
    return [
        ({"x": float(rng.normal()), **{f"w{k}": 1.0 for k in rng.integers(200, size=3)}}, int(rng.integers(classes)))
        for _ in range(rows)
    ]


def learnt(examples, learner, block_rows=64, **how):
    how = {"bits": 12, "forget": 50.0, **how}
    model = Model(learner, **how)
    for block in ouzel.blocks_from(examples, bits=12, block_rows=block_rows):
        model.learn(block)
    return model


def forgetting_everywhere(self, model):
    """The oracle: all slots forget, whether examples have used them or not."""
    model.preparation.fade(model.module, model.states, model.settings)


def arrays(model):
    return [(name, array) for state in used_slots._states_of(model) for name, array in flat(state)]


@pytest.mark.parametrize("how", [{}, {"classes": range(3)}, {"loss": "squared"}, {"standardize": True}], ids=str)
@pytest.mark.parametrize("learner", [name for name in FORGETFUL if not name.endswith(WITH_MATRICES)])
def test_used_slots_forget_with_the_bits_of_all_slots(learner, how, monkeypatch):
    examples = words(classes=len(how.get("classes", range(2))))
    try:
        found = learnt(examples, learner, **how)
    except ouzel.OuzelError as error:
        pytest.skip(str(error))
    small = learnt(examples, learner, block_rows=7, **how)
    monkeypatch.setattr(UsedSlots, "fade", forgetting_everywhere)
    expected = learnt(examples, learner, **how)

    for model in (found, small):
        for (name, array), (_, other) in zip(arrays(model), arrays(expected), strict=True):
            assert np.array_equal(array, other), name


def test_penalties_are_owed_alike(monkeypatch):
    found = learnt(words(), "adagrad", **ADAGRAD)
    monkeypatch.setattr(UsedSlots, "fade", forgetting_everywhere)

    expected = learnt(words(), "adagrad", **ADAGRAD)

    assert np.array_equal(found.states[0].table, expected.states[0].table)


@pytest.mark.parametrize("learner", FORGETFUL)
@pytest.mark.parametrize("classes", [2, 3])
def test_a_slot_that_no_example_has_used_stays_as_it_is_at_first(learner, classes):
    model = Model(learner, classes=range(classes), bits=12, forget=50.0)
    before = [array.copy() for _, array in arrays(model)]

    model.preparation.fade(model.module, model.states, model.settings)

    names = {name for state in _layouts(model) for name in state}
    for (name, array), first in zip(arrays(model), before, strict=True):
        if name in names:
            assert np.array_equal(array, first), name


def _layouts(model):
    layouts = (used_slots._layouts_of(model, slots) for slots in (model.capacity, 2 * model.capacity))
    return [arrays_by_slot(*pair) for pair in zip(*layouts, strict=True)]


@pytest.mark.parametrize("learner", ["auto", "adagrad", "ftrl-proximal", "son-oja", "arow"])
def test_a_model_that_was_loaded_forgets_with_the_same_bits(learner, tmp_path):
    examples = words(400)
    whole = learnt(examples, learner)
    persistence.save(learnt(examples[:130], learner), tmp_path / "model")
    on = persistence.load_model(tmp_path / "model")

    for block in ouzel.blocks_from(examples[130:], bits=12):
        on.learn(block)

    for (name, array), (_, other) in zip(arrays(whole), arrays(on), strict=True):
        assert np.array_equal(array, other), name


def test_slots_are_noted_anew_where_the_state_grows():
    model = Model("adagrad", forget=16.0)
    for block in ouzel.blocks_from([({0: 1.0}, k % 2) for k in range(120)]):
        model.learn(block)
    before, capacity = model.used_slots._arrays, model.capacity
    for block in ouzel.blocks_from([({k: 1.0}, k % 2) for k in range(3000)]):
        model.learn(block)

    assert model.capacity > capacity
    assert model.used_slots._arrays is not before
    assert np.count_nonzero(model.used_slots._used) > 100


def test_a_state_whose_rows_are_all_different_forgets_whole():
    layout = LEARNERS["adagrad"].module.layout(4096, LEARNERS["adagrad"].module.Settings())
    table = allocate(layout).table
    table[:, 1] = np.arange(4096)

    assert used_slots._is_changed(table, layout.table).all()


def test_forgetting_costs_what_was_used_and_not_what_names_are_hashed_into():
    def seconds(bits):
        model = Model("auto", bits=bits, forget=50.0)
        (block,) = ouzel.blocks_from(words(600), bits=bits, block_rows=600)
        model.learn(block)
        start = time.process_time()
        model.learn(block)
        return time.process_time() - start

    assert min(seconds(18) for _ in range(3)) < 4.0 * min(seconds(10) for _ in range(3)) + 0.2
