"""A state is what its layout says: made, grown, measured and checked by it."""

from typing import NamedTuple

import numpy as np
import pytest

from ouzel import layout
from ouzel.errors import OuzelError
from ouzel.layout import allocate, bytes_of, check_list, flat, float32, float64, made_from, restored, uint32
from ouzel.learners import catalogue
from ouzel.model.settings import resolve_settings


class Inner(NamedTuple):
    slots: np.ndarray


class State(NamedTuple):
    weight: np.ndarray
    metric: np.ndarray
    scale: np.ndarray
    inner: Inner
    work: np.ndarray


def of(dimension, settings=None):
    return State(
        weight=float32(dimension, 2, least=(0.0, -1.0)),
        metric=float64(dimension, dimension, diagonal=2.0),
        scale=float64(2, fill=(1.0, 0.0), most=(1.0, np.inf), finite=False),
        inner=Inner(uint32(dimension, most=dimension - 1)),
        work=float64(3, scratch=True),
    )


init, grow = made_from(of)


def sizes_of(name, dimension):
    return (dimension, 3) if catalogue.find(name).multiclass else (dimension,)


def test_a_new_state_holds_what_the_layout_says():
    state = init(2, None)

    assert state.weight.tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert state.metric.tolist() == [[2.0, 0.0], [0.0, 2.0]]
    assert state.scale.tolist() == [1.0, 0.0]
    assert [array.dtype for _, array in flat(state)] == [np.float32, np.float64, np.float64, np.uint32, np.float64]


def test_a_grown_state_holds_the_old_one_and_shares_what_need_not_grow():
    state = init(2, None)
    state.weight[:], state.metric[:], state.inner.slots[:] = 7.0, 8.0, 1

    grown = grow(state, 3, None)

    assert grown.weight.tolist() == [[7.0, 7.0], [7.0, 7.0], [0.0, 0.0]]
    assert grown.metric.tolist() == [[8.0, 8.0, 0.0], [8.0, 8.0, 0.0], [0.0, 0.0, 2.0]]
    assert grown.inner.slots.tolist() == [1, 1, 0]
    assert grown.scale is state.scale


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        (
            "weight",
            np.zeros((3, 2), np.float32),
            r"weight is float32 \(3, 2\), but .* float32 \(2, 2\)",
        ),
        ("weight", np.zeros((2, 2)), "weight is float64"),
        ("weight", np.array([[0.0, 0.0], [np.nan, 0.0]], np.float32), "weight holds what is not a number"),
        ("weight", np.array([[0.0, np.inf], [0.0, 0.0]], np.float32), "weight holds infinity"),
        ("weight", np.array([[0.0, 0.0], [0.0, -2.0]], np.float32), r"weight lies outside of \(0, -1\) to inf"),
        ("scale", np.array([2.0, 0.0]), r"scale lies outside of -1e\+130 to \(1, inf\)"),
        ("scale", np.array([1.0, np.nan]), "scale holds what is not a number"),
        ("inner.slots", np.array([0, 2], np.uint32), "inner.slots lies outside of 0 to 1"),
    ],
)
def test_arrays_that_are_no_state_are_refused(name, array, message):
    arrays = {**dict(flat(init(2, None))), name: array}

    with pytest.raises(OuzelError, match=message):
        restored(of(2), arrays)


@pytest.mark.parametrize("rows", [1, 255, 256, 257, 600])
def test_a_number_out_of_range_is_found_in_every_row_of_its_column(rows):
    wide = of(1)._replace(weight=float32(rows, 2, least=(0.0, -1.0)))
    sound = {**dict(flat(init(1, None))), "weight": np.tile(np.array([0.0, -1.0], np.float32), (rows, 1))}

    restored(wide, sound)

    for row in {0, rows // 2, rows - 1}:
        for wrong in (-0.5, np.nan):
            weight = sound["weight"].copy()
            weight[row, 0] = wrong
            with pytest.raises(OuzelError, match="weight"):
                restored(wide, {**sound, "weight": weight})


def test_a_state_that_lacks_an_array_is_refused():
    with pytest.raises(OuzelError, match="weight is missing"):
        restored(of(2), {})


def test_what_may_be_infinite_or_anything_passes():
    state = init(2, None)
    state.scale[1], state.work[:] = np.inf, np.nan

    assert restored(of(2), dict(flat(state))).scale[1] == np.inf


def test_more_than_the_memory_is_refused_before_it_is_taken():
    with pytest.raises(OuzelError, match="GiB, more than this machine has"):
        allocate(of(2**40))


def test_a_list_of_slots_names_each_marked_slot_once():
    marked = np.array([True, False, True])
    check_list(np.array([2, 0], np.uint32), marked, "slots")

    for slots in ([0], [0, 1], [0, 0], [0, 9]):
        with pytest.raises(OuzelError, match="slots do not fit"):
            check_list(np.array(slots, np.uint32), marked, "slots")


@pytest.mark.parametrize("name", catalogue.LEARNERS)
def test_every_learner_is_made_and_grown_by_its_layout(name):
    learner = catalogue.find(name)
    module, settings = learner.module, resolve_settings(learner, {})
    for dimension in (5, 33):
        expected = module.layout(*sizes_of(name, dimension), settings)

        for state in (
            module.init(*sizes_of(name, dimension), settings),
            module.grow(module.init(*sizes_of(name, 5), settings), *sizes_of(name, dimension), settings),
        ):
            restored(expected, dict(flat(state)))
            assert type(state) is type(expected)
            assert bytes_of(expected) == sum(array.nbytes for _, array in flat(state))
            getattr(module, "check", lambda state, settings: None)(state, settings)


def test_a_layout_takes_no_memory_whatever_the_size(monkeypatch):
    monkeypatch.setattr(layout.np, "zeros", None)
    for name in ("awm", "auto", "son-oja", "unbounded"):
        learner = catalogue.find(name)
        settings = resolve_settings(learner, {})
        settings = settings._replace(budget=2.0**60) if name == "awm" else settings

        shape = (2**50, 2) if learner.multiclass else (2**50,)
        assert bytes_of(learner.module.layout(*shape, settings)) > 2**50
