"""Figures agree with scikit-learn's, and do not depend on how the stream was cut."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as theirs

from ouzel.evaluation.metrics import Scores
from ouzel.evaluation.ranking import bin_of
from ouzel.model.tasks.classification import OneAgainstRest
from ouzel.model.tasks.regression import Regression
from ouzel.model.tasks.shared_state import SharedState
from ouzel.model.tasks.task import Outcome
from ouzel.terms.losses import Hinge, Logistic, Poisson, Squared


def two_classes(n, seed=0):
    random = np.random.default_rng(seed)
    targets = random.integers(0, 2, n)
    margins = random.standard_normal(n) + 0.8 * (2 * targets - 1)
    losses = np.log1p(np.exp(-margins * (2 * targets - 1)))
    return Outcome(margins, targets, random.integers(1, 4, n).astype(np.float32), losses)


def many_classes(n, classes=4, seed=0):
    random = np.random.default_rng(seed)
    targets = random.integers(0, classes, n)
    margins = random.standard_normal((n, classes)) + np.eye(classes)[targets]
    return Outcome(margins, targets, np.ones(n, np.float32), random.random(n))


LOGISTIC = Logistic()


def scored(learnt, task=OneAgainstRest, loss=LOGISTIC, cuts=()):
    scores = Scores(task(loss))
    for start, stop in zip([0, *cuts], [*cuts, len(learnt.targets)], strict=True):
        scores.add(Outcome(*(part[start:stop] for part in learnt[:4])))
    return scores


def test_two_class_figures_are_scikit_learns():
    learnt = two_classes(5000)
    scores = scored(learnt)
    probability = 1 / (1 + np.exp(-learnt.margins))
    weights = learnt.importances

    assert scores.accuracy == pytest.approx(
        theirs.accuracy_score(learnt.targets, learnt.margins > 0, sample_weight=weights)
    )
    assert scores.log_loss == pytest.approx(theirs.log_loss(learnt.targets, probability, sample_weight=weights))
    assert scores.confusion.tolist() == theirs.confusion_matrix(learnt.targets, learnt.margins > 0).tolist()


def test_the_area_is_within_its_stated_error():
    learnt = two_classes(5000)
    scores = scored(learnt)

    exact = theirs.roc_auc_score(learnt.targets, learnt.margins, sample_weight=learnt.importances)

    figures = scores.figures()
    assert abs(figures["auc"] - exact) <= figures["auc_error"] < 1e-3


def test_many_class_figures_are_scikit_learns():
    learnt = many_classes(3000)
    scores = scored(learnt)
    shares = 1 / (1 + np.exp(-learnt.margins))
    shares /= shares.sum(axis=1, keepdims=True)

    assert scores.error_rate == pytest.approx(np.mean(learnt.margins.argmax(axis=1) != learnt.targets))
    assert scores.log_loss == pytest.approx(theirs.log_loss(learnt.targets, shares))
    assert (scores.confusion == theirs.confusion_matrix(learnt.targets, learnt.margins.argmax(axis=1))).all()
    assert scores.figures()["auc"] is None


def test_figures_of_numbers_are_scikit_learns():
    random = np.random.default_rng(0)
    targets = random.standard_normal(1000)
    margins = targets + 0.3 * random.standard_normal(1000)
    scores = scored(Outcome(margins, targets, np.ones(1000, np.float32), np.zeros(1000)), Regression, Squared())

    assert scores.rmse == pytest.approx(theirs.root_mean_squared_error(targets, margins))
    assert scores.mae == pytest.approx(theirs.mean_absolute_error(targets, margins))
    assert scores.r2 == pytest.approx(theirs.r2_score(targets, margins))
    assert scores.error_rate is None


def test_counts_are_compared_with_rates_not_with_their_logarithms():
    targets = np.array([1.0, 3.0])
    scores = scored(Outcome(np.log(targets), targets, np.ones(2, np.float32), np.zeros(2)), Regression, Poisson())

    assert scores.mae == pytest.approx(0.0)


def test_ties_and_nan_are_mistakes():
    two = Outcome(np.array([0.0, 0.0, np.nan, np.nan]), np.array([0, 1, 0, 1]), np.ones(4, np.float32), np.zeros(4))
    margins = np.array([[1.0, 1.0, 0.0], [np.nan, 1.0, 0.0], [0.0, np.nan, -np.inf]])
    many = Outcome(margins, np.array([0, 1, 2]), np.ones(3, np.float32), np.zeros(3))

    assert scored(two).error_rate == 1.0
    assert scored(many).error_rate == 1.0
    assert scored(two, loss=Hinge()).log_loss is None


def growing_classes(n, classes=9, seed=0):
    """Classes that are met one by one: no margin is known of those to come."""
    random = np.random.default_rng(seed)
    known = np.maximum(2, np.arange(n) * classes // n + 1)
    targets = random.integers(0, known)
    margins = random.standard_normal((n, classes)) + np.eye(classes)[targets]
    margins[np.arange(classes) >= known[:, None]] = -np.inf
    margins[known == 2, 0] = -margins[known == 2, 1]
    return Outcome(margins, targets, np.ones(n, np.float32), random.random(n))


@pytest.mark.parametrize("joint", [False, True])
def test_two_classes_are_counted_as_two_up_to_the_row_where_a_third_comes(joint):
    task = SharedState if joint else OneAgainstRest
    whole = growing_classes(300, classes=3)
    third = int(np.argmax(whole.margins[:, 2] > -np.inf))
    two = whole.margins[:third, :2]
    margins = two[:, 1] - two[:, 0] if joint else two[:, 1]
    scores = scored(Outcome(margins, *(part[:third] for part in whole[1:4])), task)
    scores.add(Outcome(*(part[third:] for part in whole[:4])))

    assert 0 < third < 300
    assert scored(whole, task).to_json() == scores.to_json()
    assert scored(whole, task).histogram.sum() == third


@settings(max_examples=30)
@given(st.lists(st.integers(0, 300), max_size=5), st.sampled_from([two_classes, many_classes, growing_classes]))
def test_every_cut_gives_the_same_bits(cuts, make):
    learnt = make(300)

    assert scored(learnt, cuts=sorted(cuts)).to_json() == scored(learnt).to_json()


def test_scores_come_back_from_json():
    learnt = two_classes(100)
    scores = Scores(OneAgainstRest(Logistic()))
    scores.restore(scored(learnt).to_json())

    assert scores.figures() == scored(learnt).figures()


@given(st.lists(st.floats(width=32, allow_nan=False), min_size=2, max_size=20))
def test_bins_grow_with_margins(margins):
    ordered = np.sort(np.array(margins)) + 0.0  # -0 and 0 are one margin

    assert (np.diff([bin_of(margin) for margin in ordered]) >= 0).all()
