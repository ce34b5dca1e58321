"""`ouzel learners`: what there is to learn with."""

from __future__ import annotations

import json
import textwrap
from typing import Annotated, Any

import typer

from ouzel.cli import options


def learners(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="A learner; without one, all are listed.")] = None,
    json_: options.Json = False,
) -> None:
    """List the learners that `--learner` takes, or the settings of one that `--set` takes, with their defaults.

    Example: ouzel learners son-oja
    """
    from ouzel.learners import catalogue

    if name is None:
        found = {learner.name: learner.summary for learner in catalogue.LEARNERS.values()}
        if json_:
            print(json.dumps(found))
            return
        for known, summary in found.items():
            print(textwrap.fill(summary, 79, initial_indent=f"{known:<26}", subsequent_indent=" " * 26))
        return

    from ouzel.cli.shown import settings

    learner = catalogue.find(name)
    values = _defaults(learner)
    if json_:
        print(json.dumps({"name": name, "summary": learner.summary, "settings": values}, default=str))
        return
    print(f"{name}: {learner.summary}\n")
    for setting, value in values.items():
        print(f"  --set {settings({setting: value})}")


def _defaults(learner: Any) -> dict[str, float | str]:
    """The settings in the words of --set; a penalty by its two usual strengths."""
    from ouzel.learners.settings import resolve_settings
    from ouzel.learners.words import in_words

    chosen = resolve_settings(learner, {})
    return in_words(chosen) | ({"l1": 0.0, "l2": 0.0} if "penalty" in chosen._fields else {})
