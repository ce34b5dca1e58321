"""Models of parts of a stream as one, whatever order they met the classes in."""

import numpy as np
import pytest

import ouzel
from ouzel.learners import catalogue


def worker(name, X, y, **options):
    model = ouzel.Model(name, **options)
    for block in ouzel.blocks_from(X, y):
        model.learn(block)
    return model


def data(classes, rows=90, features=6):
    rng = np.random.default_rng(classes)
    y = rng.integers(0, classes, rows)
    return rng.normal(size=(rows, features)).astype(np.float32) + np.eye(classes, features)[y] * 2, y


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", [name for name, learner in catalogue.LEARNERS.items() if name != "awm-nce"])
def test_workers_that_met_the_classes_in_another_order_agree(name, classes):
    X, y = data(classes)
    declared = list(range(classes)) if catalogue.find(name).multiclass else None
    parts = [worker(name, X[order], y[order], classes=declared) for order in (np.arange(90), np.arange(90)[::-1])]

    merged = ouzel.merge(parts)
    again = ouzel.merge([merged])

    assert merged.examples == 180
    assert sorted(merged.classes.known) == list(range(classes))
    block = next(ouzel.blocks_from(X, y))
    judged = merged.evaluate(block)
    chosen = judged.margins.argmax(axis=1) if classes > 2 else (judged.margins > 0).astype(int)
    assert (chosen == judged.targets).mean() > 0.7
    np.testing.assert_allclose(again.margins(block), merged.margins(block), rtol=1e-3, atol=1e-6)


def test_a_worker_that_saw_fewer_classes_and_features_merges():
    X, y = data(3)
    first = worker("adagrad-rda", X[y < 2][:, :3], y[y < 2])
    second = worker("adagrad-rda", X, y)

    merged = ouzel.merge([first, second])

    assert sorted(merged.classes.known) == [0, 1, 2]
    assert merged.weights().shape == (3, 7)


def test_sums_of_gradients_add_up():
    X, y = data(2)
    parts = [worker("adagrad-rda", X[k::2], y[k::2]) for k in range(2)]

    state = ouzel.merge(parts).states[0]

    assert state.seen[0] == 90


def test_models_of_different_kinds_are_refused():
    X, y = data(2)
    with pytest.raises(ouzel.OuzelError, match="the same learner"):
        ouzel.merge([worker("ogd", X, y), worker("adagrad", X, y)])
    with pytest.raises(ouzel.OuzelError, match="the same settings"):
        ouzel.merge([worker("ogd", X, y), worker("ogd", X, y, learning_rate=0.1)])
    with pytest.raises(ouzel.OuzelError, match="nothing to merge"):
        ouzel.merge([])


@pytest.mark.parametrize("declared", [(True, False), (False, True)])
@pytest.mark.parametrize("name", ["adagrad", "adagrad-rda", "auto", "awm"])
def test_a_worker_whose_classes_were_declared_merges_with_one_that_met_them(name, declared):
    X, y = data(3)
    first = [0, 1, 2, *y]  # so that both know the classes in one order
    X = np.vstack([X[[list(y).index(k) for k in range(3)]], X])
    parts = [worker(name, X, first, classes=[0, 1, 2] if known else None) for known in declared]

    merged = ouzel.merge(parts)

    block = next(ouzel.blocks_from(X, first))
    assert (merged.answers(block).labels == first).mean() > 0.7
    one_state = merged.learner.multiclass  # else one a class, and one for the next to come
    assert len(merged.states) == len(merged.layouts()) == (1 if one_state else 4)
    for late in ouzel.blocks_from(X[:40] + 9.0, ["late"] * 40):
        merged.learn(late)
    assert merged.classes.known == [0, 1, 2, "late"]


def test_workers_that_declared_different_classes_know_all_of_them_and_no_class_has_anothers_weights():
    X, y = data(4)
    parts = [
        worker("adagrad-rda", X[y != out], y[y != out], classes=[k for k in range(4) if k != out]) for out in (0, 3)
    ]

    merged = ouzel.merge(parts)

    block = next(ouzel.blocks_from(X, y))
    assert sorted(merged.classes.known) == [0, 1, 2, 3]
    assert (merged.evaluate(block).margins.argmax(axis=1) == merged.evaluate(block).targets).mean() > 0.7


def test_a_model_of_another_loss_is_of_other_settings():
    X, y = data(2)
    with pytest.raises(ouzel.OuzelError, match="the same settings"):
        ouzel.merge([worker("ogd", X, y, loss="hinge"), worker("ogd", X, y, loss="logistic")])
