"""Whether the options of a training agree with the model that is to go on."""

from __future__ import annotations

from typing import Any

from ouzel.errors import OuzelError
from ouzel.model.model import Model
from ouzel.model.setting_names import in_words
from ouzel.model.settings import resolve_settings


class ContradictionError(OuzelError):
    """What is asked for, or what a source holds, contradicts what a model has learnt."""


def check_agreement(
    path: str,
    model: Model,
    stored: dict[str, Any],
    learner: str | None,
    settings: dict[str, str],
    intercept: bool,
    prepared: dict[str, Any],
    reading: dict[str, Any],
) -> None:
    """Refuse a flag that contradicts what the model was learnt with."""
    if learner is not None and learner != model.learner.name:
        raise contradiction(path, "learner", learner, model.learner.name)
    if not intercept and model.intercept:
        raise contradiction(path, "no_intercept", "given", "an intercept")
    if not prepared["scale_targets"] and model.scale_targets:
        raise contradiction(path, "raw_targets", "given", "scaled targets")
    if prepared["standardize"] and not model.standardize:
        raise contradiction(path, "standardize", "given", "features as they are")
    if prepared["forget"] is not None and prepared["forget"] != model.forget:
        raise contradiction(path, "forget", prepared["forget"], model.forget or "none")
    given = resolve_settings(model.learner, dict(settings))
    for name, value in settings.items():
        here = name if name in given._fields else "penalty"
        wanted, stored_value = getattr(given, here), getattr(model.settings, here)
        if (type(wanted), wanted) != (type(stored_value), stored_value):  # terms without parameters are equal tuples
            known = in_words(model.settings)
            raise contradiction(path, name, value, known.get(name, "none"))
    noted = {**stored, "bits": model.bits, "seed": model.seed}
    for name, value in reading.items():
        before = noted.get(name)
        before = tuple(before) if isinstance(before, list) else before
        if name not in ("on_error", "query", "limits") and value != before:
            raise contradiction(path, name, value, "none" if before is None else before)


def contradiction(path: str, name: str, given: Any, stored: Any) -> ContradictionError:
    """What to say of an option that contradicts the model that is to go on."""
    learnt = "without it" if stored == "none" else f"with {stored}"
    return ContradictionError(
        f"--{name.replace('_', '-')} {given} contradicts {path}, which was learnt {learnt}; "
        "leave the option out, or begin a new model without --resume"
    )
