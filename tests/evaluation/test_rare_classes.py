"""Areas and figures of the rarer of two classes are scikit-learn's, to within the error that they state."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as theirs

from ouzel.evaluation.metrics import SMALLEST, Scores
from ouzel.model.tasks.classification import OneAgainstRest
from ouzel.model.tasks.task import Outcome
from ouzel.terms.losses import Logistic

FIGURES = (
    "average_precision",
    "average_precision_error",
    "auc",
    "auc_error",
    "precision",
    "recall",
    "f1",
    "rare_share",
)


def outcome(margins, targets, importances=None):
    margins = np.asarray(margins, float)
    given = np.ones(len(margins), np.float32) if importances is None else np.asarray(importances, np.float32)
    return Outcome(margins, np.asarray(targets, np.int64), given, np.zeros(len(margins)))


def scored(found, cuts=()):
    scores = Scores(OneAgainstRest(Logistic()))
    for start, stop in zip([0, *cuts], [*cuts, len(found.targets)], strict=True):
        scores.add(Outcome(*(part[start:stop] for part in found[:4])))
    return scores


def rare_stream(n, share, spread, seed=0, rare=1, weighted=False):
    random = np.random.default_rng(seed)
    targets = np.where(random.random(n) < share, rare, 1 - rare)
    targets[:2] = 0, 1
    margins = spread * (random.standard_normal(n) + 1.2 * (2 * targets - 1)) - 2.0 * spread
    return outcome(margins, targets, random.integers(1, 5, n) if weighted else None)


@given(
    n=st.integers(10, 3000),
    share=st.sampled_from([0.002, 0.03, 0.4]),
    spread=st.sampled_from([1e-3, 1.0, 30.0]),
    seed=st.integers(0, 99),
    rare=st.sampled_from([0, 1]),
    weighted=st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_average_precision_is_scikit_learns_within_its_stated_error(n, share, spread, seed, rare, weighted):
    found = rare_stream(n, share, spread, seed, rare, weighted)
    scores = scored(found)
    figures, place = scores.figures(), scores.rare_class
    signed = found.margins if place == 1 else -found.margins

    exact = theirs.average_precision_score(found.targets == place, signed, sample_weight=found.importances)
    assert abs(figures["average_precision"] - exact) <= figures["average_precision_error"] + 1e-12


def test_the_stated_error_is_small_where_a_class_is_rare_or_margins_are_equal():
    found = rare_stream(50_000, 0.001, 3.0)
    equal = outcome(np.zeros(200), [0, 1, 1, 1] * 50)

    assert scored(found).figures()["average_precision_error"] < 0.01
    assert scored(equal).figures()["average_precision"] == pytest.approx(0.25)
    assert scored(outcome([3.0, 2.0, 1.0], [1, 0, 0])).figures()["average_precision"] == pytest.approx(1.0)


@pytest.mark.parametrize("rare", [0, 1])
@pytest.mark.parametrize("weighted", [False, True])
def test_precision_recall_and_f1_are_scikit_learns_of_the_rarer_class(rare, weighted):
    found = rare_stream(2000, 0.2, 1.0, rare=rare, weighted=weighted)
    scores = scored(found)
    figures = scores.figures()
    precision, recall, f1, _ = theirs.precision_recall_fscore_support(
        found.targets, found.margins > 0, average="binary", pos_label=rare, sample_weight=found.importances
    )

    assert scores.rare_class == rare
    assert (figures["precision"], figures["recall"], figures["f1"]) == pytest.approx((precision, recall, f1))
    assert figures["rare_share"] == pytest.approx(np.average(found.targets == rare, weights=found.importances))


def test_nothing_taken_for_the_rare_class_has_no_precision_and_no_f1_above_0():
    figures = scored(outcome([-1.0, -1.0, -1.0], [0, 0, 1])).figures()

    assert (figures["precision"], figures["recall"], figures["f1"]) == (None, 0.0, 0.0)


def test_figures_are_the_same_however_the_stream_is_cut_and_after_going_on_from_a_file():
    found = rare_stream(1000, 0.05, 1.0, weighted=True)
    whole, half = scored(found), scored(Outcome(*(part[:400] for part in found[:4])))
    again = Scores(OneAgainstRest(Logistic()))
    again.restore(json.loads(json.dumps(half.to_json())))
    again.add(Outcome(*(part[400:] for part in found[:4])))

    for scores in (scored(found, cuts=(1, 7, 500)), again):
        assert {name: scores.figures()[name] for name in FIGURES} == {name: whole.figures()[name] for name in FIGURES}


def test_a_run_of_an_earlier_version_goes_on_without_what_it_did_not_count():
    found = rare_stream(1000, 0.05, 1.0)
    stored = scored(found).to_json()
    stored["sums"] = stored["sums"][:9]
    again = Scores(OneAgainstRest(Logistic()))
    again.restore(stored)
    again.add(found)

    assert np.isnan(again.sums[SMALLEST])
    assert again.figures()["f1"] is None
    assert again.figures()["average_precision"] == pytest.approx(scored(found).figures()["average_precision"])


def test_three_classes_have_no_figures_of_a_rarer_one():
    from tests.evaluation.test_metrics import many_classes

    figures = scored(many_classes(300)).figures()

    assert [figures[name] for name in FIGURES] == [None] * len(FIGURES)
