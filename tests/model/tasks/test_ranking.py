"""Pairs are drawn as they should be, and learning them ranks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ouzel
from ouzel.evaluation.ranking import average_precision
from ouzel.learners import catalogue, protocol
from ouzel.learners.gradient import adagrad_rda
from ouzel.learners.rows import Rows
from ouzel.model import persistence
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


def graded_block(groups, size, seed):
    """Groups of examples whose grades follow a rule, as a block."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(groups * size, 8))
    grades = np.digitize(X @ np.random.default_rng(9).normal(size=8), [0.0, 2.0]).astype(float)
    block = next(ouzel.blocks_from(X.astype(np.float32), grades))
    return block._replace(groups=np.repeat(np.arange(groups), size))


OF_CLASSES = [
    name
    for name, entry in catalogue.LEARNERS.items()
    if entry.multiclass and not entry.budgeted and not isinstance(entry.module, protocol.ChosenByTask)
]


@pytest.mark.parametrize("name", ["pa1", "arow", *(n for n in OF_CLASSES if n not in ("pa1", "arow"))])
def test_learners_of_classes_rank_by_the_margin_of_two(name):
    model = ouzel.Model(name, task="ranking", intercept=False)
    learnt, fresh = graded_block(40, 8, seed=1), graded_block(20, 8, seed=2)
    model.learn(learnt)

    outcome = model.evaluate(fresh)

    assert np.mean(outcome.margins > 0.0) > 0.85
    scores = [(scores, grades) for scores, grades in outcome.groups if np.ptp(grades) > 0.0]
    assert np.mean([average_precision(scores, grades > grades.min()) for scores, grades in scores]) > 0.85


@pytest.mark.parametrize("name", ["pa1", "arow"])
def test_a_pair_is_an_ordinary_example_of_the_second_class(name):
    block = graded_block(1, 6, seed=3)
    ranking = ouzel.Model(name, task="ranking", intercept=False)
    ranking.learn(block)

    classes = ouzel.Model(name, classes=[0, 1], intercept=False)
    pairs = draw_pairs(block.labels, 0, np.random.default_rng([0, 0]))
    X = _dense(block)
    classes.learn(next(ouzel.blocks_from((X[pairs[:, 0]] - X[pairs[:, 1]]).astype(np.float32), np.ones(len(pairs)))))

    np.testing.assert_array_equal(ranking.weights(), classes.weights())


def test_a_ranking_by_a_learner_of_classes_is_merged_and_saved(tmp_path):
    first, second = (ouzel.Model("arow", task="ranking", intercept=False) for _ in range(2))
    first.learn(graded_block(20, 8, seed=4))
    second.learn(graded_block(20, 8, seed=5))
    fresh = graded_block(20, 8, seed=6)

    merged = ouzel.merge([first, second])
    persistence.save(merged, tmp_path / "m.ouzel")
    loaded = persistence.load_model(tmp_path / "m.ouzel")

    assert np.mean(merged.evaluate(fresh).margins > 0.0) > 0.85
    np.testing.assert_array_equal(loaded.margins(fresh), merged.margins(fresh))


def test_a_budget_shared_by_classes_is_not_for_ranking():
    with pytest.raises(ouzel.OuzelError, match=r"ranking takes a learner of two classes .* got awm-nce"):
        ouzel.Model("awm-nce", task="ranking")


def _dense(block):
    return dense(Rows(block.offsets, block.indices, block.values), 8)
