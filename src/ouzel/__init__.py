"""Ouzel: linear models from data streams, in one pass, with second-order accuracy, within a memory budget.

>>> import ouzel
>>> model = ouzel.OnlineClassifier("adagrad")
>>> model.learn_one({"word=free": 1.0}, True).learn_one({"word=hello": 1.0}, False).predict_one({"word=free": 1.0})
True
"""

import importlib
from typing import Any

import ouzel.kernels.forks  # noqa: F401  (from now on, forks wait for imports)

__version__ = "0.2.0"

_HOME = {
    "OnlineClassifier": "ouzel.estimators.online",
    "OnlineRegressor": "ouzel.estimators.online",
    "OnlineRanker": "ouzel.estimators.online",
    "load": "ouzel.estimators.loading",
    "read": "ouzel.streams.read",
    "blocks_from": "ouzel.streams.memory",
    "progressive_validation": "ouzel.evaluation.progressive",
    "compare": "ouzel.comparison.compare",
    "evaluate": "ouzel.evaluation.testing",
    "merge": "ouzel.model.merge",
    "info": "ouzel.training.inspection",
    "export": "ouzel.exporting.export",
    "effect": "ouzel.evaluation.effects",
    "list_learners": "ouzel.evaluation.learners",
    "register": "ouzel.learners.catalogue",
    "OuzelError": "ouzel.errors",
    "DataError": "ouzel.errors",
    "Block": "ouzel.streams.block",
    "Model": "ouzel.model.model",
    "convert": "ouzel.streams.convert",
    "write_svmlight": "ouzel.streams.formats.writing",
    "StreamingExplainer": "ouzel.analytics.explanation.explainer",
    "RelativeDeltoids": "ouzel.analytics.deltoids.relative_deltoids",
    "StreamingPMI": "ouzel.analytics.pmi.streaming_pmi",
    "Client": "ouzel.service.client",
    # the named estimators, by `make estimators`
    "AutoRateClassifier": "ouzel.estimators.auto_rate",
    "AutoRateRegressor": "ouzel.estimators.auto_rate",
    "OnlineGradientClassifier": "ouzel.estimators.online_gradient",
    "OnlineGradientRegressor": "ouzel.estimators.online_gradient",
    "AdaGradClassifier": "ouzel.estimators.adagrad",
    "AdaGradRegressor": "ouzel.estimators.adagrad",
    "AdaGradEagerClassifier": "ouzel.estimators.adagrad",
    "AdaGradEagerRegressor": "ouzel.estimators.adagrad",
    "AdaGradFullClassifier": "ouzel.estimators.adagrad",
    "AdaGradFullRegressor": "ouzel.estimators.adagrad",
    "AdaGradBlockClassifier": "ouzel.estimators.adagrad",
    "AdaGradBlockRegressor": "ouzel.estimators.adagrad",
    "AdaGradRanker": "ouzel.estimators.ranker",
    "FTRLProximalClassifier": "ouzel.estimators.gradient",
    "FTRLProximalRegressor": "ouzel.estimators.gradient",
    "CoinBettingClassifier": "ouzel.estimators.gradient",
    "CoinBettingRegressor": "ouzel.estimators.gradient",
    "MetaGradClassifier": "ouzel.estimators.gradient",
    "MetaGradRegressor": "ouzel.estimators.gradient",
    "RDAClassifier": "ouzel.estimators.gradient",
    "RDARegressor": "ouzel.estimators.gradient",
    "FOBOSClassifier": "ouzel.estimators.gradient",
    "FOBOSRegressor": "ouzel.estimators.gradient",
    "AdaGradMulticlassClassifier": "ouzel.estimators.gradient",
    "SketchedAdaGradClassifier": "ouzel.estimators.sketched_adagrad",
    "SketchedAdaGradRegressor": "ouzel.estimators.sketched_adagrad",
    "SketchedNewtonClassifier": "ouzel.estimators.sketched_newton",
    "SketchedNewtonRegressor": "ouzel.estimators.sketched_newton",
    "OnlineNewtonClassifier": "ouzel.estimators.online_newton",
    "OnlineNewtonRegressor": "ouzel.estimators.online_newton",
    "AioliClassifier": "ouzel.estimators.online_newton",
    "AioliRegressor": "ouzel.estimators.online_newton",
    "PerceptronClassifier": "ouzel.estimators.margin",
    "PassiveAggressiveClassifier": "ouzel.estimators.margin",
    "ROMMAClassifier": "ouzel.estimators.margin",
    "ALMAClassifier": "ouzel.estimators.margin",
    "MulticlassGradientClassifier": "ouzel.estimators.margin",
    "ElementwiseNewtonClassifier": "ouzel.estimators.margin",
    "SecondOrderPerceptronClassifier": "ouzel.estimators.gaussian",
    "ConfidenceWeightedClassifier": "ouzel.estimators.gaussian",
    "SoftConfidenceWeightedClassifier": "ouzel.estimators.gaussian",
    "AROWClassifier": "ouzel.estimators.gaussian",
    "NAROWClassifier": "ouzel.estimators.gaussian",
    "NHERDClassifier": "ouzel.estimators.gaussian",
    "IELLIPClassifier": "ouzel.estimators.gaussian",
    "AWMSketchClassifier": "ouzel.estimators.budgeted",
    "WMSketchClassifier": "ouzel.estimators.budgeted",
    "TruncationClassifier": "ouzel.estimators.budgeted",
    "SpaceSavingClassifier": "ouzel.estimators.budgeted",
    "CountMinClassifier": "ouzel.estimators.budgeted",
    "FeatureHashingClassifier": "ouzel.estimators.budgeted",
    "UnboundedClassifier": "ouzel.estimators.budgeted",
    "UnboundedRegressor": "ouzel.estimators.budgeted",
    "MISSIONClassifier": "ouzel.estimators.heavy_hitters",
    "BEARClassifier": "ouzel.estimators.heavy_hitters",
}
"""Where each public name lives, in a reader's order; its module is imported when the name is first used."""

__all__ = [*_HOME, "__version__"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'ouzel' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
