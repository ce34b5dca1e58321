"""Conversion of options of the command line to keywords of the library, and their checks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ouzel.cli import options
from ouzel.cli.panels import values
from ouzel.errors import OuzelError
from ouzel.flags import flag_of
from ouzel.ranges import COUNT, Range, check

if TYPE_CHECKING:
    from ouzel.model.model import Model

TASKS = (None, "classification", "regression", "ranking")
EXAMPLES = {"set": "--set learning_rate=0.1", "limit": "--limit line=1GB"}


def reading_as_learnt(
    model: Model, notes: dict[str, Any], given: dict[str, Any], leave: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the reading options in a model file, with those given now in their place."""
    stored = {name: value for name, value in notes.get("reading", {}).items() if name not in leave}
    return {**stored, **given, "space": model.space, "inherited": tuple(set(stored) - set(given))}


def check_task(task: str | None) -> None:
    """Refuse a task that does not exist."""
    if task not in TASKS:
        raise OuzelError(f"--task takes {', '.join(filter(None, TASKS))}; got {task!r}")


def reading_options(
    *given: options.Labels | options.Kinds | options.Lines | options.Messages | options.Hashing | options.Reading,
    **more: Any,
) -> dict[str, Any]:
    """Return the reading options that were given as keywords of the library."""
    found = {name: value for group in given for name, value in values(group).items()} | more
    columns, limits = found.pop("columns", None), found.pop("limit", None)
    read = {name: tuple(value) or None if isinstance(value, list) else value for name, value in found.items()}
    read |= {name: value or None for name, value in read.items() if isinstance(value, bool)}
    read["columns"] = tuple(name.strip() for name in columns.split(",")) if columns else None
    read["limits"] = dict(_pair("limit", pair) for pair in limits) if limits else None
    return {name: value for name, value in read.items() if value is not None}


def settings_given(pairs: list[str] | None, **flags: str | None) -> dict[str, Any]:
    """Return the settings of a learner that were given, by flags of their own and by --set."""
    given: dict[str, Any] = {name: value for name, value in flags.items() if value is not None}
    if ":" in given.get("loss", ""):
        from ouzel.learners.plugins import loss_named

        given["loss"] = loss_named(given["loss"])
    for pair in pairs or ():
        name, value = _pair("set", pair)
        given[name.replace("-", "_")] = value
    return given


def check_counts(**counts: int | None) -> None:
    """Refuse a count below 0."""
    for name, value in counts.items():
        if value is not None:
            check(flag_of(name), COUNT, value)


def check_plot(plot: str | None) -> None:
    """Refuse a plot that could not be drawn, before anything is read."""
    if plot is not None:
        from ouzel.plotting.axes import check_plot_path

        check_plot_path(plot)


def check_most_classes(most: int | None) -> None:
    """Refuse a maximum number of classes that no model supports."""
    if most is not None:
        from ouzel.model.label_encoder import MOST_CLASSES

        check(flag_of("most_classes"), Range(1, MOST_CLASSES, whole=True), most)


def _pair(flag: str, pair: str) -> tuple[str, str]:
    """Split NAME=VALUE."""
    name, _, value = map(str.strip, pair.partition("="))
    if not name or not value:
        raise OuzelError(f"--{flag} takes NAME=VALUE, such as {EXAMPLES[flag]}; got {pair!r}")
    return name, value
