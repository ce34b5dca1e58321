"""How the model of a folder begins: as a file of a training, or as a new learner; and how its lines are to be read."""

from __future__ import annotations

from typing import Any

from ouzel.errors import OuzelError
from ouzel.learners import catalogue
from ouzel.model import persistence
from ouzel.model.model import Model
from ouzel.service.folder import Folder
from ouzel.service.reading import ID
from ouzel.streams.options import OF_MESSAGES
from ouzel.training.resume_options import validate_resume_options

OF_JSON = ("label", "label_positive", "weight", "text", "categorical", "numeric", "dates", "ignore", "keep", "missing")
AS_IT_IS = {"scale_targets": True, "standardize": False, "forget": None}  # of a model that goes on


def begin(
    folder: Folder, file: str | None, learner: str | None, settings: dict[str, Any], reading: dict[str, Any]
) -> str:
    """Have a model in a folder, which may hold one that agrees with what is asked for; what was done, in a line."""
    if folder.begun:
        model, notes = persistence.load_notes(folder.base)
        validate_resume_options(
            str(folder.base), model, notes.get("reading", {}), learner, settings, True, AS_IT_IS, reading
        )
        return f"{folder.path}: going on"
    notes = {}
    if file is not None:
        if settings or learner is not None:
            raise OuzelError("the settings of --model FILE are in the file; leave out --learner and settings")
        model, notes = persistence.load_notes(file)
        if model.task.groups:
            raise OuzelError(f"{file}: ranks groups, which come as a whole; a service takes one example at a time")
        said = f"{folder.path}: beginning with {file}, which has learnt {model.examples:,} examples"
    else:
        model = Model(
            learner or catalogue.DEFAULT, bits=reading.get("bits", 18), seed=reading.get("seed", 0), **settings
        )
        said = f"{folder.path}: beginning a new model"
    folder.begin(model, {**notes, "reading": _lines_read({**notes.get("reading", {}), **reading})})
    return said


def _lines_read(reading: dict[str, Any]) -> dict[str, Any]:
    """The options by which lines are read: nothing depends on which line comes first, and ids are not features."""
    known = {name: value for name, value in reading.items() if name in (*OF_JSON, *OF_MESSAGES, "bits", "seed")}
    ignored = [name for name in known.get("ignore", ()) if name != ID]
    return {**known, "label": known.get("label", "label"), "ignore": [*ignored, ID], "sample": 0}
