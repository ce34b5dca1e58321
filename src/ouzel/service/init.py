"""Initialisation of the model of a folder: from a model file or a new learner; and a check of all options."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ouzel.errors import OuzelError
from ouzel.learners import catalogue
from ouzel.model import persistence
from ouzel.model.model import Model
from ouzel.service.folder import Folder
from ouzel.streams.formats.records import ID
from ouzel.streams.logs.opening import open_log
from ouzel.streams.options import OF_MESSAGES
from ouzel.training.resume_options import validate_resume_options

if TYPE_CHECKING:
    from ouzel.service.server import Place

OF_JSON = ("label", "label_positive", "weight", "text", "categorical", "numeric", "dates", "ignore", "keep", "missing")
AS_IT_IS = {"scale_targets": True, "standardize": False, "forget": None}  # what a service takes no options for


def begin(
    folder: Folder,
    file: str | None,
    learner: str | None,
    settings: dict[str, Any],
    reading: dict[str, Any],
    class_weight: Any = None,
) -> str:
    """Start a model in a folder, or check that its model agrees with the options; return a line on what was done."""
    if folder.begun:
        model, notes = persistence.load_notes(folder.base)
        prepared = {**AS_IT_IS, "class_weight": class_weight}
        validate_resume_options(
            str(folder.base), model, notes.get("reading", {}), learner, settings, True, prepared, reading
        )
        return f"{folder.path}: going on"
    notes = {}
    if file is not None:
        if settings or learner is not None or class_weight is not None:
            raise OuzelError("the settings of --model FILE are in the file; leave out --learner and settings")
        model, notes = persistence.load_notes(file)
        if model.task.groups:
            raise OuzelError(f"{file}: ranks groups, which come as a whole; a service takes one example at a time")
        said = f"{folder.path}: beginning with {file}, which has learnt {model.examples:,} examples"
    else:
        hashing = {"bits": reading.get("bits", 18), "seed": reading.get("seed", 0)}
        model = Model(learner or catalogue.DEFAULT, class_weight=class_weight, **hashing, **settings)
        said = f"{folder.path}: beginning a new model"
    folder.begin(model, {**notes, "reading": _lines_read({**notes.get("reading", {}), **reading})})
    return said


def _lines_read(reading: dict[str, Any]) -> dict[str, Any]:
    """Return the options for reading lines: nothing depends on which line comes first, and ids are not features."""
    known = {name: value for name, value in reading.items() if name in (*OF_JSON, *OF_MESSAGES, "bits", "seed")}
    ignored = [name for name in known.get("ignore", ()) if name != ID]
    return {**known, "label": known.get("label", "label"), "ignore": [*ignored, ID], "sample": 0}


def check_all(
    folders: Sequence[Folder],
    place: Place,
    file: str | None,
    learner: str | None,
    settings: dict[str, Any],
    reading: dict[str, Any],
    class_weight: Any = None,
) -> Iterator[str]:
    """Check whether a service would start, without writing: yield a line on each sound part, or raise OuzelError."""
    tokens = place.check()
    yield f"{place.host}:{place.port}, {'without tokens, this machine alone' if tokens is None else 'with tokens'}"
    for plan in place.feeds:
        log = open_log(plan.url, plan.reading)
        log.identity()
        log.close()
        yield f"{log.name}: answers"
    for folder in folders:
        if folder.begun:
            model, notes = persistence.load_notes(folder.base)
            if folder is folders[0]:
                stored, prepared = notes.get("reading", {}), {**AS_IT_IS, "class_weight": class_weight}
                validate_resume_options(str(folder.base), model, stored, learner, settings, True, prepared, reading)
            owner, examples = folder.open()
            yield f"{folder.path}: sound, {owner.learnt:,} examples in the log, {owner.model.examples:,} learnt in all"
            examples.close()
            continue
        folder.check_new()
        if file is not None:
            yield f"{file}: sound, {persistence.load_model(file).examples:,} examples learnt"
        else:
            model = Model(learner or catalogue.DEFAULT, class_weight=class_weight, **settings)
            yield f"{folder.path}: a new model, {model.learner.name}"
