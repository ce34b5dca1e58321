"""The default learner: its kernels are their oracles, units do not matter, and states fit their contracts."""

import copy

import numpy as np
import pytest

import ouzel
from ouzel.evaluation.progressive import progressive_validation
from ouzel.layout import flat
from ouzel.learners.auto import classification, newton_block, several_classes, standardisation
from ouzel.model.answers import probabilities
from ouzel.model.model import Model
from ouzel.model.room import make_room
from ouzel.model.rounds import merge_onto
from ouzel.streams.memory import blocks_from
from tests.oracles import auto as oracle


def stream(count, classes, seed, columns=5):
    """Raw columns: some far from 0, a constant, one of 0 and 1, and two that are mostly 0, one of them only later."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(count, columns))
    labels = (Z @ rng.normal(size=(columns, classes)) + 0.3 * rng.normal(size=(count, classes))).argmax(axis=1)
    X = Z * 10.0 ** np.arange(-2, columns - 2) + np.arange(columns) * 30.0
    rare = rng.normal(size=(count, 2)) * (rng.random((count, 2)) < 0.2)
    rare[: count // 25, 1] = rng.normal(size=count // 25)  # dense at first
    extra = np.column_stack([np.full(count, 7.0), rng.integers(0, 2, count), rare])
    return np.column_stack([X, extra]).astype(np.float32), labels


def with_constant(X):
    return np.column_stack([np.ones(len(X)), X.astype(float)])


def scores_of(model, X, y):
    return np.concatenate([model.learn(block).margins for block in blocks_from(X, y)])


def test_margins_of_two_classes_are_those_of_a_slow_transcription():
    X, y = stream(300, 2, seed=3)
    slow = oracle.TwoClasses(X.shape[1] + 1)

    expected = [slow.learn(x, place) for x, place in zip(with_constant(X), y, strict=True)]

    np.testing.assert_allclose(
        scores_of(Model("auto", classes=[0, 1], forms="raw"), X, y), expected, rtol=0.02, atol=0.02
    )


def test_margins_of_a_rare_class_are_those_of_a_slow_transcription():
    X, _ = stream(400, 2, seed=3)
    y = (np.argsort(np.argsort(X[:, 0] * 100.0 + X[:, 1] * 10.0)) >= 392).astype(int)  # 2 %
    slow = oracle.TwoClasses(X.shape[1] + 1)

    expected = [slow.learn(x, place) for x, place in zip(with_constant(X), y, strict=True)]

    found = scores_of(Model("auto", classes=[0, 1], forms="raw"), X, y)
    np.testing.assert_allclose(found, expected, rtol=0.02, atol=0.02)


def test_scores_of_several_classes_are_those_of_a_slow_transcription():
    X, y = stream(200, 4, seed=4)
    slow = oracle.SeveralClasses(X.shape[1] + 1, 4)

    expected = [slow.learn(x, place) for x, place in zip(with_constant(X), y, strict=True)]

    np.testing.assert_allclose(
        scores_of(Model("auto", classes=range(4), forms="raw"), X, y), expected, rtol=0.02, atol=0.02
    )


def test_predictions_of_numbers_are_those_of_a_slow_transcription():
    X, _ = stream(300, 2, seed=5)
    y = 1e4 + (X[:, 0] * 100.0 - X[:, 3]) * 50.0 + np.random.default_rng(0).normal(size=300)
    slow = oracle.Regression(X.shape[1] + 1)

    expected = [slow.learn(x, number) for x, number in zip(with_constant(X), y, strict=True)]

    np.testing.assert_allclose(scores_of(Model("auto", loss="squared", forms="raw"), X, y), expected, rtol=1e-4)


@pytest.mark.parametrize("classes", [2, 4])
def test_neither_units_nor_zeros_of_columns_matter(classes):
    X, y = stream(2000, classes, seed=6)
    X[:, 5:] = X[:, :4] + np.float32(np.arange(4))
    units, zeros = 10.0 ** np.linspace(-6, 6, X.shape[1]), np.linspace(-1e3, 1e3, X.shape[1]) * X.std(axis=0)

    error, moved = (
        progressive_validation(Model("auto"), blocks_from(each.astype(np.float32), y)).error_rate
        for each in (X, (X + zeros) * units)
    )

    assert moved == pytest.approx(error, abs=0.01)


def test_neither_the_unit_nor_the_zero_of_labels_matters():
    X, _ = stream(1000, 2, seed=7)
    y = X[:, 0] - X[:, 1] / 30.0 + np.random.default_rng(1).normal(size=1000)

    plain = scores_of(Model("auto", loss="squared"), X, y)
    moved = scores_of(Model("auto", loss="squared"), X, 1e6 * y + 4e6)

    np.testing.assert_allclose((moved - 4e6)[1:] / 1e6, plain[1:], rtol=1e-6, atol=1e-6)


def test_predictions_of_numbers_stay_in_the_range_of_the_labels_seen():
    X, _ = stream(400, 2, seed=8)
    y = np.random.default_rng(2).integers(3, 6, 400).astype(float)

    predicted = scores_of(Model("auto", loss="squared"), X, y)

    assert predicted[5:].min() >= 3.0
    assert predicted.max() <= 5.0


@pytest.mark.parametrize("classes", [2, 3])
def test_weights_of_raw_features_predict_what_the_model_predicts(classes):
    X, y = stream(3000, classes, seed=9)
    noisy = np.random.default_rng(0)
    y = np.where(noisy.random(3000) < 0.3, noisy.integers(0, classes, 3000), y)  # margins that need not be cut
    model = Model("auto", forms="raw")
    scores_of(model, X, y)
    mild = X[np.abs((X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9)).max(axis=1) < 2.0]
    block = next(blocks_from(mild, np.zeros(len(mild))))

    weighed = with_constant(mild) @ model.weights().T

    margins = model.margins(block)
    if classes == 2:
        weighed = weighed[:, 0]
    else:  # what is added to all scores of an example says nothing
        weighed, margins = (each - each.mean(axis=1, keepdims=True) for each in (weighed, margins))
    assert np.median(np.abs(weighed - margins)) < 0.15 * np.std(margins)
    assert np.corrcoef(weighed.ravel(), margins.ravel())[0, 1] > 0.98


def test_weights_of_numbers_are_in_the_units_of_labels_and_features():
    X, _ = stream(3000, 2, seed=10)
    y = 5e3 + 200.0 * X[:, 0] - 0.5 * X[:, 4]
    model = Model("auto", loss="squared")
    scores_of(model, X, y)

    weights = model.weights()[0]

    assert weights[1] == pytest.approx(200.0, rel=0.1)
    assert weights[5] == pytest.approx(-0.5, rel=0.1)


def test_features_turn_dense_and_rare_as_the_stream_has_it():
    X, y = stream(400, 2, seed=11)
    model = Model("auto")
    scores_of(model, X, y)

    dense = model.states[0].features.moments[:, standardisation.LARGEST] < 0.0

    assert dense[1:8].all()  # raw columns, the constant column, 0 and 1
    assert not dense[8:].any()


def test_a_third_class_finds_what_two_have_learnt():
    X, y = stream(1200, 3, seed=12)
    late = np.concatenate([np.flatnonzero(y[:600] < 2), np.arange(600, 1200)])
    X, y = X[late], y[late]

    model, declared = Model("auto"), Model("auto", classes=[0, 1, 2])
    first, second = (progressive_validation(each, blocks_from(X, y)).error_rate for each in (model, declared))

    assert first == pytest.approx(second, abs=0.03)


@pytest.mark.parametrize("classes", [2, 3])
def test_classes_in_another_order_are_merged_by_their_names(classes):
    X, y = stream(2400, classes, seed=13)
    one = Model("auto", classes=range(classes))
    scores_of(one, X, y)
    other = copy.deepcopy(one)
    turned = [1, 0] if classes == 2 else [2, 0, 1]
    other.classes.rename(turned)
    other.states = [classification.reorder(one.states[0], turned)]

    block = next(blocks_from(X, y))
    margins, others, merged = (model.margins(block) for model in (one, other, ouzel.merge([one, other])))

    np.testing.assert_allclose(-others if classes == 2 else others[:, [1, 2, 0]], margins)
    np.testing.assert_allclose(merged, margins, rtol=1e-2, atol=0.05)  # moments of twice as many examples


@pytest.mark.parametrize("task", ["two", "several", "numbers"])
def test_workers_in_other_units_of_moments_merge_to_a_model_as_good(task):
    X, y = stream(1200, 3 if task == "several" else 2, seed=14)
    settings = {"loss": "squared"} if task == "numbers" else {"classes": range(3 if task == "several" else 2)}
    y = 100.0 + X[:, 0] * 7.0 - X[:, 3] / 50.0 if task == "numbers" else y
    order = np.argsort(X[:, 2])  # workers see different means
    parts, whole = [Model("auto", **settings) for _ in range(2)], Model("auto", **settings)
    for part, here in zip(parts, (order[:600], order[600:]), strict=True):
        scores_of(part, X[np.sort(here)], y[np.sort(here)])
    scores_of(whole, X, y)

    block = next(blocks_from(X, y))
    found = [model.margins(block) for model in (ouzel.merge(parts), whole)]
    if task == "numbers":
        merged, alone = (np.sqrt(np.mean((margins - y) ** 2)) for margins in found)
        assert merged < max(2.0 * alone, 0.2 * y.std())
    else:
        wrong = [np.mean((m > 0 if m.ndim == 1 else m.argmax(axis=1)) != y) for m in found]
        assert wrong[0] < wrong[1] + 0.06


def test_single_examples_of_several_classes_teach_what_blocks_teach():
    X, y = stream(200, 4, seed=15)
    blocks, single = Model("auto"), Model("auto")
    make_room(single, X.shape[1] - 1)

    scores_of(blocks, X, y)
    for x, place in zip(X, y, strict=True):
        present = np.flatnonzero(x)
        slots = np.concatenate([[0], present + 1]).astype(np.uint32)
        single.learn_one(slots, np.concatenate([[1.0], x[present]]).astype(np.float32), int(place), np.float32(1.0))

    np.testing.assert_array_equal(single.weights(), blocks.weights())


def test_probabilities_of_several_classes_have_the_log_loss_that_was_reported():
    X, y = stream(400, 4, seed=16)
    model = Model("auto", classes=[0, 1, 2, 3])

    report = progressive_validation(model, blocks_from(X, y))
    shares = probabilities(model.loss, scores_of(Model("auto", classes=[0, 1, 2, 3]), X, y), joint=model.task.joint)

    assert report.log_loss == report.mean_loss
    assert report.log_loss == pytest.approx(-np.log(shares[np.arange(400), y]).mean())


def test_the_block_keeps_the_frequent_features_where_there_are_many():
    rng = np.random.default_rng(17)
    often = rng.random((600, 100)) < 0.5
    X = np.column_stack([rng.random((600, 100)) < 0.05, often]).astype(np.float32)
    model = Model("auto")

    scores_of(model, X, rng.integers(0, 2, 600))

    members = np.flatnonzero(model.states[0].places) - 1
    assert len(members) == newton_block.MOST
    assert np.isin(np.arange(100, 200), members).all()


def test_explicit_zeros_of_a_file_are_no_features():
    X, y = stream(100, 2, seed=18)
    model, written = Model("auto"), Model("auto")
    make_room(written, X.shape[1] - 1)
    scores_of(model, X, y)
    slots, values = np.arange(X.shape[1] + 1, dtype=np.uint32), with_constant(X).astype(np.float32)
    for row, place in zip(values, y, strict=True):
        written.learn_one(slots, row, int(place), np.float32(1.0))

    np.testing.assert_array_equal(written.weights(), model.weights())


def test_tasks_and_losses_find_their_module():
    names = {
        classification.module_for(model.task.name, model.loss).__name__.rpartition(".")[2]
        for model in (
            Model("auto"),
            Model("auto", loss="squared"),
            Model("auto", loss="hinge"),
            Model("auto", task="ranking"),
        )
    }

    assert names == {"classification", "regression", "ranking"}


def test_rounding_of_the_covariance_does_not_grow_while_it_forgets():
    X, y = stream(640, 2, seed=19)
    model = Model("auto", classes=[0, 1])
    scores_of(model, X, y)
    covariance = model.states[0].block.covariance
    covariance[3, 1] *= 1.0 + 1e-9  # what rounding may leave, and forgetting would multiply

    scores_of(model, X[:64], y[:64])

    np.testing.assert_array_equal(covariance, covariance.T)


@pytest.mark.parametrize("task", ["two", "several", "numbers"])
def test_a_matrix_that_is_not_a_covariance_is_forgotten(task):
    X, y = stream(200, 3 if task == "several" else 2, seed=20)
    settings = {"loss": "squared"} if task == "numbers" else {"classes": range(3 if task == "several" else 2)}
    model = Model("auto", **settings)
    scores_of(model, X, y.astype(float))
    model.states[0].block.covariance[1, 2] = model.states[0].block.covariance[2, 1] = 1e9

    margins = scores_of(model, X, y.astype(float))

    assert np.isfinite(margins).all()
    assert np.abs(model.states[0].block.covariance).max() < 1e3


@pytest.mark.parametrize("task", ["two", "several", "numbers"])
def test_what_predicts_may_be_read_only(task):
    X, y = stream(60, 3 if task == "several" else 2, seed=21)
    model = Model("auto", **({"loss": "squared"} if task == "numbers" else {}))
    scores_of(model, X, y.astype(float))
    block = next(blocks_from(X, y))
    margins = model.margins(block)
    for _, array in flat(model.states[0]):
        array.flags.writeable = False

    np.testing.assert_array_equal(model.margins(block), margins)


def test_scores_that_are_all_large_still_differ():
    X, y = stream(60, 3, seed=22)
    model = Model("auto", classes=[0, 1, 2])
    scores_of(model, X, y)
    state = model.states[0]
    state.table[:, list(several_classes.WEIGHTS)] = 0.0
    state.block.weights[:] = 0.0
    state.table[0, list(several_classes.WEIGHTS)] = (50.0, 56.0, 40.0)

    margins = model.margins(next(blocks_from(X, y)))

    assert (margins.argmax(axis=1) == 1).all()


def test_counts_of_classes_fade_are_exchanged_and_add_up_in_merges():
    X, y = stream(300, 2, seed=3)
    base = Model("auto", classes=[0, 1])
    scores_of(base, X[:100], y[:100])
    workers = [copy.deepcopy(base) for _ in range(2)]
    for worker, part in zip(workers, (slice(100, 200), slice(200, 300)), strict=True):
        scores_of(worker, X[part], y[part])

    merged = merge_onto(base, workers).states[0]

    np.testing.assert_array_equal(merged.counts, np.bincount(y))
    np.testing.assert_array_equal(classification.reorder(merged, [1, 0]).counts, np.bincount(y)[::-1])
    classification.fade(merged, 0.5, base.settings)
    np.testing.assert_array_equal(merged.counts, 0.5 * np.bincount(y))
