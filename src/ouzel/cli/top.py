"""`ouzel top`: the heaviest features of a model."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from ouzel.cli import options


def top(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model file.")],
    n: Annotated[int, typer.Option("-n", help="Features to show.")] = 20,
    json_: options.Json = False,
) -> None:
    """Show the heaviest features of a model, by name where the stream had names.

    Example: ouzel top a9a.ouzel -n 20
    """
    from ouzel import persistence
    from ouzel.cli.shown import heaviest

    columns = heaviest(persistence.load_model(model), max(n, 0))
    if json_:
        entries = [{"class": label, "features": [list(pair) for pair in column]} for label, column in columns]
        print(json.dumps(entries))
        return
    for number, (label, column) in enumerate(columns):
        if label is not None:
            print(("\n" if number else "") + f"for {label}")
        width = max((len(name) for name, _ in column), default=0)
        for name, weight in column:
            print(f"  {name:<{width}}  {weight:+.6g}")
