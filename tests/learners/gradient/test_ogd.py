"""Online gradient descent: what it takes for a step where nobody says."""

from sklearn.datasets import load_diabetes

import ouzel
from ouzel.learners.catalogue import find
from ouzel.model.settings import resolve_settings


def test_the_squared_loss_which_curves_four_times_as_much_has_a_quarter_of_the_step_by_default():
    ogd = find("ogd")

    assert resolve_settings(ogd, {"loss": "logistic"}).learning_rate == 0.5
    assert resolve_settings(ogd, {"loss": "squared"}).learning_rate == 0.125
    assert resolve_settings(ogd, {"loss": "squared", "learning_rate": 0.5}).learning_rate == 0.5


def test_the_named_estimator_takes_the_default_of_its_loss():
    classifier, regressor = ouzel.OnlineGradientClassifier, ouzel.OnlineGradientRegressor
    estimators = [classifier(), classifier(loss="squared"), regressor(), regressor(loss="absolute")]

    steps = [estimator._resolved().learning_rate for estimator in estimators]

    assert steps == [0.5, 0.125, 0.125, 0.5]


def test_numbers_are_predicted_better_than_by_their_mean_at_the_default_step():
    """At a step of 1/2 the error is 1.6 times that of the mean."""
    X, y = load_diabetes(return_X_y=True, scaled=False)

    report = ouzel.progressive_validation(ouzel.OnlineRegressor("ogd"), ouzel.blocks_from(X, y))

    assert report.rmse < 0.9 * report.baseline
    assert report.warnings == []
