"""Estimators: the catalogue's learners in the protocols of scikit-learn and River."""

from ouzel.estimators.adagrad import AdaGradClassifier, AdaGradRegressor
from ouzel.estimators.auto_rate import AutoRateClassifier, AutoRateRegressor
from ouzel.estimators.budgeted import (
    AWMSketchClassifier,
    CountMinClassifier,
    FeatureHashingClassifier,
    SpaceSavingClassifier,
    TruncationClassifier,
    WMSketchClassifier,
)
from ouzel.estimators.gaussian import (
    AROWClassifier,
    ConfidenceWeightedClassifier,
    IELLIPClassifier,
    NAROWClassifier,
    NHERDClassifier,
    SecondOrderPerceptronClassifier,
    SoftConfidenceWeightedClassifier,
)
from ouzel.estimators.margin import (
    ALMAClassifier,
    ElementwiseNewtonClassifier,
    MulticlassGradientClassifier,
    PassiveAggressiveClassifier,
    PerceptronClassifier,
    ROMMAClassifier,
)
from ouzel.estimators.online import OnlineClassifier, OnlineRanker, OnlineRegressor
from ouzel.estimators.online_gradient import OnlineGradientClassifier, OnlineGradientRegressor
from ouzel.estimators.online_newton import OnlineNewtonClassifier, OnlineNewtonRegressor
from ouzel.estimators.ranker import AdaGradRanker
from ouzel.estimators.sketched_newton import SketchedNewtonClassifier, SketchedNewtonRegressor

__all__ = [
    "ALMAClassifier",
    "AROWClassifier",
    "AWMSketchClassifier",
    "AdaGradClassifier",
    "AdaGradRanker",
    "AdaGradRegressor",
    "AutoRateClassifier",
    "AutoRateRegressor",
    "ConfidenceWeightedClassifier",
    "CountMinClassifier",
    "ElementwiseNewtonClassifier",
    "FeatureHashingClassifier",
    "IELLIPClassifier",
    "MulticlassGradientClassifier",
    "NAROWClassifier",
    "NHERDClassifier",
    "OnlineClassifier",
    "OnlineGradientClassifier",
    "OnlineGradientRegressor",
    "OnlineNewtonClassifier",
    "OnlineNewtonRegressor",
    "OnlineRanker",
    "OnlineRegressor",
    "PassiveAggressiveClassifier",
    "PerceptronClassifier",
    "ROMMAClassifier",
    "SecondOrderPerceptronClassifier",
    "SketchedNewtonClassifier",
    "SketchedNewtonRegressor",
    "SoftConfidenceWeightedClassifier",
    "SpaceSavingClassifier",
    "TruncationClassifier",
    "WMSketchClassifier",
]
