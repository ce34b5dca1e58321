"""`ouzel info`: shows what a model file holds."""

from __future__ import annotations

import json
from typing import Annotated

from ouzel.cli import options
from ouzel.cli.parameters import argument
from ouzel.errors import printable


def run_info(
    model: Annotated[str, argument("A model file, or that of an analysis.", "MODEL")],
    json_: options.Json = False,
) -> None:
    """Show what a model file holds: learner, settings, classes, columns, metrics, sizes and versions.

    The arrays are not loaded. Settings equal to the learner's defaults are left out, except with --json.

    Example: ouzel info a9a.ouzel
    """
    from ouzel.training.inspection import info

    found = info(model)
    print(json.dumps(found.to_json(), ensure_ascii=False) if json_ else printable(found, but="\n"))
