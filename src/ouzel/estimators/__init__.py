"""Estimators: the learners in the protocols of scikit-learn and River. Written by `make estimators`."""

from ouzel.estimators.adagrad import (
    AdaGradBlockClassifier,
    AdaGradBlockRegressor,
    AdaGradClassifier,
    AdaGradEagerClassifier,
    AdaGradEagerRegressor,
    AdaGradFullClassifier,
    AdaGradFullRegressor,
    AdaGradRegressor,
)
from ouzel.estimators.auto_rate import AutoRateClassifier, AutoRateRegressor
from ouzel.estimators.budgeted import (
    AWMSketchClassifier,
    CountMinClassifier,
    FeatureHashingClassifier,
    SpaceSavingClassifier,
    TruncationClassifier,
    UnboundedClassifier,
    UnboundedRegressor,
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
from ouzel.estimators.gradient import (
    AdaGradMulticlassClassifier,
    CoinBettingClassifier,
    CoinBettingRegressor,
    FOBOSClassifier,
    FOBOSRegressor,
    FTRLProximalClassifier,
    FTRLProximalRegressor,
    RDAClassifier,
    RDARegressor,
)
from ouzel.estimators.heavy_hitters import BEARClassifier, MISSIONClassifier
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
from ouzel.estimators.online_newton import (
    AioliClassifier,
    AioliRegressor,
    OnlineNewtonClassifier,
    OnlineNewtonRegressor,
)
from ouzel.estimators.ranker import AdaGradRanker
from ouzel.estimators.sketched_adagrad import SketchedAdaGradClassifier, SketchedAdaGradRegressor
from ouzel.estimators.sketched_newton import SketchedNewtonClassifier, SketchedNewtonRegressor

__all__ = [
    "ALMAClassifier",
    "AROWClassifier",
    "AWMSketchClassifier",
    "AdaGradBlockClassifier",
    "AdaGradBlockRegressor",
    "AdaGradClassifier",
    "AdaGradEagerClassifier",
    "AdaGradEagerRegressor",
    "AdaGradFullClassifier",
    "AdaGradFullRegressor",
    "AdaGradMulticlassClassifier",
    "AdaGradRanker",
    "AdaGradRegressor",
    "AioliClassifier",
    "AioliRegressor",
    "AutoRateClassifier",
    "AutoRateRegressor",
    "BEARClassifier",
    "CoinBettingClassifier",
    "CoinBettingRegressor",
    "ConfidenceWeightedClassifier",
    "CountMinClassifier",
    "ElementwiseNewtonClassifier",
    "FOBOSClassifier",
    "FOBOSRegressor",
    "FTRLProximalClassifier",
    "FTRLProximalRegressor",
    "FeatureHashingClassifier",
    "IELLIPClassifier",
    "MISSIONClassifier",
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
    "RDAClassifier",
    "RDARegressor",
    "ROMMAClassifier",
    "SecondOrderPerceptronClassifier",
    "SketchedAdaGradClassifier",
    "SketchedAdaGradRegressor",
    "SketchedNewtonClassifier",
    "SketchedNewtonRegressor",
    "SoftConfidenceWeightedClassifier",
    "SpaceSavingClassifier",
    "TruncationClassifier",
    "UnboundedClassifier",
    "UnboundedRegressor",
    "WMSketchClassifier",
]
