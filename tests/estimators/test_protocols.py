"""Every estimator passes scikit-learn's own checks and River's."""

import warnings

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import ouzel.estimators
from ouzel.estimators.base import EXPECTED_FAILURES
from ouzel.estimators.ranker import Ranker

ESTIMATORS = [getattr(ouzel.estimators, name) for name in ouzel.estimators.__all__ if name[0].isupper()]


CHOICES = [kind(sketch="fd") for kind in (ouzel.SketchedNewtonClassifier, ouzel.SketchedNewtonRegressor)]
CHOICES += [ouzel.OnlineNewtonClassifier(invariant=True)]
CHOICES += [ouzel.OnlineClassifier("adagrad-rda", l1=1e-4), ouzel.OnlineClassifier("awm", budget="2KB", l2=None)]
CHOICES += [ouzel.OnlineClassifier("arow-full"), ouzel.OnlineRegressor("adagrad", learning_rate=0.5)]


@parametrize_with_checks([kind() for kind in ESTIMATORS] + CHOICES, expected_failed_checks=lambda _: EXPECTED_FAILURES)
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
        for check in checks.yield_checks(model):
            yield pytest.param(model, check, id=f"{kind.__name__}-{check.__name__}")


@pytest.mark.parametrize(("model", "check"), list(_river_checks()))
def test_river_checks(model, check):
    check(model.clone())
