"""l1 (section 6.1), rates per feature and cells of 8 and 16 bits (section 9) in WM-Sketch and AWM-Sketch."""

import itertools
import typing

import numpy as np
import pytest

import ouzel
from ouzel.layout import allocate
from ouzel.learners import catalogue
from ouzel.learners.budget import awm, awm_extended, extensions, wm, wm_extended
from ouzel.learners.budget.settings import SHARED
from ouzel.model.model import Model
from ouzel.sketches import cells
from tests.checks.laws import LAWS, UNSHARED, assert_same
from tests.checks.merging_laws import (
    MERGING_LAWS,
    a_worker_that_has_learnt_nothing_changes_nothing,
    one_model_alone_stays_what_it_is,
)
from tests.checks.tasks import stream as examples
from tests.learners.budget.test_weight_median import SLOTS, follow, stream
from tests.learners.streams import learn, row, sparse_rows
from tests.oracles.weight_median import ExtendedActiveSet, ExtendedWeightMedian

EXTENSIONS = [{"l1": 0.02}, {"per_feature": True}, {"l1": 0.005, "per_feature": True, "l2": 0.1}, {"l1": 0.02, "l2": 2}]


@pytest.mark.interpreted
@pytest.mark.parametrize("given", EXTENSIONS, ids=str)
@pytest.mark.parametrize(("width", "depth"), [(64, 1), (32, 3)])
def test_wm_shrinks_by_l1_in_each_round_and_steps_by_squared_gradients(width, depth, given):
    rows, y = stream()
    settings = wm.Settings(width=float(width), depth=float(depth), **given)
    state, margins = learn(wm_extended, rows, y, 0, settings)
    oracle = ExtendedWeightMedian(width, depth, state.cells.tables, **given)
    expected = follow(oracle, rows, y)

    np.testing.assert_allclose(margins, expected, atol=5e-5)
    found = wm_extended.estimates(state, SLOTS, settings)
    np.testing.assert_allclose(found, [oracle.query(i) for i in SLOTS], atol=5e-5)


@pytest.mark.interpreted
@pytest.mark.parametrize("given", EXTENSIONS, ids=str)
@pytest.mark.parametrize(("size", "width", "depth"), [(20, 64, 1), (20, 32, 3)])
def test_awm_shrinks_by_l1_in_each_round_and_steps_by_squared_gradients(size, width, depth, given):
    rows, y = stream()
    settings = awm.Settings(heap_size=float(size), width=float(width), depth=float(depth), **given)
    state, margins = learn(awm_extended, rows, y, 0, settings)
    oracle = ExtendedActiveSet(size, width, depth, state.cells.tables, **given)
    expected = follow(oracle, rows, y)

    np.testing.assert_allclose(margins, expected, atol=5e-5)
    weights = [oracle.active.get(i, oracle.query(i)) for i in SLOTS.tolist()]
    np.testing.assert_allclose(awm_extended.estimates(state, SLOTS, settings), weights, atol=5e-5)
    assert len(oracle.evicted) > 20


@pytest.mark.parametrize(("plain", "extended"), [(wm, wm_extended), (awm, awm_extended)])
def test_without_anything_asked_for_they_are_the_learners_that_they_extend(plain, extended):
    rows, y = stream()
    settings = plain.Settings(heap_size=20.0, width=32.0, depth=3.0, l2=0.1)
    _, expected = learn(plain, rows, y, 0, settings)

    _, margins = learn(extended, rows, y, 0, settings)

    np.testing.assert_allclose(margins, expected, atol=2e-5)


@pytest.mark.parametrize(("plain", "extended"), [(wm, wm_extended), (awm, awm_extended)])
def test_what_is_owed_is_paid_before_digits_are_lost(plain, extended):
    rows, y = sparse_rows(2000, 200, 6, 3)
    settings = plain.Settings(heap_size=20.0, width=64.0, depth=1.0, l1=0.02)
    state, _ = learn(extended, rows, y, 0, settings)

    assert state.cells.grid[1] <= max(extensions.ENOUGH, extensions.ROUNDS * 0.1 * 0.02)
    assert state.scale[1] * 0.1 * 0.02 > extensions.ENOUGH  # so that some was paid


@pytest.mark.parametrize("name", ["wm", "awm"])
def test_a_stronger_l1_leaves_fewer_cells(name):
    rows, y = stream()
    counts = []
    for l1 in (1e-6, 1e-3, 1e-2, 1e-1):
        model = Model(name, l1=l1, heap_size=8.0, width=128.0, depth=1.0)
        state, _ = learn(model.module, rows, y, 0, model.settings)
        counts.append(np.count_nonzero(extended_table(state)))

    assert counts == sorted(counts, reverse=True)
    assert counts[-1] < counts[0] / 4


def extended_table(state):
    """The sketch's counters as they read."""
    return cells.table(state.cells)


@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize("name", ["wm", "awm"])
def test_small_cells_predict_nearly_what_whole_ones_do(name, bits):
    rows, y = sparse_rows(3000, 200, 6, 2)
    sizes = {"heap_size": 10.0, "width": 256.0, "depth": 1.0}
    models = [Model(name, cell_bits=float(b), **sizes) for b in (32, bits)]
    (_, whole), (state, small) = (learn(model.module, rows, y, 0, model.settings) for model in models)

    assert state.cells.numbers.itemsize * 8 == bits
    spread = np.std(whole[-1000:])
    assert np.sqrt(np.mean((small - whole)[-1000:] ** 2)) < (0.2 if bits == 8 else 0.01) * spread


