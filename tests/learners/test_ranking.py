"""Pairs are drawn as they should be, and learning them ranks."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ouzel.evaluation.ranking import average_precision
from ouzel.learners.gradient import adagrad_rda
from ouzel.model.tasks.ranking import draw_pairs, learn_group, pair_rows
from ouzel.terms.losses import Hinge
from ouzel.terms.penalties.l1_and_l2 import L1
from tests.learners.streams import dense, sparse_rows

relevances = st.lists(st.integers(0, 3), max_size=12).map(lambda grades: np.array(grades, np.float64))


@given(relevance=relevances)
def test_all_pairs_are_those_of_different_relevance(relevance):
    n = len(relevance)
    expected = {(i, j) for i in range(n) for j in range(n) if relevance[i] > relevance[j]}

    pairs = draw_pairs(relevance, 0, np.random.default_rng(0))

    assert len(pairs) == len(expected)
    assert set(map(tuple, pairs.tolist())) == expected


def test_pairs_are_drawn_evenly():
    relevance = np.array([1.0, 0.0, 2.0, 0.0])

    pairs = draw_pairs(relevance, 50_000, np.random.default_rng(1))
    _, counts = np.unique(pairs, axis=0, return_counts=True)

    assert len(counts) == 5
    np.testing.assert_allclose(counts, 10_000, rtol=0.05)


def test_rows_of_pairs_are_differences_without_what_cancels():
    rows, _ = sparse_rows(6, 10, 4, seed=2)
    pairs = np.array([[0, 3], [5, 1], [2, 2]])

    found = pair_rows(rows, pairs)

    X = dense(rows, 10)
    np.testing.assert_allclose(dense(found, 10), X[pairs[:, 0]] - X[pairs[:, 1]], atol=1e-7)
    assert found.offsets[3] == found.offsets[2]


def test_a_learner_of_pairs_ranks_groups_it_has_not_seen():
    dimension, size = 30, 20
    rows, _ = sparse_rows(60 * size, dimension, 6, seed=3)
    relevance = (dense(rows, dimension) @ np.random.default_rng(4).normal(size=dimension) > 1.0).astype(np.float64)
    settings = adagrad_rda.Settings(Hinge(), L1(1e-3), 0.3)
    state = adagrad_rda.init(dimension, settings)

    def group(number):
        here = slice(number * size, (number + 1) * size)
        return rows._replace(offsets=rows.offsets[here.start : here.stop + 1]), relevance[here]

    for number in range(40):
        learn_group(adagrad_rda, state, *group(number), settings, pairs=50, seed=0, group=number)
    scores = dense(rows, dimension) @ adagrad_rda.weights(state, settings)
    precisions = [average_precision(scores[k * size :][:size], relevance[k * size :][:size]) for k in range(40, 60)]

    assert np.nanmean(precisions) > 0.9


def test_what_is_drawn_depends_on_seed_and_group_alone():
    rows, _ = sparse_rows(20, 30, 6, seed=5)
    relevance = np.arange(20.0) % 3
    settings = adagrad_rda.Settings(Hinge(), L1(1e-3), 0.3)

    def margins(seed, group):
        state = adagrad_rda.init(30, settings)
        return learn_group(adagrad_rda, state, rows, relevance, settings, pairs=30, seed=seed, group=group).tolist()

    assert margins(0, 7) == margins(0, 7)
    assert margins(0, 7) != margins(0, 8)
    assert margins(0, 7) != margins(1, 7)
