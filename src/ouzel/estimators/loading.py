"""From a model file to the estimator that would have made it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar, overload

import ouzel.estimators as estimators
from ouzel.errors import OuzelError
from ouzel.estimators.base import CLASS, Estimator
from ouzel.estimators.classifier import Classifier
from ouzel.estimators.data import OF_FRAMES
from ouzel.estimators.named import Named
from ouzel.estimators.ranking import Ranker
from ouzel.estimators.regressor import Regressor
from ouzel.model.model import Model
from ouzel.model.persistence import load_notes

GENERAL = ("OnlineClassifier", "OnlineRegressor", "OnlineRanker")
Kind = TypeVar("Kind", bound=Estimator)


@overload
def load(path: str | Path) -> Classifier | Regressor | Ranker: ...


@overload
def load(path: str | Path, kind: type[Kind]) -> Kind: ...


def load(path: str | Path, kind: type[Any] = Estimator) -> Any:
    """The estimator saved in a file, or trained by the command line: it predicts, and goes on learning.

    It has the class that was saved; a model of the command line has the class of its learner's name, or, if there is
    none that can say its settings, `OnlineClassifier`, `OnlineRegressor` or `OnlineRanker`. A file of another class
    than `kind`, which type checkers take as the result, is refused: OuzelError.

    Examples
    --------
    >>> import ouzel, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "model.ouzel")
    >>> ouzel.OnlineClassifier("adagrad").fit([[1.0, 0.0], [0.0, 1.0]] * 5, ["dry", "wet"] * 5).save(path)
    >>> ouzel.load(path, ouzel.OnlineClassifier).predict([[1.0, 0.0]]).tolist()
    ['dry']
    """
    model, notes = load_notes(path)
    estimator = from_model(model, notes.get(CLASS))
    if not isinstance(estimator, kind):
        raise OuzelError(f"{path}: is a model of the class {type(estimator).__name__}, not {kind.__name__}")
    reading = notes.get("reading", {})
    said = {name: value for name, value in reading.items() if name in OF_FRAMES}
    estimator._file_options = {name: value for name, value in reading.items() if name not in said}
    known = {None: {}, True: {"missing": "indicator"}, False: {"missing": "absent"}}[model.space.indicator]
    return estimator.set_params(**{**said, **known})


def from_model(model: Model, saved: str | None = None) -> Any:
    """An estimator around a model: of the class of that name, of one for its learner, or one that takes any learner."""
    names = [*(name for name in estimators.__all__ if name == saved), *estimators.__all__]
    for name in () if saved in GENERAL else names:
        kind = getattr(estimators, name)
        found = kind.around(model) if issubclass(kind, Named) else None
        if found is not None:
            return found
    online = (getattr(estimators, name) for name in GENERAL)
    return next(kind for kind in online if kind.task == model.task.name).around(model)
