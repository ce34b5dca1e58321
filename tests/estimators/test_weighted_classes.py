"""Every classifier leans to a class of a large weight; scikit-learn's own check, with the passes that its data need."""

import warnings

import numpy as np
import pytest
from sklearn.utils.estimator_checks import check_class_weight_classifiers

import ouzel.estimators
from ouzel.estimators.classifier import Classifier
from tests.checks.laws import PRICELESS

KINDS = [getattr(ouzel.estimators, name) for name in ouzel.estimators.__all__]
CLASSIFIERS = [kind for kind in KINDS if issubclass(kind, Classifier)]


@pytest.mark.filterwarnings("ignore:no better than a constant")  # by mistakes that count alike
@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_a_classifier_leans_to_the_class_of_the_larger_weight(kind):
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 400)
    X = random.standard_normal((400, 3)) + 0.5 * y[:, None]
    shares = [float(np.mean(kind(class_weight={k: 20.0}).fit(X, y).predict(X) == 0)) for k in (0, 1)]

    if kind()._learner_name() in PRICELESS:  # an importance has no meaning but 0
        assert shares[0] == shares[1]
    else:
        assert shares[0] > shares[1]


@pytest.mark.parametrize("kind", [ouzel.AdaGradClassifier, ouzel.AROWClassifier, ouzel.AutoRateClassifier])
def test_scikit_learns_check_of_weights_passes_where_its_data_are_fitted(kind):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_class_weight_classifiers(kind.__name__, kind(passes=20))
