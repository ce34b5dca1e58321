"""What every learner does, whatever its rule: each law is a function of the learner's name that asserts one claim.

Streams are small, so that all laws of all learners take about a minute with `NUMBA_DISABLE_JIT=1`. Laws of merging are
in `merging_laws`; both lists together are `LAWS` of `test_laws`.
"""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numba import config

from ouzel.layout import flat
from ouzel.learners import catalogue
from ouzel.model import persistence
from ouzel.model.model import Model
from ouzel.model.room import SMALLEST_TABLE, make_room, make_room_for
from ouzel.streams.block import Block

Law = Callable[[str], None]

ROWS, FEATURES = 40, 12
COMPILED = not config.DISABLE_JIT
CLOSE = {"rtol": 1e-6, "atol": 1e-9} if COMPILED else {"rtol": 1e-5, "atol": 1e-6}  # Python multiplies float32 as such

PRICELESS = ("pa", "romma", "aromma", "iellip", "iellip-full", "cw", "cw-full", "cw-variance", "cw-variance-full")
"""Learners that make every example right whatever it costs: an importance above 0 is like any other."""

UNSHARED = {"wm": {"width": 8192.0, "depth": 1.0}}
"""Settings with which no two features share a counter: else a mean predicts, and a median is told."""


def stream(rows: int = ROWS, classes: int = 2, scale: float = 1.0, seed: int = 0, heavy: bool = False) -> Block:
    """Sparse examples of a noisy rule, the same for every seed; some have no feature, and every class comes early.

    Values are normal, or now and then far larger than all before.
    """
    rng = np.random.default_rng(seed)
    X = rng.standard_t(1.2, size=(rows, FEATURES)) if heavy else rng.normal(size=(rows, FEATURES))
    X *= rng.random((rows, FEATURES)) < 0.4
    rule = np.random.default_rng(99).normal(size=(FEATURES, classes))
    labels = np.argmax(X @ rule + 0.5 * rng.normal(size=(rows, classes)), axis=1).astype(np.float64)
    labels[:classes] = np.arange(classes)
    offsets = np.concatenate([[0], np.cumsum((X != 0).sum(axis=1))]).astype(np.uint64)
    values = (X[X != 0] * scale).astype(np.float32)
    return Block(offsets, np.nonzero(X)[1].astype(np.uint32), values, labels, np.ones(rows, np.float32))


def model_of(name: str, *blocks: Block, **settings: object) -> Model:
    """A model that has learnt blocks."""
    model = Model(name, **settings)
    for block in blocks:
        model.learn(block)
    return model


def single(block: Block, i: int) -> tuple[np.ndarray, np.ndarray]:
    """Slots and values of one example, the constant's included, as models take them."""
    here = slice(int(block.offsets[i]), int(block.offsets[i + 1]))
    slots = np.concatenate([[0], block.indices[here] + 1]).astype(np.uint32)
    return slots, np.concatenate([[1.0], block.values[here]]).astype(np.float32)


def arrays_of(model: Model) -> list[np.ndarray]:
    """Every array of a model's states that its layout does not call scratch."""
    return [
        array
        for state, layout in zip(model.states, model.layouts(), strict=True)
        for (_, array), (_, part) in zip(flat(state), flat(layout), strict=True)
        if not part.scratch
    ]


def assert_same(one: Model, other: Model) -> None:
    """The same bits."""
    for first, second in zip(arrays_of(one), arrays_of(other), strict=True):
        np.testing.assert_array_equal(first, second)


def assert_alike(one: Model, other: Model, block: Block, **tolerance: float) -> None:
    """The same predictions, bar rounding."""
    np.testing.assert_allclose(one.margins(block), other.margins(block), **(tolerance or CLOSE))


