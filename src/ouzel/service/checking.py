"""Whether a service would start: everything is looked at, and nothing is written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ouzel.model import persistence
from ouzel.model.model import Model
from ouzel.service.beginning import AS_IT_IS
from ouzel.service.folder import Folder
from ouzel.service.server import Place
from ouzel.streams.logs.opening import open_log
from ouzel.training.resume_options import validate_resume_options


def check_all(
    folders: Sequence[Folder],
    place: Place,
    file: str | None,
    learner: str | None,
    settings: dict[str, Any],
    reading: dict[str, Any],
) -> Iterator[str]:
    """A line on each thing that is well; OuzelError at the first that is not."""
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
                stored = notes.get("reading", {})
                validate_resume_options(str(folder.base), model, stored, learner, settings, True, AS_IT_IS, reading)
            owner, examples = folder.open()
            yield f"{folder.path}: sound, {owner.learnt:,} examples in the log, {owner.model.examples:,} learnt in all"
            examples.close()
            continue
        folder.check_new()
        if file is not None:
            yield f"{file}: sound, {persistence.load_model(file).examples:,} examples learnt"
        else:
            yield f"{folder.path}: a new model, {Model(learner or 'auto', **settings).learner.name}"
