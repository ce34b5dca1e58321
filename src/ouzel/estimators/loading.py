"""From a model file to the estimator that would have made it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ouzel.estimators as estimators
from ouzel.estimators.data import OF_FRAMES
from ouzel.estimators.named import Named
from ouzel.model.model import Model
from ouzel.model.persistence import load_notes


def load(path: str | Path) -> Any:
    """The estimator saved in a file, or trained by the command line: it predicts, and goes on learning."""
    model, notes = load_notes(path)
    estimator = from_model(model)
    said = {name: value for name, value in notes.get("reading", {}).items() if name in OF_FRAMES}
    known = {None: {}, True: {"missing": "indicator"}, False: {"missing": "absent"}}[model.space.indicator]
    return estimator.set_params(**{**said, **known})


def from_model(model: Model) -> Any:
    """An estimator around a model: of the class that has the learner's name, or one that takes any learner."""
    for name in estimators.__all__:
        kind = getattr(estimators, name)
        found = kind.around(model) if issubclass(kind, Named) else None
        if found is not None:
            return found
    online = (estimators.OnlineClassifier, estimators.OnlineRegressor, estimators.OnlineRanker)
    return next(kind for kind in online if kind.task == model.task.name).around(model)
