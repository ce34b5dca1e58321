"""`ouzel top`: the heaviest features of a model, and what its sketch has found."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from ouzel.cli import options
from ouzel.ranges import COUNT, check


def top(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model file.")],
    n: Annotated[int, typer.Option("-n", help="Features to show.")] = 20,
    direction: Annotated[
        int | None, typer.Option(metavar="K", help="Of the sketch's K-th direction, not of the weights.")
    ] = None,
    json_: options.Json = False,
) -> None:
    """Show the heaviest features of a model, by name where the stream had names.

    Of a Newton method it tells the eigenvalues of the sketch and the condition number too.

    Example: ouzel top a9a.ouzel -n 20
    """
    check("-n", COUNT, n)
    from ouzel.cli.ui import spectrum
    from ouzel.cli.ui.formatting import heaviest
    from ouzel.model import persistence

    learnt = persistence.load_model(model)
    states = spectrum.states_shown(learnt)
    columns = heaviest(learnt, n)
    spectra = [spectrum.spectrum(learnt, state) for state in states]
    if direction is not None:
        directions = [spectrum.direction(learnt, state, direction, n) for state in states]
        columns = [(label, column) for (label, _), column in zip(columns, directions, strict=True)]
    if json_:
        pairs = zip(columns, spectra, strict=True)
        print(
            json.dumps(
                [{"class": label, "features": list(map(list, column)), **more} for (label, column), more in pairs]
            )
        )
        return
    for number, ((label, column), found) in enumerate(zip(columns, spectra, strict=True)):
        if label is not None:
            print(("\n" if number else "") + f"for {label}")
        if direction is not None:
            print(f"direction {direction} of the sketch")
        width = max((len(name) for name, _ in column), default=0)
        for name, weight in column:
            print(f"  {name:<{width}}  {weight:+.6g}")
        for line in spectrum.spectrum_lines(found):
            print(line)
