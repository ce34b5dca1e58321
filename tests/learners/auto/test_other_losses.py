"""The default by other losses of classes and for ranking, and that the default is good."""

import numpy as np
import pytest
import scipy.sparse as sparse

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


TERMS = {
    "hinge": (
        lambda margin, target: max(0.0, 1 - target * margin),
        lambda margin, target: -target * (target * margin < 1),
        lambda margin, target: 0.0,
    ),
    "squared-hinge": (
        lambda margin, target: 0.5 * max(0.0, 1 - target * margin) ** 2,
        lambda margin, target: -target * max(0.0, 1 - target * margin),
        lambda margin, target: float(target * margin < 1),
    ),
}


@pytest.mark.parametrize("loss", TERMS)
def test_margins_by_another_loss_are_those_of_a_slow_transcription(loss):
    X, y = rows_of_columns(300, 2, seed=3)
    slow = oracle.TwoByLoss(X.shape[1] + 1, *TERMS[loss])

    expected = [slow.learn(x, place) for x, place in zip(with_constant(X), y, strict=True)]

    found = scores_of(Model("auto", loss=loss, classes=[0, 1]), X, y)
    np.testing.assert_allclose(found, expected, rtol=0.02, atol=0.02)


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


def test_other_losses_weigh_the_models_of_each_class_by_themselves():
    X, y = classes_of(300, 5, 3, seed=7)
    model = Model("auto", loss="squared-hinge")

    error = progressive_validation(model, blocks_from(X, y)).error_rate

    assert error < 0.2
    assert not np.array_equal(model.states[0].regrets.sums, model.states[1].regrets.sums)


@pytest.mark.parametrize("loss", ["hinge", "squared-hinge", "smoothed-hinge"])
def test_another_loss_errs_no_more_than_the_logistic_one_by_far(data, loss):
    for name in ("heart.svm.xz", "australian.svm.xz", "phishing.svm.xz"):
        usual, other = (
            progressive_validation(Model("auto", loss=each, forms="raw"), read(data(name))).error_rate
            for each in ("logistic", loss)
        )
        assert other <= 1.1 * usual


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
