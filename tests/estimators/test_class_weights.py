"""scikit-learn's check of `class_weight`, with the passes that its data need."""

import warnings

import pytest
from sklearn.utils.estimator_checks import check_class_weight_classifiers

import ouzel.estimators
from ouzel.estimators.classifier import Classifier

PRICELESS = ("ALMAClassifier",)
KINDS = [getattr(ouzel.estimators, name) for name in ouzel.estimators.__all__]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if issubclass(kind, Classifier)])
def test_a_class_of_a_large_weight_is_the_one_predicted(kind):
    if kind.__name__ in PRICELESS:
        pytest.skip("an importance is no price to its rule")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_class_weight_classifiers(kind.__name__, kind(passes=20))
