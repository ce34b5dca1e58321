"""What merging workers onto their base does: each law is a function of the learner's name, as in `laws`."""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ouzel.layout import flat
from ouzel.learners.gains.parts import Gains, add, sum_of
from ouzel.model import persistence
from ouzel.model.model import Model
from ouzel.model.rounds import Shape, common, gains_of, merge_onto, model_of, shape_of
from ouzel.streams.block import Block
from tests.checks.laws import Law, assert_alike, assert_same
from tests.checks.laws import model_of as trained
from tests.checks.merging_laws import close
from tests.checks.tasks import CLASSES, ROWS, THREE, TWO, Task, stream


def base_and_workers(name: str, *rows: int, task: Task = TWO) -> tuple[Model, list[Model]]:
    """A model, and models that have gone on from it by so many examples each."""
    base = trained(name, stream(rows=ROWS, task=task, seed=50), **task.settings())
    workers = [copy.deepcopy(base) for _ in rows]
    for seed, (worker, count) in enumerate(zip(workers, rows, strict=True)):
        if count:
            worker.learn(stream(rows=count, task=task, seed=seed))
    return base, workers


def parts_of(base: Model, workers: Sequence[Model]) -> tuple[list[Gains], Shape]:
    shape = common([shape_of(base), *map(shape_of, workers)])
    return [gains_of(base, worker, shape) for worker in workers], shape


def one_worker_merged_onto_its_base_is_that_worker(name: str, tasks: Sequence[Task] = CLASSES) -> None:
    for task in tasks:
        base, (worker,) = base_and_workers(name, 30, task=task)

        merged = merge_onto(base, [worker])

        assert merged.examples == worker.examples
        assert_alike(merged, worker, stream(task=task, seed=9), **close(name))


def a_worker_that_has_stood_still_changes_nothing(name: str) -> None:
    base, (worker, idle) = base_and_workers(name, 30, 0)
    block = stream(seed=9)

    for pair in ([worker, idle], [idle, worker]):
        assert_alike(merge_onto(base, pair), worker, block, **close(name))
    assert_alike(merge_onto(base, [idle, idle]), base, block, **close(name))


def gains_add_up_in_any_grouping(name: str, tasks: Sequence[Task] = CLASSES) -> None:
    for task in tasks:
        base, workers = base_and_workers(name, 30, 20, 10, 25, task=task)
        (one, two, three, four), shape = parts_of(base, workers)
        block = stream(task=task, seed=9)

        flat = model_of(base, sum_of([one, two, three, four]), shape)
        tree = model_of(base, add(add(one, two), add(three, four)), shape)
        turned = model_of(base, sum_of([four, three, two, one]), shape)

        assert_alike(tree, flat, block, **close(name))
        assert_alike(turned, flat, block, **close(name))


def merging_changes_neither_the_base_nor_the_workers(name: str) -> None:
    base, workers = base_and_workers(name, 30, 20)
    block = stream(seed=9)
    before = [model.margins(block) for model in (base, *workers)]

    merge_onto(base, workers)

    for model, margins in zip((base, *workers), before, strict=True):
        np.testing.assert_array_equal(model.margins(block), margins)


def the_examples_of_the_base_count_once(name: str) -> None:
    base, workers = base_and_workers(name, 30, 20, 10)
    model = base
    for _ in range(3):
        merged = merge_onto(base, workers)
        assert merged.examples == base.examples + 60
        base, workers = merged, [copy.deepcopy(merged) for _ in workers]
        for seed, (worker, rows) in enumerate(zip(workers, (30, 20, 10), strict=True)):
            worker.learn(stream(rows=rows, seed=seed))

    for state in base.states:
        assert not hasattr(state, "seen") or state.seen[0] == base.examples
    assert model.examples == ROWS


