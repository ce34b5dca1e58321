"""The default's four models for ranking and other losses, and that the default is good."""

import numpy as np
import pytest

import ouzel
from ouzel.evaluation.progressive import progressive_validation
from ouzel.learners.auto import other_losses
from ouzel.learners.rows import Rows
from ouzel.model.model import Model
from ouzel.streams.memory import blocks_from
from ouzel.streams.read import read
from ouzel.terms.losses import Hinge, Logistic, Squared, SquaredHinge, derivative
from tests.oracles import stacked_rates as oracle


def stream(count, dimension, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, dimension)).astype(np.float32)
    return X, np.where(X @ rng.normal(size=dimension) + 0.3 * rng.normal(size=count) > 0, 1.0, -1.0)


def classes_of(count, dimension, classes, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, dimension)).astype(np.float32).astype(float)
    return X, (X @ rng.normal(size=(dimension, classes))).argmax(axis=1)


def scores_of(model, X, y):
    return np.concatenate([model.learn(block).margins for block in blocks_from(X, y)])


def margins_of(X, y, settings):
    n, d = X.shape
    rows = Rows(np.arange(0, n * d + 1, d).astype(np.uint64), np.tile(np.arange(d, dtype=np.uint32), n), X.ravel())
    state, margins = other_losses.init(d, settings), np.empty(n)
    other_losses.learn_rows(state, rows, y, np.ones(n, np.float32), settings, margins)
    return margins


def oracle_models(dimension):
    losses = (Logistic(), SquaredHinge(), Hinge(), Hinge())
    slopes = [lambda margin, target, loss=loss: derivative(loss, margin, target) for loss in losses]
    return oracle.Models(dimension, slopes, other_losses.RATES, safe=(True, True, True, False))


def test_margins_are_those_of_a_slow_transcription():
    X, y = stream(200, 5, seed=3)
    models, stack = oracle_models(5), oracle.Stack(4)

    expected = [stack.learn_two(models.learn(x.astype(float), target), target) for x, target in zip(X, y, strict=True)]

    np.testing.assert_allclose(margins_of(X, y, other_losses.Settings()), expected, rtol=0.02, atol=0.02)


def test_other_losses_keep_a_stack_for_each_class():
    X, y = classes_of(300, 5, 3, seed=7)
    model = Model("auto", loss="squared-hinge")

    error = progressive_validation(model, blocks_from(X, y)).error_rate

    assert error < 0.3
    assert not np.array_equal(model.states[0].stack, model.states[1].stack)


def test_the_unit_of_a_feature_does_not_matter():
    X, y = stream(500, 6, seed=0)
    units = np.float32(2.0) ** np.array([-20, -3, 0, 4, 10, 15])

    settings = other_losses.Settings()

    np.testing.assert_allclose(margins_of(X, y, settings), margins_of(X * units, y, settings), rtol=1e-4, atol=1e-4)


def test_the_unit_of_the_target_does_not_matter():
    X, y = stream(400, 4, seed=1)
    settings = other_losses.Settings(loss=Squared(), second_loss=Squared(), third_loss=Squared())

    np.testing.assert_allclose(
        1024.0 * margins_of(X, y, settings), margins_of(X, 1024.0 * y, settings), rtol=1e-3, atol=0.5
    )


def test_a_new_class_starts_from_what_every_unseen_class_has_learnt():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(900, 5))
    y = (X @ rng.normal(size=(5, 4))).argmax(axis=1)
    late = Model("auto")
    declared = Model("auto", classes=[0, 1, 2, 3])

    first, second = (progressive_validation(model, blocks_from(X, y)).error_rate for model in (late, declared))

    assert first == pytest.approx(second, abs=0.02)


@pytest.mark.parametrize(
    ("name", "options", "published"),
    [
        ("a9a.svm.xz", {}, 0.1551),
        ("rcv1_binary_sample.svm.xz", {}, 0.0440),
        ("ijcnn1.t.svm.xz", {}, 0.0802),
        ("covtype_sample.svm.xz", {"label_positive": "2"}, 0.2998),
        ("phishing.svm.xz", {}, 0.0674),
        ("mushrooms.svm.xz", {}, 0.0106),
        ("pendigits.svm.xz", {}, 0.1569),
        ("usps.svm.xz", {}, 0.0875),
    ],
)
def test_the_default_is_no_worse_than_vowpal_wabbits_default(data, name, options, published):
    report = progressive_validation(Model(), read(data(name), **options))

    assert report.error_rate <= published


def test_workers_sums_of_squares_add_up_in_a_merge():
    X, y = stream(60, 3, seed=8)
    parts = [Model("auto", loss="squared-hinge", intercept=False) for _ in range(2)]
    for part, here in zip(parts, (slice(0, 20), slice(20, 60)), strict=True):
        scores_of(part, X[here], y[here])

    merged = ouzel.merge(parts).states[0]

    squares = sum(part.states[0].table[1:4, 5:].astype(float) ** -2 for part in parts)
    np.testing.assert_allclose(merged.table[1:4, 5:], squares**-0.5, rtol=1e-5)
    assert not merged.table[4:, 5:].any()


def test_a_merge_takes_the_weights_of_small_values_as_if_the_largest_had_been_seen():
    X, y = stream(80, 3, seed=9)
    small, large = (Model("auto", loss="squared-hinge", intercept=False) for _ in range(2))
    scores_of(small, X, y)
    scores_of(large, 8.0 * X, y)

    merged = ouzel.merge([small, large]).states[0]

    np.testing.assert_allclose(merged.table[1:4, :5], large.states[0].table[1:4, :5], rtol=1e-4, atol=1e-6)
