"""The laws of contributions can fail: what is left of a margin before it is spread tells of a part that is wrong."""

import numpy as np
import pytest

from ouzel.model.explainer import Explainer
from tests.model.test_contributions import check_sums, gaps, learnt

pytestmark = pytest.mark.law

MOST = 1e-4  # of 1 or the margin, as `test_contributions_by_auto_add_up_whatever_is_predicted` asks for


def a_part_is_forgotten(explainer, owners):
    owners[np.abs(owners).sum(axis=1).argmax()] = 0.0


def a_sign_is_wrong(explainer, owners):
    owners[np.abs(owners).sum(axis=1).argmax()] *= -1.0


def a_pair_counts_twice(explainer, owners):
    owners[len(explainer.columns) :] *= 2.0


def absent_words_are_forgotten(explainer, owners):
    owners -= explainer.absent.sum(axis=1)


BUGS = [a_part_is_forgotten, a_sign_is_wrong, a_pair_counts_twice, absent_words_are_forgotten]


@pytest.fixture(
    scope="module", params=[(2, {}), (3, {}), ("numbers", {"loss": "squared"})], ids=["two", "three", "numbers"]
)
def given(request):
    task, settings = request.param
    return learnt("auto", task, **settings)


def test_contributions_without_a_bug_add_up(given):
    assert gaps(*given).max() < MOST


@pytest.mark.parametrize("bug", BUGS)
def test_the_law_of_sums_finds_a_planted_bug(monkeypatch, given, bug):
    right = Explainer._owners

    def wrong(explainer, *rest):
        owners, curves = right(explainer, *rest)
        bug(explainer, owners)
        return owners, curves

    monkeypatch.setattr(Explainer, "_owners", wrong)

    assert gaps(*given).max() > 10.0 * MOST


def test_the_law_of_lists_finds_a_pair_that_both_columns_get_whole(monkeypatch):
    model, block = learnt("auto", 2)
    halved = Explainer.by_column

    def whole(explainer, owners):
        places, pairs, _ = explainer.halves
        columns = halved(explainer, owners)
        np.add.at(columns, places.astype(np.int64), 0.5 * owners[len(columns) + pairs.astype(np.int64)])
        return columns

    monkeypatch.setattr(Explainer, "by_column", whole)

    with pytest.raises(AssertionError):
        check_sums(model, block)
