"""`ouzel top`: the heaviest features of a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ouzel.cli import app as shared
from ouzel.cli.app import app


@app.command(epilog="Example:  ouzel top a9a.ouzel -n 20")
def top(
    model: Annotated[Path, typer.Argument(help="A model file.")],
    n: Annotated[int, typer.Option("-n", min=1, help="How many features to show.")] = 20,
    json: shared.Json = False,
) -> None:
    """Show the heaviest features of a model, by name where the stream had names."""
    from ouzel.cli.screen import print_json
    from ouzel.cli.training import feature_name, show_top
    from ouzel.persistence import load_model

    known = load_model(model)[0]
    if not json:
        show_top(known, n)
        return
    columns = known.top(n)
    sign = -1.0 if len(columns) == 1 and known.classes.reversed_pair() else 1.0
    tables = [
        [{"feature": feature_name(known, feature), "weight": sign * weight} for feature, weight in column]
        for column in columns
    ]
    if len(tables) == 1:
        print_json({"top": tables[0]})
    else:
        print_json({"top": {str(known.classes.known[k]): tables[k] for k in known.classes.order()}})
