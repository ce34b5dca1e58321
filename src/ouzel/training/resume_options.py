"""Validation of the options of a training against the model that it resumes."""

from __future__ import annotations

from typing import Any

from ouzel.errors import ContradictionError
from ouzel.flags import flag_of
from ouzel.model.model import Model
from ouzel.model.scaling import STANDARDIZE, check_standardize
from ouzel.model.settings import check_interval, in_words, normalized, resolve_settings
from ouzel.streams.options import Options


def validate_resume_options(
    path: str,
    model: Model,
    stored: dict[str, Any],
    learner: str | None,
    settings: dict[str, str],
    intercept: bool,
    prepared: dict[str, Any],
    reading: dict[str, Any],
) -> None:
    """Refuse options that contradict those the model was trained with."""
    if learner is not None and learner != model.learner.name:
        raise contradiction(path, "learner", learner, model.learner.name)
    if not intercept and model.intercept:
        raise contradiction(path, "no_intercept", True, None)
    if not prepared["scale_targets"] and model.scale_targets:
        raise contradiction(path, "raw_targets", True, None)
    standardize = prepared["standardize"]
    if standardize is not None and check_standardize(standardize) != model.standardize:
        words = {value: word for word, value in STANDARDIZE.items()}
        raise contradiction(path, "standardize", standardize, words[model.standardize])
    if prepared["forget"] is not None and prepared["forget"] != model.forget:
        raise contradiction(path, "forget", prepared["forget"], model.forget or None)
    weights = prepared["class_weight"]
    if weights is not None and normalized(weights) != normalized(model.class_weight):
        raise contradiction(path, "class_weight", weights, model.class_weight)
    if prepared.get("calibrate") and not model.calibrate:
        raise contradiction(path, "calibrate", True, None)
    levels = prepared.get("interval")
    if levels is not None and check_interval(levels) != model.interval:
        raise contradiction(path, "interval", check_interval(levels), model.interval)
    by = prepared.get("interval_by")
    if by is not None and by != model.interval_by:
        raise contradiction(path, "interval_by", by, model.interval_by)
    given = resolve_settings(model.learner, dict(settings))
    for name, value in settings.items():
        here = name if name in given._fields else "penalty"
        wanted, stored_value = getattr(given, here), getattr(model.settings, here)
        if (type(wanted), wanted) != (type(stored_value), stored_value):  # terms without parameters are equal tuples
            known = in_words(model.settings)
            raise contradiction(path, name, value, known.get(name))
    marked = model.space.indicator
    missing = stored.get("missing", Options.missing) if marked is None else "indicator" if marked else "absent"
    stored_options = {**stored, "bits": model.bits, "seed": model.seed, "missing": missing}
    for name, value in reading.items():
        before = stored_options.get(name)
        before = tuple(before) if isinstance(before, list) else before
        if name not in ("on_error", "query", "limits") and value != before:
            raise contradiction(path, name, value, before)


def contradiction(path: str, name: str, given: object, stored: object) -> ContradictionError:
    """Return the error of an option that contradicts the resumed model."""
    trained = f"without {flag_of(name)}" if stored in (None, False, ()) else f"with {as_option(name, stored)}"
    found = f"{as_option(name, given)} contradicts {path}, which was trained {trained}"
    error = ContradictionError(
        f"{found}; leave the option out to continue that model, or leave out --resume to train a new one"
    )
    error.found = found
    return error


def as_option(name: str, value: object) -> str:
    """Return an option as it is written on the command line.

    >>> as_option("forget", 100.0), as_option("ignore", ("id", "day")), as_option("raw_targets", True)
    ('--half-life 100', '--ignore id,day', '--raw-targets')
    >>> as_option("class_weight", {"yes": 5.0, "no": 1.0})
    '--class-weight yes=5,no=1'
    """
    option = flag_of(name)
    if value is True:
        return option
    if isinstance(value, dict):
        value = tuple(f"{label}={weight:.12g}" for label, weight in value.items())
    if isinstance(value, tuple):
        value = ",".join(map(str, value))
    return f"{option} {value:.12g}" if isinstance(value, float) else f"{option} {value}"
