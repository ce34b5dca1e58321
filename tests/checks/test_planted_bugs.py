"""Every law can fail: bugs are planted in a learner one by one, and the laws find each of them."""

import pytest

from ouzel import OuzelError
from ouzel.learners import catalogue, target_scaling
from tests.checks import laws, merging_laws, planted_bugs, rounds_laws
from tests.checks.tasks import SQUARED

pytestmark = pytest.mark.law

BUGS = {
    planted_bugs.margins_are_told_after_learning: laws.a_margin_told_by_learning_is_what_predicting_gives_just_before,
    planted_bugs.predictions_are_off_by_a_constant: laws.weights_times_features_are_the_prediction,
    planted_bugs.predicting_decays_the_weights: laws.predicting_changes_nothing,
    planted_bugs.a_block_begins_by_forgetting: laws.blocks_of_any_size_and_single_examples_teach_the_same,
    planted_bugs.grow_forgets_all: laws.growing_early_is_growing_late,
    planted_bugs.mirror_does_nothing: laws.exchanging_the_classes_changes_the_sign,
    planted_bugs.weights_have_the_wrong_sign: laws.weights_times_features_are_the_prediction,
    planted_bugs.importance_0_is_learnt: laws.an_example_of_importance_0_is_left_out,
    planted_bugs.importance_is_ignored: laws.importance_2_is_not_importance_1,
    planted_bugs.the_last_weight_of_a_file_is_lost: laws.what_is_saved_is_loaded_to_the_bit,
    planted_bugs.large_values_make_a_nan: laws.no_finite_number_makes_a_nan,
    planted_bugs.steps_go_uphill: laws.what_was_learnt_is_known,
    planted_bugs.merging_shrinks_the_weights: merging_laws.one_model_alone_stays_what_it_is,
    planted_bugs.idle_workers_count: merging_laws.a_worker_that_has_learnt_nothing_changes_nothing,
    planted_bugs.merging_does_not_add_up_counts: merging_laws.examples_add_up_over_any_number_of_rounds,
    planted_bugs.later_workers_count_more: merging_laws.the_order_of_workers_does_not_matter,
    planted_bugs.a_worker_is_not_heard: merging_laws.every_worker_is_heard,
    planted_bugs.merging_goes_by_what_was_merged_before: merging_laws.merging_is_one_round_of_workers,
    planted_bugs.gains_are_averaged_two_by_two: merging_laws.a_tree_of_gains_is_one_merge,
    planted_bugs.merging_moves_weights_to_other_slots: merging_laws.merged_shards_know_what_the_best_of_them_knows,
    planted_bugs.merging_leaves_nothing_that_is_finite: merging_laws.what_was_merged_is_saved_and_goes_on,
}
"""Bugs, and the law of which each is a breach."""

BREACHES_OF_TWO = {
    planted_bugs.workers_count_alike: merging_laws.a_worker_counts_by_the_examples_it_has_learnt,
}


def plant(monkeypatch, name, bug):
    """Put the bug into the learner's module until the test is over."""
    module = catalogue.find(name).module
    for function, wrong in bug(module).items():
        monkeypatch.setattr(module, function, wrong, raising=False)


@pytest.mark.parametrize(("bug", "law"), [*BUGS.items(), *BREACHES_OF_TWO.items()], ids=lambda part: part.__name__)
def test_the_laws_find_a_planted_bug(monkeypatch, bug, law):
    plant(monkeypatch, "ogd", bug)

    with pytest.raises((AssertionError, OuzelError)):
        law("ogd")


@pytest.mark.parametrize("name", ["adagrad-rda", "son-oja", "awm"])
@pytest.mark.parametrize(
    "bug",
    [
        planted_bugs.mirror_does_nothing,
        planted_bugs.a_worker_is_not_heard,
        planted_bugs.importance_is_ignored,
        planted_bugs.margins_are_told_after_learning,
    ],
    ids=lambda bug: bug.__name__,
)
def test_so_they_do_in_learners_of_every_kind(monkeypatch, name, bug):
    plant(monkeypatch, name, bug)

    with pytest.raises(AssertionError):
        BUGS[bug](name)


def test_the_laws_of_numbers_find_targets_that_are_summed_about_0(monkeypatch):
    for function, wrong in planted_bugs.targets_of_workers_are_summed_about_0(target_scaling).items():
        monkeypatch.setattr(target_scaling, function, wrong)

    rounds_laws.one_worker_merged_onto_its_base_is_that_worker("ogd")  # classes have no such sums
    with pytest.raises(AssertionError):
        rounds_laws.one_worker_merged_onto_its_base_is_that_worker("ogd", [SQUARED])


def test_every_law_finds_a_bug():
    assert {*BUGS.values(), *BREACHES_OF_TWO.values()} == {*laws.LAWS, *merging_laws.MERGING_LAWS}
