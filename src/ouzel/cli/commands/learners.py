"""`ouzel learners`: lists the learners, or the settings of one."""

from __future__ import annotations

import json
import textwrap
from typing import TYPE_CHECKING, Annotated

from ouzel.cli import options
from ouzel.cli.model_options import LEARNER
from ouzel.cli.parameters import argument

if TYPE_CHECKING:
    from ouzel.model.settings import Described

COLUMN = 30  # where what a setting takes begins


def learners(
    name: Annotated[
        str | None, argument("A learner; without one, all are listed.", LEARNER._replace(name="NAME"))
    ] = None,
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
        for entry, summary in found.items():
            print(textwrap.fill(summary, 79, initial_indent=f"{entry:<26}", subsequent_indent=" " * 26))
        return

    from ouzel.learners.plugins import learner_named
    from ouzel.model.settings import described

    learner = catalogue.find(learner_named(name))
    given = described(learner)
    if json_:
        values = {setting: about.default for setting, about in given.items() if setting != "penalty"}
        ranges = {setting: {"takes": about.takes, "about": about.about} for setting, about in given.items()}
        answer = {"name": learner.name, "summary": learner.summary, "settings": values, "ranges": ranges}
        print(json.dumps(answer, default=str))
        return
    print(f"{learner.name}: {learner.summary}\n")
    for setting, about in given.items():
        print(_lines(setting, about))


def _lines(setting: str, known: Described) -> str:
    """Lines with a setting, its default as --set takes it, its range and its meaning."""
    from ouzel.evaluation.formatting import settings

    given = f"  {setting}" if setting == "penalty" else f"  --set {settings({setting: known.default})}"
    text = _block(known.about)
    takes = _block(known.takes)
    first = f"{given:<{COLUMN - 1}} {takes.lstrip()}" if len(given) < COLUMN else f"{given}\n{takes}"
    return f"{first}\n{text}"


def _block(text: str) -> str:
    """Wrap a text in the second column."""
    margin = " " * COLUMN
    return textwrap.fill(text, 79, initial_indent=margin, subsequent_indent=margin, break_on_hyphens=False)
