"""Estimators: the catalogue's learners in the protocols of scikit-learn and River."""

from ouzel.estimators.online_gradient import OnlineGradientClassifier, OnlineGradientRegressor

__all__ = ["OnlineGradientClassifier", "OnlineGradientRegressor"]
