"""Ouzel: linear models from data streams, in one pass, with second-order accuracy, within a memory budget.

>>> import ouzel
>>> model = ouzel.OnlineGradientClassifier()
>>> model.learn_one({"word=free": 1.0}, True).learn_one({"word=hello": 1.0}, False).predict_one({"word=free": 1.0})
True
"""

import importlib
from typing import Any

__version__ = "0.1.0"

_HOME = {
    "Block": "ouzel.streams.block",
    "DataError": "ouzel.errors",
    "Model": "ouzel.model.model",
    "OuzelError": "ouzel.errors",
    "RelativeDeltoids": "ouzel.analytics.deltoids.relative_deltoids",
    "StreamingExplainer": "ouzel.analytics.explanation.explainer",
    "StreamingPMI": "ouzel.analytics.pmi.streaming_pmi",
    "blocks_from": "ouzel.streams.memory",
    "load": "ouzel.estimators.loading",
    "merge": "ouzel.model.merge",
    "progressive_validation": "ouzel.evaluation.progressive",
    "read": "ouzel.streams.read",
    "write_svmlight": "ouzel.streams.text.svmlight",
    **dict.fromkeys(
        (
            "AWMSketchClassifier",
            "CountMinClassifier",
            "FeatureHashingClassifier",
            "SpaceSavingClassifier",
            "TruncationClassifier",
            "WMSketchClassifier",
            "ALMAClassifier",
            "AROWClassifier",
            "ConfidenceWeightedClassifier",
            "ElementwiseNewtonClassifier",
            "IELLIPClassifier",
            "MulticlassGradientClassifier",
            "NAROWClassifier",
            "NHERDClassifier",
            "PassiveAggressiveClassifier",
            "PerceptronClassifier",
            "ROMMAClassifier",
            "SecondOrderPerceptronClassifier",
            "SoftConfidenceWeightedClassifier",
            "AdaGradClassifier",
            "AdaGradRanker",
            "AdaGradRegressor",
            "AutoRateClassifier",
            "AutoRateRegressor",
            "OnlineGradientClassifier",
            "OnlineGradientRegressor",
            "OnlineNewtonClassifier",
            "OnlineNewtonRegressor",
            "SketchedNewtonClassifier",
            "SketchedNewtonRegressor",
        ),
        "ouzel.estimators",
    ),
}
"""Where each public name lives; its module is imported when the name is first used."""

__all__ = ["__version__", *_HOME]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'ouzel' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
