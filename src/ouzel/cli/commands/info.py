"""`ouzel info`: what a model file holds."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from ouzel.cli import options


def run_info(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model file, or that of an analysis.")],
    json_: options.Json = False,
) -> None:
    """Show what a model file holds: learner, settings, classes, columns, figures, sizes and versions.

    Its arrays are not loaded. Settings that are the learner's defaults are left out, but for --json.

    Example: ouzel info a9a.ouzel
    """
    from ouzel.training.inspection import info

    found = info(model)
    print(json.dumps(found.to_json(), ensure_ascii=False) if json_ else found)
