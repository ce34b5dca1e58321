"""From a model file to the estimator that would have made it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ouzel.estimators as estimators
from ouzel.estimators.base import COMMON
from ouzel.model.model import Model
from ouzel.model.persistence import load_model


def load(path: str | Path) -> Any:
    """The estimator saved in a file, or trained by the command line: it predicts, and goes on learning."""
    return from_model(load_model(path))


def from_model(model: Model) -> Any:
    """An estimator around a model, its parameters those of the model."""
    for name in estimators.__all__:
        kind = getattr(estimators, name)
        if getattr(kind, "task", None) == model.task.name and kind.serves(model.learner.name):
            break
    else:
        return model
    estimator = kind(fit_intercept=model.intercept, bits=model.bits, seed=model.seed)
    known = estimator.get_params(deep=False)
    given = {name: value for name, value in model.settings._asdict().items() if name in known and name not in COMMON}
    strengths = getattr(model.settings, "penalty", None)
    if strengths:
        given |= {name: value for name, value in strengths._asdict().items() if name in known}
    estimator.set_params(**{**given, **(kind.choice(model.learner.name) or {})})
    estimator.model_ = model
    return estimator