@pytest.mark.parametrize("bits", [8, 16])
def test_rounding_is_right_in_the_mean(bits):
    key, found = np.uint32(5), []
    for seed in range(400):
        state = allocate(cells.layout(4, 1, bits))
        cells.begin(state, seed)
        cells.update(state, key, np.float32(1.0))  # sets the unit
        for _ in range(20):
            cells.update(state, key, np.float32(0.3 * state.grid[0]))
        found.append((cells.query(state, key) - 1.0) / state.grid[0])

    assert np.mean(found) == pytest.approx(6.0, abs=0.5)


FAST = {"per_feature": True, "learning_rate": 0.5}  # so few examples would not move such steps far
GIVEN = [{"l1": 1e-3}, FAST, {"cell_bits": 8.0}, {"cell_bits": 16.0, **FAST}]
ROUNDED = (one_model_alone_stays_what_it_is, a_worker_that_has_learnt_nothing_changes_nothing)
"""Laws that hold but for the rounding of small cells, where what was learnt is added to an untrained model."""


def _crossed():
    for name, given, law in itertools.product(("wm", "awm"), GIVEN, (*LAWS, *MERGING_LAWS)):
        if not ("cell_bits" in given and law in ROUNDED):
            yield pytest.param(name, given, law, id=f"{name}-{given}-{law.__name__}")


@pytest.mark.interpreted
@pytest.mark.parametrize(("name", "given", "law"), list(_crossed()))
def test_law(monkeypatch, name, given, law):
    preset = {"budget": 1024.0, **given}
    entry = catalogue.find(name)._replace(name="extended", preset=tuple(preset.items()))
    monkeypatch.setitem(catalogue.LEARNERS, "extended", entry)
    if name in UNSHARED:
        monkeypatch.setitem(UNSHARED, "extended", {**UNSHARED[name], "width": 1024.0})

    law("extended")


@pytest.mark.interpreted
@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize("name", ["wm", "awm"])
def test_small_cells_of_one_model_alone_or_beside_idle_ones_are_not_rounded_again(name, bits):
    model, idle = (Model(name, budget=1024.0, cell_bits=float(bits), classes=[0, 1]) for _ in range(2))
    model.learn(examples())

    for models in ([model], [model, idle], [idle, model]):
        assert_same(ouzel.merge(models), model)


@pytest.mark.parametrize("given", GIVEN, ids=str)
@pytest.mark.parametrize("name", ["wm", "awm"])
def test_a_budget_holds_and_is_used(name, given):
    for budget in (1024.0, 4096.0, 8192.0, 40000.0):
        used = Model(name, budget=budget, classes=[0, 1], **given).bytes_used

        assert 0.85 * budget <= used <= budget


def test_more_cells_fit_where_they_are_smaller():
    sizes = [awm.configure(awm.Settings(budget=8192.0, cell_bits=bits))[1] for bits in (32.0, 16.0, 8.0)]
    rows = [wm.configure(wm.Settings(budget=8192.0, cell_bits=bits))[1:] for bits in (32.0, 16.0, 8.0)]

    assert sizes == [1024, 2048, 4096]
    assert rows == [(224, 8), (448, 8), (896, 8)]


def test_what_does_not_go_together_is_refused():
    for name, given, message in [
        ("awm", {"cell_bits": 12}, "cell_bits must be 8, 16 or 32; got 12"),
        ("awm", {"cell_bits": 8, "l1": 0.1}, "l1 takes cells of 32 bits"),
        ("wm", {"per_feature": True, "averaging": True}, "averaging does not go with"),
        ("wm", {"cell_bits": 16, "radius": 1.0}, "radius does not go with"),
    ]:
        with pytest.raises(ouzel.OuzelError, match=message):
            Model(name, **given)


@pytest.mark.parametrize("module", [wm, wm_extended, awm, awm_extended], ids=lambda module: module.__name__)
def test_the_common_loop_is_cached_as_part_of_the_learner_that_it_is_made_for(module):
    """Kernels are stamped with the sources of their module: that of the loop alone would miss what is compiled in."""
    assert module.learn_row.__module__ == module.__name__
    assert module.learn_rows.__module__ == module.__name__


@pytest.mark.parametrize(("plain", "extended"), [(wm, wm_extended), (awm, awm_extended)])
def test_a_learner_and_its_extension_have_one_class_of_settings(plain, extended):
    assert extended.Settings is plain.Settings


def test_settings_that_budgeted_learners_share_are_declared_alike():
    for name, learner in catalogue.LEARNERS.items():
        if learner.module_name.startswith("budget."):
            kind = learner.settings
            shared = [field for field in kind._fields if field in SHARED]

            assert shared == [field for field in SHARED if field in kind._fields], name
            for field in set(shared) - {"budget", "heap_size"}:
                hint, default = SHARED[field]
                assert typing.get_type_hints(kind, include_extras=True)[field] == hint, (name, field)
                assert kind._field_defaults[field] == default, (name, field)


def test_rows_are_learnt_alike_whatever_block_they_come_in():
    rows, y = stream(60)
    settings = awm.Settings(heap_size=8.0, width=32.0, cell_bits=8.0)
    whole, _ = learn(awm_extended, rows, y, 0, settings)
    single = awm_extended.init(0, settings)
    for i, label in enumerate(y):
        awm_extended.learn_row(single, *row(rows, i), label, np.float32(1.0), settings)

    np.testing.assert_array_equal(whole.cells.numbers, single.cells.numbers)
    np.testing.assert_array_equal(whole.cells.random, single.cells.random)
