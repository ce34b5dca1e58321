"""What every learner does, whatever its rule: each law is a function of the learner's name that asserts one claim.

Streams are small, so that all laws of all learners take about a minute with `NUMBA_DISABLE_JIT=1`. A law that takes
tasks holds for each of them: of two and of three classes unless told. Laws of merging are in `merging_laws` and
`rounds_laws`, those of long streams in `long_laws`; `test_laws` crosses all with the catalogue.
"""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numba import config

from ouzel.layout import flat
from ouzel.learners import catalogue
from ouzel.model import persistence
from ouzel.model.model import Model
from ouzel.model.room import SMALLEST_TABLE, make_room, make_room_for
from ouzel.streams.block import Block
from tests.checks.tasks import CLASSES, FEATURES, ROWS, THREE, Task, stream

Law = Callable[..., None]

COMPILED = not config.DISABLE_JIT
CLOSE = {"rtol": 1e-6, "atol": 1e-9} if COMPILED else {"rtol": 1e-5, "atol": 1e-6}  # Python multiplies float32 as such

PRICELESS = ("pa", "romma", "aromma", "iellip", "iellip-full", "cw", "cw-full", "cw-variance", "cw-variance-full")
"""Learners that make every example right whatever it costs: an importance above 0 is like any other."""

UNSHARED = {"wm": {"width": 8192.0, "depth": 1.0}}
"""Settings with which no two features share a counter: else a mean predicts, and a median is told."""


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


def a_margin_told_by_learning_is_what_predicting_gives_just_before(name: str, tasks: Sequence[Task] = CLASSES) -> None:
    for task, heavy in itertools.product(tasks, (False, True)):
        block = stream(task=task, heavy=heavy)
        model = task.model(name)
        make_room(model, FEATURES - 1)
        model.preparation.looks = heavy  # set by what reads single examples, at the first value beyond the limit
        told = []
        for start in range(block.rows):
            here = block.slice(start, start + 1)
            before, one = model.margins(here), model.margins_one(*single(here, 0))
            told.append(model.learn(here).margins)
            np.testing.assert_allclose(told[-1], before, **CLOSE)
            np.testing.assert_allclose(one, before.ravel(), **CLOSE)

        assert np.ptp(told) > 0.0


def predicting_changes_nothing(name: str, tasks: Sequence[Task] = (THREE,)) -> None:
    for task in tasks:
        block, other = stream(task=task), stream(task=task, seed=1)
        model = model_of(name, block, **task.settings(known=False))
        before = [array.copy() for array in arrays_of(model)]

        first = model.margins(other)

        np.testing.assert_array_equal(first, model.margins(other))
        for one, now in zip(before, arrays_of(model), strict=True):
            np.testing.assert_array_equal(one, now)


def blocks_of_any_size_and_single_examples_teach_the_same(name: str, tasks: Sequence[Task] = CLASSES) -> None:
    for task in tasks:
        block, settings = with_importances(stream(task=task), 1.0, 0.0, 2.0), task.settings(known=False)
        whole = model_of(name, block, **settings)
        pieces = model_of(name, *task.cut(block, 1, 9, 10, 33), **settings)

        assert whole.classes.known == pieces.classes.known == list(range(task.classes))
        assert whole.examples == pieces.examples == ROWS
        assert_same(whole, pieces)
        if task.groups:
            continue  # that is all that can be learnt
        singles = Model(name, **settings)
        make_room(singles, FEATURES - 1)
        for i in range(block.rows):
            label = int(block.labels[i]) if task.classes else block.labels[i]
            singles.learn_one(*single(block, i), label, block.weights[i])

        assert (singles.classes.known, singles.examples) == (whole.classes.known, ROWS)
        if COMPILED:
            assert_same(whole, singles)
        assert_alike(whole, singles, block)


def growing_early_is_growing_late(name: str, tasks: Sequence[Task] = CLASSES) -> None:
    for task in tasks:
        block = stream(rows=20, task=task)
        late = model_of(name, block, **task.settings(known=False))
        first = late.capacity
        wide = block._replace(indices=(SMALLEST_TABLE + 5 - np.arange(block.nonzeros)[::-1]).astype(np.uint32))
        early = Model(name, **task.settings(known=False))
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


def weights_times_features_are_the_prediction(name: str, tasks: Sequence[Task] = CLASSES) -> None:
    """Of examples so short that no margin is clipped, and that they count for nothing in a metric."""
    for task in tasks:
        block = stream(task=task)
        model = model_of(name, block, intercept=False, **UNSHARED.get(name, {}), **task.settings(known=False))
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


def an_example_of_importance_0_is_left_out(name: str, tasks: Sequence[Task] = CLASSES) -> None:
    for task in tasks:
        block = with_importances(stream(task=task, heavy=True), 0.0, 1.0, 0.0, 0.5, 2.0)
        heard = block.select(np.flatnonzero(block.weights))
        every, those_heard = (model_of(name, part, **task.settings()) for part in (block, heard))

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


def what_is_saved_is_loaded_to_the_bit(name: str, tasks: Sequence[Task] = CLASSES) -> None:
    for task in tasks:
        block, more = stream(task=task), stream(task=task, seed=1)
        model = model_of(name, block, **task.settings(known=False))
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
    for scale, standardize in itertools.product((1e-42, 1e19, 1e36), ("auto", False)):
        huge = with_importances(stream(rows=20, scale=scale, seed=1), 1.0, 1e9, 1e-30)
        model = model_of(name, usual, huge, classes=[0, 1], standardize=standardize)

        assert not any(np.isnan(array).any() for array in arrays_of(model) if array.dtype.kind == "f")
        assert np.isfinite(model.margins(usual)).all()
        assert np.isfinite(model.margins(huge)).all()


def what_was_learnt_is_known(name: str, tasks: Sequence[Task] = CLASSES) -> None:
    for task in tasks:
        block = stream(rows=100, task=task)
        margins = model_of(name, block, **task.settings()).margins(block)
        if not task.classes:
            assert np.corrcoef(margins, block.labels)[0, 1] > (0.2 if task.groups else 0.4)  # of grades 0 and 1
            continue
        predicted = margins > 0 if task.classes == 2 else margins.argmax(axis=1)

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


LAWS_OF_TASKS: tuple[Law, ...] = (
    predicting_changes_nothing,
    blocks_of_any_size_and_single_examples_teach_the_same,
    what_is_saved_is_loaded_to_the_bit,
    what_was_learnt_is_known,
)
"""Those of them that are crossed with ranking and with numbers."""
LAWS_OF_NUMBERS: tuple[Law, ...] = (
    a_margin_told_by_learning_is_what_predicting_gives_just_before,
    growing_early_is_growing_late,
    weights_times_features_are_the_prediction,
    an_example_of_importance_0_is_left_out,
)
"""Those that are crossed with numbers alone: pairs to rank are drawn, and have no importance."""


def names_where(holds: Callable[[catalogue.Learner], bool]) -> list[str]:
    """Names of the learners of the catalogue of which something holds."""
    return [name for name, learner in catalogue.LEARNERS.items() if holds(learner)]
