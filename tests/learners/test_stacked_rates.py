"""The learner with nothing to tune: units of features do not matter, and its defaults are good."""

import numpy as np
import pytest

from ouzel.evaluation.progressive import progressive_validation
from ouzel.learners import stacked_rates
from ouzel.learners.rows import Rows
from ouzel.models import Model
from ouzel.streams.memory import blocks_from
from ouzel.streams.reading import read
from ouzel.terms.losses import Squared


def stream(count, dimension, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, dimension)).astype(np.float32)
    return X, np.where(X @ rng.normal(size=dimension) + 0.3 * rng.normal(size=count) > 0, 1.0, -1.0)


def margins_of(X, y, settings):
    n, d = X.shape
    rows = Rows(np.arange(0, n * d + 1, d).astype(np.uint64), np.tile(np.arange(d, dtype=np.uint32), n), X.ravel())
    state, margins = stacked_rates.init(d, settings), np.empty(n)
    stacked_rates.learn_rows(state, rows, y, np.ones(n, np.float32), settings, margins)
    return margins


def test_the_unit_of_a_feature_does_not_matter():
    X, y = stream(500, 6, seed=0)
    units = np.float32(2.0) ** np.array([-20, -3, 0, 4, 10, 15])

    settings = stacked_rates.Settings()

    np.testing.assert_allclose(margins_of(X, y, settings), margins_of(X * units, y, settings), rtol=1e-4, atol=1e-4)


def test_the_unit_of_the_target_does_not_matter():
    X, y = stream(400, 4, seed=1)
    settings = stacked_rates.Settings(loss=Squared(), second_loss=Squared())

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
        ("pendigits.svm.xz", {}, 0.1739),
    ],
)
def test_the_default_is_no_worse_than_vowpal_wabbits_logistic_default(data, name, options, published):
    report = progressive_validation(Model(), read(data(name), **options))

    assert report.error_rate <= published
