"""What merging must not do, crossed with every learner of the catalogue."""

import copy

import numpy as np
import pytest

import ouzel
from ouzel.learners import catalogue
from ouzel.model.model import Model
from ouzel.streams.memory import blocks_from

every_learner = pytest.mark.parametrize("name", catalogue.LEARNERS)
FEATURES = 12


def data(rows, classes, seed):
    """Dense examples (rows, features) of a noisy rule, and their classes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, FEATURES)).astype(np.float32)
    rule = np.random.default_rng(0).normal(size=(FEATURES, classes))
    return X, (X @ rule + rng.normal(size=(rows, classes))).argmax(axis=1)


def learnt(name, rows, classes=2, seed=1, **settings):
    """A model of so many examples, with all classes declared."""
    model = Model(name, classes=range(classes), **settings)
    model.make_room(FEATURES - 1)
    for block in blocks_from(*data(rows, classes, seed)):
        model.learn(block)
    return model


def arrays_of(model):
    """Every array of a model's states, those of states in them as well."""
    waiting, found = list(model.states), []
    for part in waiting:
        (waiting.extend(part) if isinstance(part, tuple) else found.append(part))
    return found


def margins(model, classes=2):
    """What a model predicts for examples it has not seen."""
    return model.margins(next(blocks_from(*data(40, classes, seed=9))))


def merged_states(models):
    """A model whose states are what the learner's own `merge` makes of those of the models."""
    merged = copy.copy(models[0])
    pairs = zip(*(model.states for model in models), strict=True)
    merged.states = [merged.module.merge(list(alike), merged.settings) for alike in pairs]
    return merged


@every_learner
@pytest.mark.parametrize("classes", [2, 3])
def test_one_model_alone_stays_what_it_is(name, classes):
    model = learnt(name, 90, classes)

    alone = ouzel.merge([model])
    through_the_learner = merged_states([model])

    for one, other in zip(arrays_of(model), arrays_of(alone), strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_allclose(margins(through_the_learner, classes), margins(model, classes), rtol=1e-4, atol=1e-5)


@every_learner
def test_a_worker_that_has_learnt_nothing_changes_nothing(name):
    model, idle = learnt(name, 90), learnt(name, 0)

    both = ouzel.merge([model, idle]), ouzel.merge([idle, model])
    through_the_learner = merged_states([model, idle])

    for merged in both:
        assert merged.examples == 90
        for one, other in zip(arrays_of(model), arrays_of(merged), strict=True):
            np.testing.assert_array_equal(one, other)
    np.testing.assert_allclose(margins(through_the_learner), margins(model), rtol=1e-4, atol=1e-5)


@every_learner
def test_the_order_of_workers_does_not_matter(name):
    models = [learnt(name, rows, seed=rows) for rows in (60, 90, 30)]

    merged, turned = ouzel.merge(models), ouzel.merge(models[::-1])

    assert merged.examples == turned.examples == 180
    np.testing.assert_allclose(margins(turned), margins(merged), rtol=1e-4, atol=1e-5)


@every_learner
def test_every_worker_is_heard(name):
    first, second = learnt(name, 60, seed=2), learnt(name, 60, seed=3)

    merged = ouzel.merge([first, second])

    assert not np.allclose(margins(merged), margins(first), rtol=1e-3)
    assert not np.allclose(margins(merged), margins(second), rtol=1e-3)


@pytest.mark.parametrize("name", [name for name, learner in catalogue.LEARNERS.items() if learner.budgeted])
def test_a_worker_counts_by_the_examples_it_has_learnt(name):
    long, short = learnt(name, 2000, budget=1024.0), learnt(name, 2, seed=3, budget=1024.0)

    merged = ouzel.merge([long, short])

    np.testing.assert_allclose(margins(merged), margins(long), atol=0.05 * abs(margins(long)).max())
