"""`ouzel reproduce`: a table or figure of a paper, published beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ouzel.errors import OuzelError


def reproduce(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME", help="The experiment; without one, all are listed, and which reports are of other code."
        ),
    ] = None,
    paths: Annotated[list[str] | None, typer.Argument(metavar="FILE", help="Further data sets.")] = None,
    data: Annotated[str, typer.Option(help="Folder with the data sets.")] = "data",
    output: Annotated[str, typer.Option(help="Folder for NAME.md and NAME.png.")] = "reproduce/results",
    quick: Annotated[
        bool, typer.Option("--quick", help="A small variant, in seconds, as NAME-quick.md and NAME-quick.png.")
    ] = False,
) -> None:
    """Run an experiment of the papers again, and write its table and figure.

    Example: ouzel reproduce son-figure-1 --quick
    """
    from ouzel.reproduce import EXPERIMENTS, find
    from ouzel.reproduce.provenance import state_of
    from ouzel.reproduce.running import run

    if name is None:
        width = max(map(len, EXPERIMENTS), default=0)
        for known, experiment in sorted(EXPERIMENTS.items()):
            print(f"{known:<{width}}  {experiment.summary}; {state_of(Path(output), known)}")
        return
    find(name)
    given = [Path(path) for path in paths or ()]
    for path in given:
        if not path.exists():
            raise OuzelError(f"{path}: there is no such file")
    Path(output).mkdir(parents=True, exist_ok=True)
    run(name, Path(data), Path(output), quick=quick, paths=given)
