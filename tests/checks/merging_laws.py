"""What merging the workers of any learner does: each law is a function of the learner's name, as in `laws`."""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import ouzel
from ouzel.learners.gains.parts import add
from ouzel.model import persistence, rounds
from ouzel.model.model import Model
from ouzel.model.rounds import merge_onto, untrained
from tests.checks.laws import Law, assert_alike, assert_same, model_of
from tests.checks.tasks import CLASSES, ROWS, TWO, Task, stream

ROUNDING = {"rtol": 1e-4, "atol": 1e-5}  # of single precision, summed in another order
LEAST = {"rtol": 2e-3, "atol": 2e-3}
"""Of learners that solve for what they keep, by inverses of matrices or of powers."""
SOLVED = (
    "adagrad-full",
    "adagrad-full-rda",
    "adagrad-block-rda",
    "ons-invariant",
    "auto",
    "son-oja",
    "son-fd",
    "son-rp",
)


def close(name: str) -> dict[str, float]:
    return LEAST if name in SOLVED or name.endswith("-full") else ROUNDING


def workers(name: str, *rows: int, task: Task = TWO) -> list[Model]:
    """Models that have learnt so many examples each, all of one rule."""
    blocks = (stream(rows=count, task=task, seed=seed) for seed, count in enumerate(rows))
    return [model_of(name, *([block] if block.rows else []), **task.settings()) for block in blocks]


def added(models: Sequence[Model]) -> Model:
    """What each of the models has learnt, added to an untrained one."""
    return merge_onto(untrained(models[0]), models)


def one_model_alone_stays_what_it_is(name: str, tasks: Sequence[Task] = CLASSES) -> None:
    for task in tasks:
        (model,) = workers(name, ROWS, task=task)

        assert_same(ouzel.merge([model]), model)
        assert_alike(added([model]), model, stream(task=task, seed=9), **close(name))


def a_worker_that_has_learnt_nothing_changes_nothing(name: str, tasks: Sequence[Task] = CLASSES) -> None:
    for task in tasks:
        (model,) = workers(name, ROWS, task=task)
        idle = Model(name, **task.settings())
        for pair in ([model, idle], [idle, model]):
            merged = ouzel.merge(pair)
            assert merged.examples == ROWS
            assert_same(merged, model)
            assert_alike(added(pair), model, stream(task=task, seed=9), **close(name))


def the_order_of_workers_does_not_matter(name: str, tasks: Sequence[Task] = CLASSES) -> None:
    for task in tasks:
        models = workers(name, 30, 50, 20, task=task)

        merged, turned = ouzel.merge(models), ouzel.merge(models[::-1])

        assert_alike(turned, merged, stream(task=task, seed=9), **close(name))


def every_worker_is_heard(name: str) -> None:
    models, test = workers(name, ROWS, ROWS), stream(seed=9)

    merged = ouzel.merge(models).margins(test)

    for model in models:
        for alone in (model, ouzel.merge([model, model])):
            assert not np.allclose(merged, alone.margins(test), rtol=1e-3)


def a_worker_counts_by_the_examples_it_has_learnt(name: str) -> None:
    (long, short), test = workers(name, 200, 2), stream(seed=9)
    margins = long.margins(test)

    moved = ouzel.merge([long, short]).margins(test) - margins

    assert np.linalg.norm(moved) < 0.25 * np.linalg.norm(margins)


def examples_add_up_over_any_number_of_rounds(name: str) -> None:
    first, second, third = workers(name, 10, 20, 30)

    merged = ouzel.merge([ouzel.merge([first, second]), third])
    merged.learn(stream(rows=5))
    merged = ouzel.merge([merged, first])

    assert merged.examples == 75
    for state in merged.states:
        assert not hasattr(state, "seen") or state.seen[0] == 75


def merging_is_one_round_of_workers(name: str, tasks: Sequence[Task] = CLASSES) -> None:
    for task in tasks:
        base, test = Model(name, **task.settings()), stream(task=task, seed=9)
        models = [copy.deepcopy(base) for _ in range(3)]
        for seed, (model, rows) in enumerate(zip(models, (30, 50, 20), strict=True)):
            model.learn(stream(rows=rows, task=task, seed=seed))

        merged, round_ = ouzel.merge(models), merge_onto(base, models)

        np.testing.assert_allclose(merged.margins(test), round_.margins(test), rtol=1e-9, atol=1e-12)


def a_tree_of_gains_is_one_merge(name: str) -> None:
    models = workers(name, 20, 30, 25, 15)
    base, shape = untrained(models[0]), rounds.common([rounds.shape_of(model) for model in models])
    one, two, three, four = (rounds.gains_of(base, model, shape) for model in models)

    tree = rounds.model_of(base, add(add(one, two), add(three, four)), shape)

    assert_alike(ouzel.merge(models), tree, stream(seed=9), **close(name))


def merged_shards_know_what_the_best_of_them_knows(name: str) -> None:
    models, test = workers(name, *[200] * 4), stream(rows=1000, seed=99)

    merged, *each = (np.mean((model.margins(test) > 0) == test.labels) for model in [ouzel.merge(models), *models])

    assert merged > max(each) - 0.02


def what_was_merged_is_saved_and_goes_on(name: str) -> None:
    models, more = workers(name, ROWS, 30), stream(seed=9)
    before = [copy.deepcopy(model) for model in models]
    merged = ouzel.merge(models)
    with tempfile.TemporaryDirectory() as folder:
        persistence.save(merged, Path(folder, "model.ouzel"))
        loaded = persistence.load_model(Path(folder, "model.ouzel"))

    for either in (merged, loaded):
        assert np.isfinite(either.learn(more).margins).all()
    assert_same(merged, loaded)
    for model, old in zip(models, before, strict=True):
        assert_same(model, old)


MERGING_LAWS: tuple[Law, ...] = (
    one_model_alone_stays_what_it_is,
    a_worker_that_has_learnt_nothing_changes_nothing,
    the_order_of_workers_does_not_matter,
    every_worker_is_heard,
    a_worker_counts_by_the_examples_it_has_learnt,
    examples_add_up_over_any_number_of_rounds,
    merging_is_one_round_of_workers,
    a_tree_of_gains_is_one_merge,
    merged_shards_know_what_the_best_of_them_knows,
    what_was_merged_is_saved_and_goes_on,
)

MERGING_LAWS_OF_TASKS: tuple[Law, ...] = (
    one_model_alone_stays_what_it_is,
    a_worker_that_has_learnt_nothing_changes_nothing,
    the_order_of_workers_does_not_matter,
    merging_is_one_round_of_workers,
)
"""Those of them that are crossed with tasks other than classes."""
