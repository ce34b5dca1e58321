"""Models of parts of a stream as one, whatever order they met the classes in."""

import copy

import numpy as np
import pytest

import ouzel
from ouzel.learners import catalogue
from ouzel.model.rounds import merge_onto


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


@pytest.mark.parametrize(
    "name", ["auto", "adagrad", "ons", "son-oja", "son-fd", "son-rp", "sketched-adagrad", "bear", "awm"]
)
def test_a_merged_model_and_what_it_learns_next_do_not_depend_on_the_order_of_equal_workers(name):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 6)).astype(np.float32)
    y = (X[:, 0] * X[:, 1] + X[:, 2] + 0.3 * rng.normal(size=1200) > 0).astype(int)
    parts = [worker(name, X[start : start + 300], y[start : start + 300], classes=[0, 1]) for start in (0, 300, 600)]
    new = next(ouzel.blocks_from(X[900:], y[900:]))

    one, other = ouzel.merge(parts), ouzel.merge(parts[::-1])

    np.testing.assert_allclose(one.margins(new), other.margins(new), rtol=0, atol=1e-9)
    np.testing.assert_allclose(one.learn(new).margins, other.learn(new).margins, rtol=0, atol=1e-6)


def test_a_worker_that_saw_fewer_classes_and_features_merges():
    X, y = data(3)
    first = worker("adagrad-rda", X[y < 2][:, :3], y[y < 2])
    second = worker("adagrad-rda", X, y)

    merged = ouzel.merge([first, second])

    assert sorted(merged.classes.known) == [0, 1, 2]
    assert merged.weights().shape == (3, 7)


SUMS = {
    "adagrad-rda": ("table", "seen"),
    "rda": ("gradient_sum", "seen"),
    "adagrad-eager-rda": ("gradient_sum", "squared_sum", "seen"),
    "adagrad-full-rda": ("gradient_sum", "outer"),
    "adagrad-block-rda": ("gradient_sum", "outer", "seen"),
    "adagrad-multiclass": ("table", "seen"),
    "rda-multiclass": ("table", "seen"),
    "sop": ("table", "energy", "seen", "updates"),
    "sop-full": ("table", "seen", "updates"),
}
"""What of learners' states is a sum over examples."""
SAVED = ["ons", "ons-invariant"]  # whose sums are kept as what they solve to


def shards(name, count=4):
    X, y = data(2)
    return [worker(name, X[k::count], y[k::count], classes=[0, 1]) for k in range(count)]


@pytest.mark.parametrize("name", SUMS)
def test_what_is_a_sum_over_examples_adds_up(name):
    parts = shards(name)

    merged = ouzel.merge(parts)

    for part in SUMS[name]:
        start = 1.0 if part == "energy" else 0.0
        added = start + sum(getattr(model.states[0], part) - start for model in parts)
        np.testing.assert_allclose(getattr(merged.states[0], part), added, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", [*SUMS, *SAVED])
def test_a_tree_of_merged_models_is_one_merge_where_states_are_sums(name):
    parts = shards(name)
    block = next(ouzel.blocks_from(*data(2)))

    tree = ouzel.merge([ouzel.merge(parts[:2]), ouzel.merge(parts[2:])])

    np.testing.assert_allclose(tree.margins(block), ouzel.merge(parts).margins(block), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", SUMS)
def test_sums_of_workers_that_went_on_from_a_trained_model_are_averaged_for_they_would_overshoot(name):
    """As many steps as there are workers go by the same error otherwise: the margin grows with them."""
    X, y = data(2, rows=3000)
    base = worker(name, X[:1500], y[:1500], classes=[0, 1])
    workers = [copy.deepcopy(base) for _ in range(16)]
    for k, model in enumerate(workers):
        for block in ouzel.blocks_from(X[1500 + k :: 16], y[1500 + k :: 16]):
            model.learn(block)
    block = next(ouzel.blocks_from(X[:300], y[:300]))
    sizes = [np.linalg.norm(model.margins(block)) for model in workers]

    assert np.linalg.norm(merge_onto(base, workers).margins(block)) < 1.2 * max(sizes)


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


@pytest.mark.parametrize("name", ["auto", "adagrad", "arow"])
def test_a_class_that_is_a_word_of_one_worker_and_a_truth_value_of_another_is_one_class(name):
    X, y = data(2)
    truths = y == 1
    words = worker(name, X, [str(truth) for truth in truths])
    values = worker(name, X[::-1], [bool(truth) for truth in truths[::-1]])

    merged = ouzel.merge([words, values])

    assert merged.classes.known == words.classes.known
    expected = ouzel.merge([words, worker(name, X[::-1], [str(truth) for truth in truths[::-1]])])
    np.testing.assert_array_equal(merged.weights(), expected.weights())