def weights_of(model: Model) -> np.ndarray:
    """Weights (columns, FEATURES) by whichever way the learner tells them."""
    if not model.budgeted:
        return model.weights()[:, 1 : FEATURES + 1]
    if hasattr(model.module, "estimates"):
        slots = np.arange(1, FEATURES + 1, dtype=np.uint32)
        return np.stack(
            [model.module.estimates(state, slots, model.settings) for state in model.states[: model.columns]]
        )
    told = np.zeros((model.columns, FEATURES))
    for column, found in zip(told, model.top(FEATURES), strict=True):
        for feature, weight in found:
            column[feature] = weight
    return told


def with_importances(block: Block, *importances: float) -> Block:
    """The examples with these importances, over and over."""
    return block._replace(weights=np.resize(importances, block.rows).astype(np.float32))


def a_margin_told_by_learning_is_what_predicting_gives_just_before(name: str) -> None:
    for classes, heavy in itertools.product((2, 3), (False, True)):
        block = stream(classes=classes, heavy=heavy)
        model = Model(name, classes=range(classes))
        make_room(model, FEATURES - 1)
        told = []
        for start in range(block.rows):
            here = block.slice(start, start + 1)
            before, one = model.margins(here), model.margins_one(*single(here, 0))
            told.append(model.learn(here).margins)
            np.testing.assert_allclose(told[-1], before, **CLOSE)
            np.testing.assert_allclose(one, before.ravel(), **CLOSE)

        assert np.ptp(told) > 0.0


def predicting_changes_nothing(name: str) -> None:
    block, other = stream(classes=3), stream(classes=3, seed=1)
    model = model_of(name, block)
    before = [array.copy() for array in arrays_of(model)]

    first = model.margins(other)

    np.testing.assert_array_equal(first, model.margins(other))
    for one, now in zip(before, arrays_of(model), strict=True):
        np.testing.assert_array_equal(one, now)


def blocks_of_any_size_and_single_examples_teach_the_same(name: str) -> None:
    for classes in (2, 3):
        block = with_importances(stream(classes=classes), 1.0, 0.0, 2.0)
        whole, singles = model_of(name, block), Model(name)
        pieces = model_of(name, *(block.slice(a, b) for a, b in itertools.pairwise([0, 1, 9, 10, 33, ROWS])))
        make_room(singles, FEATURES - 1)
        for i in range(block.rows):
            singles.learn_one(*single(block, i), int(block.labels[i]), block.weights[i])

        assert whole.classes.known == pieces.classes.known == singles.classes.known == list(range(classes))
        assert whole.examples == pieces.examples == singles.examples == ROWS
        assert_same(whole, pieces)
        if COMPILED:
            assert_same(whole, singles)
        assert_alike(whole, singles, block)


def growing_early_is_growing_late(name: str) -> None:
    for classes in (2, 3):
        block = stream(rows=20, classes=classes)
        late = model_of(name, block)
        first = late.capacity
        wide = block._replace(indices=(SMALLEST_TABLE + 5 - np.arange(block.nonzeros)[::-1]).astype(np.uint32))
        early = Model(name)
        make_room_for(early, block)
        make_room_for(early, wide)
        early.learn(block)

        for model in (early, late):
            model.learn(wide)

        assert late.capacity == early.capacity > first
        assert_same(early, late)


def exchanging_the_classes_changes_the_sign(name: str) -> None:
    block, test = stream(), stream(seed=1)
    one = model_of(name, block, classes=[0, 1])
    swapped = model_of(name, block._replace(labels=1.0 - block.labels), classes=[0, 1])
    before = one.margins(test)

    np.testing.assert_allclose(-before, swapped.margins(test), **CLOSE)
    if not one.learner.multiclass:
        (state,) = one.states
        one.states = [one.module.swap_classes(state)]
        assert_alike(one, swapped, test)
        one.states = [one.module.swap_classes(one.states[0])]
        np.testing.assert_array_equal(one.margins(test), before)


