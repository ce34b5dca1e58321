"""The default by other losses of classes and for ranking, and that the default is good."""

import numpy as np
import pytest
import scipy.sparse as sparse

import ouzel
from ouzel.evaluation.progressive import progressive_validation
from ouzel.learners.auto import ranking
from ouzel.learners.rows import Rows
from ouzel.model.model import Model
from ouzel.streams.memory import blocks_from
from ouzel.streams.read import read
from tests.learners.auto.test_auto import stream as rows_of_columns
from tests.learners.auto.test_auto import with_constant
from tests.oracles import auto as oracle


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


TERMS = {  # derivative and curvature
    "hinge": (lambda margin, target: -target * (target * margin < 1), lambda margin, target: 0.0),
    "squared-hinge": (
        lambda margin, target: -target * max(0.0, 1 - target * margin),
        lambda margin, target: float(target * margin < 1),
    ),
}


@pytest.mark.parametrize(("loss", "classes"), [("hinge", 2), ("squared-hinge", 2), ("hinge", 4)])
def test_margins_by_another_loss_are_those_of_a_slow_transcription(loss, classes):
    X, y = rows_of_columns(300, classes, seed=3)
    slow = oracle.TwoClasses(X.shape[1] + 1) if classes == 2 else oracle.SeveralClasses(X.shape[1] + 1, classes)
    slow = oracle.ByLoss(slow, *TERMS[loss])

    expected = [slow.learn(x, place) for x, place in zip(with_constant(X), y, strict=True)]

    found = scores_of(Model("auto", loss=loss, classes=range(classes), forms="raw"), X, y)
    np.testing.assert_allclose(found, expected, rtol=0.02, atol=0.02)


@pytest.mark.parametrize("classes", [2, 3])
def test_by_another_loss_margins_are_those_of_the_logistic_one_times_a_number(classes):
    X, y = classes_of(600, 5, classes, seed=7)
    usual, other = (Model("auto", loss=loss, classes=range(classes)) for loss in ("logistic", "hinge"))

    expected, found = (scores_of(model, X, y).reshape(600, -1) for model in (usual, other))

    assert usual.states[0].effects.opened.any()
    expected, found = expected[1:], found[1:]  # of the first all are 0
    number = found[:, 0] / expected[:, 0]
    np.testing.assert_allclose(found, number[:, None] * expected, rtol=1e-12)
    assert number[0] == 0.5
    assert number.min() > 0.0
    assert number.std() > 0.01
    np.testing.assert_array_equal(usual.states[0].table, other.states[0].table)


@pytest.mark.parametrize("classes", [2, 3])
def test_weights_and_effects_of_columns_have_the_unit_of_the_margins(classes):
    X, y = classes_of(600, 5, classes, seed=7)
    usual, other = (Model("auto", loss=loss, classes=range(classes)) for loss in ("logistic", "hinge"))
    scores_of(usual, X, y)
    scores_of(other, X, y)

    factor = 0.5 * other.states[0].scale.weights[0]

    np.testing.assert_allclose(other.weights(), factor * usual.weights(), rtol=1e-12)
    np.testing.assert_allclose(ouzel.effect(other, "0").values, factor * ouzel.effect(usual, "0").values, rtol=1e-12)


def test_the_mean_loss_of_several_classes_is_that_of_the_lead_over_the_best_other_class():
    X, y = classes_of(300, 5, 3, seed=7)
    margins = scores_of(Model("auto", loss="hinge", classes=range(3)), X, y)
    model = Model("auto", loss="hinge", classes=range(3))

    found = progressive_validation(model, blocks_from(X, y)).mean_loss

    rows = np.arange(300)
    others = np.where(np.arange(3) == y[:, None], -np.inf, margins).max(axis=1)
    assert found == pytest.approx(np.maximum(0.0, 1.0 - margins[rows, y] + others).mean(), rel=1e-12)


def test_merging_averages_the_number_that_margins_are_multiplied_by():
    X, y = classes_of(900, 5, 2, seed=9)
    parts = [ouzel.OnlineClassifier("auto", loss="hinge").fit(X[k::3], y[k::3]) for k in range(3)]

    merged = ouzel.merge(parts)

    numbers = [part.model_.states[0].scale.weights[0] for part in parts]
    assert len({*numbers}) == 3
    np.testing.assert_allclose(merged.model_.states[0].scale.weights[0], np.mean(numbers), rtol=1e-6)


@pytest.mark.parametrize(("loss", "power"), [("hinge", 1), ("squared-hinge", 2)])
def test_the_mean_loss_is_at_most_that_of_margins_in_a_fixed_unit(loss, power):
    X, y = classes_of(3000, 5, 2, seed=8)
    y = np.where(np.random.default_rng(9).random(3000) < 0.2, 1 - y, y)
    log_odds = scores_of(Model("auto", classes=[0, 1]), X, y) * np.where(y > 0, 1.0, -1.0)

    found = progressive_validation(Model("auto", loss=loss), blocks_from(X, y)).mean_loss

    fixed = [np.mean(np.maximum(0.0, 1.0 - unit * log_odds) ** power) / power for unit in (0.25, 0.5, 1.0, 2.0)]
    assert found < 1.01 * min(fixed)
    assert found < 0.8 * max(fixed)


def test_margins_of_pairs_are_those_of_a_slow_transcription():
    X, _ = stream(300, 5, seed=3)
    X += 0.3
    state, margins = ranking.init(6, ranking.Settings()), np.empty(300)
    slow = oracle.Ranking(6)
    wide = np.column_stack([np.zeros(300), X]).astype(np.float32)

    ranking.learn_rows(state, rows_from(wide), np.ones(300), np.ones(300, np.float32), ranking.Settings(), margins)

    np.testing.assert_allclose(margins, [slow.learn(x) for x in wide.astype(float)], rtol=0.02, atol=0.02)


def test_scores_to_rank_compare_examples_as_pairs_of_them_are_compared():
    X, _ = stream(400, 4, seed=5)
    X[:, 0] += 2000.0  # a year, say: differences are small
    y = (X[:, 0] - 2000.0 + 0.5 * X[:, 1] > 0).astype(float)
    model = Model("auto", task="ranking", intercept=False)

    for block in blocks_from(X, y):
        model.learn(block._replace(groups=np.repeat(np.arange(40), 10)))
    scores = model.margins(next(blocks_from(X, y)))

    assert (scores[y > 0][:, None] > scores[y == 0]).mean() > 0.97


def rows_from(X):
    """Dense rows without their zeros."""
    matrix = sparse.csr_matrix(X)
    return Rows(matrix.indptr.astype(np.uint64), matrix.indices.astype(np.uint32), matrix.data)


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
