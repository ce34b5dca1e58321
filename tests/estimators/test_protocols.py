"""Every estimator passes scikit-learn's own checks and River's."""

import warnings

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import ouzel.estimators
from ouzel.estimators.base import EXPECTED_FAILURES
from ouzel.estimators.ranker import Ranker
from ouzel.learners import catalogue

ESTIMATORS = [getattr(ouzel.estimators, name) for name in ouzel.estimators.__all__ if name[0].isupper()]


CHOICES = [kind(sketch="fd") for kind in (ouzel.SketchedNewtonClassifier, ouzel.SketchedNewtonRegressor)]
CHOICES += [ouzel.OnlineNewtonClassifier(invariant=True)]
CHOICES += [ouzel.OnlineClassifier("adagrad-rda", l1=1e-4), ouzel.OnlineClassifier("awm", budget="2KB", l2=None)]
CHOICES += [ouzel.OnlineClassifier("arow-full"), ouzel.OnlineRegressor("adagrad", learning_rate=0.5)]
TRIED = [kind() for kind in ESTIMATORS] + CHOICES

BEFORE_LEARNING = {
    "check_all_zero_sample_weights_error",
    "check_array_api_input",
    "check_classifier_data_not_an_array",
    "check_complex_data",
    "check_dtype_object",
    "check_estimator_sparse_array",
    "check_estimator_sparse_matrix",
    "check_estimator_sparse_tag",
    "check_estimator_tags_renamed",
    "check_estimators_dtypes",
    "check_estimators_empty_data_messages",
    "check_estimators_nan_inf",
    "check_estimators_partial_fit_n_features",
    "check_estimators_unfitted",
    "check_f_contiguous_array_estimator",
    "check_fit1d",
    "check_fit2d_predict1d",
    "check_mixin_order",
    "check_n_features_in",
    "check_n_features_in_after_fitting",
    "check_pipeline_consistency",
    "check_positive_only_tag_during_fit",
    "check_readonly_memmap_input",
    "check_regressor_data_not_an_array",
    "check_requires_y_none",
    "check_sample_weights_list",
    "check_sample_weights_not_an_array",
    "check_sample_weights_not_overwritten",
    "check_sample_weights_pandas_series",
    "check_sample_weights_shape",
    "check_supervised_y_2d",
    "check_supervised_y_no_nan",
    "check_valid_tag_types",
}
"""Checks of what comes in, and of tags: of code that estimators of one kind share, before a learner is asked."""

RIVERS_OF_A_KIND = {
    "check_bounded_memory_growth",
    "check_classifier_tracks_seen_labels",
    "check_clone_changes_memory_addresses",
    "check_clone_is_independent",
    "check_disappearing_features",
    "check_emerging_features",  # of every learner: the law `growing_early_is_growing_late`
    "check_learn_many_matches_learn_one",  # `blocks_of_any_size_and_single_examples_teach_the_same`
    "check_mutate_can_be_idempotent",
    "check_no_state_aliasing_with_input",
    "check_predict_many_matches_predict_one",
    "check_predict_one_before_any_learn",
    "check_predict_proba_many_matches_predict_proba_one",
    "check_radically_disappearing_features",
    "check_str",
    "check_tags",
}
"""Checks of River of what estimators of one kind share, or that a law of `tests/checks` makes of every learner."""


def kind_of(estimator):
    """What estimators whose own code is the same have in common; they differ in parameters and in rules."""
    learner = catalogue.find(estimator.learner)
    return type(estimator).__bases__, learner.multiclass, learner.budgeted


FIRST = {kind_of(estimator): type(estimator) for estimator in reversed(TRIED)}
"""An estimator of each kind, which takes every check each time."""


def marked(checks):
    """The checks, those that another of the kind takes as `long`."""
    names, cases = checks.args
    for number, case in enumerate(cases):
        case = case if hasattr(case, "values") else pytest.param(*case)
        estimator, check = case.values
        shared = check.func.__name__ in BEFORE_LEARNING or check.keywords  # such as readonly_memmap
        if shared and type(estimator) is not FIRST[kind_of(estimator)]:
            case = pytest.param(*case.values, marks=[*case.marks, pytest.mark.long])
        cases[number] = case
    return pytest.mark.parametrize(names, cases, **checks.kwargs)


@marked(parametrize_with_checks(TRIED, expected_failed_checks=lambda _: EXPECTED_FAILURES))
def test_scikit_learn_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)


def _river_checks():
    try:
        from river import base, checks
    except ImportError:
        return
    for kind in ESTIMATORS:
        if issubclass(kind, Ranker):  # learns groups: River has no such protocol
            continue
        model = kind()
        assert isinstance(model, (base.Classifier, base.Regressor))
        known = set(RIVERS_OF_A_KIND) if FIRST[kind_of(model)] is not kind else None
        for check in checks.yield_checks(model):
            marks = [pytest.mark.long] if known and check.__name__ in known else []
            if known:
                known.add(check.__name__)  # its other streams: of truth values, and of seven classes
            yield pytest.param(model, check, id=f"{kind.__name__}-{check.__name__}", marks=marks)


@pytest.mark.parametrize(("model", "check"), list(_river_checks()))
def test_river_checks(model, check):
    check(model.clone())