def a_merged_model_learns_on_as_any_other(name: str) -> None:
    """Its arrays have the shapes and types of a state, so that no kernel is compiled anew, and a file takes it."""
    base, workers = base_and_workers(name, 30, 20)
    merged = merge_onto(base, workers)

    for old, new in zip(base.states, merged.states, strict=True):
        for (_, one), (_, two) in zip(flat(old), flat(new), strict=True):
            assert (one.shape, one.dtype, one.flags.c_contiguous) == (two.shape, two.dtype, two.flags.c_contiguous)
    with tempfile.TemporaryDirectory() as folder:
        persistence.save(merged, Path(folder, "model.ouzel"))
        loaded = persistence.load_model(Path(folder, "model.ouzel"))
    for either in (merged, loaded):
        either.learn(stream(seed=10))
    assert_same(merged, loaded)
    assert np.isfinite(merged.margins(stream(seed=9))).all()


def classes_that_one_worker_alone_has_met_are_merged(name: str) -> None:
    base = trained(name, stream(seed=50))
    workers = [copy.deepcopy(base) for _ in range(2)]
    workers[0].learn(stream(seed=0))
    workers[1].learn(stream(task=THREE, seed=1))

    merged = merge_onto(base, workers)

    assert merged.classes.known == [0, 1, 2]
    assert merged.margins(stream(seed=9)).shape == (ROWS, 3)


def rounds_learn_the_rule(name: str) -> None:
    """Four workers, merged every 50 examples, get right what one pass gets right, or nearly so."""
    test = stream(rows=300, seed=99)
    whole, base = Model(name, classes=[0, 1]), Model(name, classes=[0, 1])
    for turn in range(6):
        blocks = [stream(rows=50, seed=4 * turn + k) for k in range(4)]
        workers = [copy.deepcopy(base) for _ in blocks]
        for block, worker in zip(blocks, workers, strict=True):
            whole.learn(block)
            worker.learn(block)
        base = merge_onto(base, workers)
    right = [np.mean((model.margins(test) > 0) == test.labels) for model in (whole, base)]

    assert right[1] > right[0] - 0.05


def merging_does_not_go_by_the_numbers_of_features(name: str) -> None:
    """Features far apart, as those of hashed names are, merge as if they lay side by side."""
    base, workers = base_and_workers(name, 30, 20)
    if base.budgeted:  # what shares a cell goes by the numbers
        return
    far = trained(name, _apart(stream(rows=ROWS, seed=50)), classes=range(2))
    others = [copy.deepcopy(far) for _ in workers]
    for seed, (worker, rows) in enumerate(zip(others, (30, 20), strict=True)):
        worker.learn(_apart(stream(rows=rows, seed=seed)))

    merged = merge_onto(far, others).margins(_apart(stream(seed=9)))

    np.testing.assert_allclose(merged, merge_onto(base, workers).margins(stream(seed=9)), **close(name))


def merging_writes_nothing_that_workers_have_sent(name: str) -> None:
    """An engine may hand out what it holds in memory that processes share, which cannot be written."""
    base, workers = base_and_workers(name, 30, 20)
    parts, shape = parts_of(base, workers)
    gains = sum_of(parts)
    _lock(gains)

    assert_same(model_of(base, gains, shape), model_of(base, gains, shape))


def _lock(gains: object) -> None:
    if isinstance(gains, np.ndarray):
        gains.flags.writeable = False
    elif isinstance(gains, (dict, tuple, list)):
        for part in gains.values() if isinstance(gains, dict) else gains:
            _lock(part)


def _apart(block: Block) -> Block:
    return block._replace(indices=block.indices * np.uint32(7) + np.uint32(3))


ROUNDS_LAWS: tuple[Law, ...] = (
    one_worker_merged_onto_its_base_is_that_worker,
    a_worker_that_has_stood_still_changes_nothing,
    gains_add_up_in_any_grouping,
    merging_changes_neither_the_base_nor_the_workers,
    the_examples_of_the_base_count_once,
    a_merged_model_learns_on_as_any_other,
    classes_that_one_worker_alone_has_met_are_merged,
    rounds_learn_the_rule,
    merging_does_not_go_by_the_numbers_of_features,
    merging_writes_nothing_that_workers_have_sent,
)

ROUNDS_LAWS_OF_TASKS: tuple[Law, ...] = (
    one_worker_merged_onto_its_base_is_that_worker,
    gains_add_up_in_any_grouping,
)
"""Those of them that are crossed with tasks other than classes."""