def weights_times_features_are_the_prediction(name: str) -> None:
    """Of examples so short that no margin is clipped, and that they count for nothing in a metric."""
    for classes in (2, 3):
        block = stream(classes=classes)
        model = model_of(name, block, intercept=False, **UNSHARED.get(name, {}))
        short = block._replace(values=block.values * np.float32(1e-3))
        empty = Block(np.zeros(2, np.uint64), block.indices[:0], block.values[:0], np.zeros(1), np.ones(1, np.float32))
        told = weights_of(model)
        X = np.zeros((block.rows, FEATURES))
        for i in range(block.rows):
            slots, values = single(short, i)
            X[i, slots[1:] - 1] = values[1:]
        beside = model.margins(empty) if name == "awm-nce" else 0.0  # how often a class comes counts as well
        margins = model.margins(short) - beside

        np.testing.assert_allclose(1e3 * X @ told.T, 1e3 * margins.reshape(block.rows, -1), rtol=1e-4, atol=1e-4)


def an_example_of_importance_0_is_left_out(name: str) -> None:
    for classes in (2, 3):
        block = with_importances(stream(classes=classes, heavy=True), 0.0, 1.0, 0.0, 0.5, 2.0)
        heard = block.select(np.flatnonzero(block.weights))
        every, those_heard = (model_of(name, part, classes=range(classes)) for part in (block, heard))

        assert every.examples == ROWS
        assert_same(every, those_heard)


def importance_2_is_not_importance_1(name: str) -> None:
    """Of small ones, as some rules never step further than the importance times a constant."""
    block, test = stream(), stream(seed=1)
    one, two = (model_of(name, with_importances(block, *given)) for given in ([0.1], [0.2, 0.1, 0.1]))

    if name in PRICELESS:
        assert_same(one, two)
    else:
        assert not np.allclose(one.margins(test), two.margins(test), rtol=1e-3)


def what_is_saved_is_loaded_to_the_bit(name: str) -> None:
    for classes in (2, 3):
        block, more = stream(classes=classes), stream(classes=classes, seed=1)
        model = model_of(name, block)
        with tempfile.TemporaryDirectory() as folder:
            persistence.save(model, Path(folder, "model.ouzel"))
            loaded = persistence.load_model(Path(folder, "model.ouzel"))

        assert_same(model, loaded)
        for either in (model, loaded):
            either.learn(more)
        assert_same(model, loaded)


def no_finite_number_makes_a_nan(name: str) -> None:
    """A few of the streams that `test_extremes` tries."""
    usual = stream(rows=20)
    for scale in (1e-42, 1e19, 1e36):
        huge = with_importances(stream(rows=20, scale=scale, seed=1), 1.0, 1e9, 1e-30)
        model = model_of(name, usual, huge, classes=[0, 1])

        assert not any(np.isnan(array).any() for array in arrays_of(model) if array.dtype.kind == "f")
        assert np.isfinite(model.margins(usual)).all()
        assert np.isfinite(model.margins(huge)).all()


def what_was_learnt_is_known(name: str) -> None:
    for classes in (2, 3):
        block = stream(rows=100, classes=classes)
        margins = model_of(name, block, classes=range(classes)).margins(block)
        predicted = margins > 0 if classes == 2 else margins.argmax(axis=1)

        assert np.mean(predicted == block.labels) > 0.6


LAWS: tuple[Law, ...] = (
    a_margin_told_by_learning_is_what_predicting_gives_just_before,
    predicting_changes_nothing,
    blocks_of_any_size_and_single_examples_teach_the_same,
    growing_early_is_growing_late,
    exchanging_the_classes_changes_the_sign,
    weights_times_features_are_the_prediction,
    an_example_of_importance_0_is_left_out,
    importance_2_is_not_importance_1,
    what_is_saved_is_loaded_to_the_bit,
    no_finite_number_makes_a_nan,
    what_was_learnt_is_known,
)


def names_where(holds: Callable[[catalogue.Learner], bool]) -> list[str]:
    """Names of the learners of the catalogue of which something holds."""
    return [name for name, learner in catalogue.LEARNERS.items() if holds(learner)]
