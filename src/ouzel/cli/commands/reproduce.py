"""`ouzel reproduce`: runs an experiment of a paper again and writes its table and figure."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import nullcontext, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Annotated

from ouzel.cli import options
from ouzel.cli.parameters import FILE, FOLDER, Kind, argument, option
from ouzel.errors import OuzelError


def experiments() -> Iterable[str]:
    """Return the names of the experiments."""
    from ouzel.reproduce import EXPERIMENTS

    return EXPERIMENTS


EXPERIMENT = Kind("NAME", words=experiments)


def reproduce(
    name: Annotated[
        str | None,
        argument("The experiment; without one, all are listed, and which reports are of other code.", EXPERIMENT),
    ] = None,
    paths: Annotated[list[str] | None, argument("Further data sets.", FILE)] = None,
    data: Annotated[str, option("Folder with the data sets.", takes=FOLDER)] = "data",
    output: Annotated[str, option("Folder for NAME.md and NAME.png.", takes=FOLDER)] = "reproduce/results",
    quick: Annotated[bool, option("A small variant, in seconds, as NAME-quick.md and NAME-quick.png.")] = False,
    json_: options.Json = False,
) -> None:
    """Reproduce an experiment of the papers, and write its table and figure.

    Example: ouzel reproduce son-figure-1 --quick
    """
    from ouzel.reproduce import EXPERIMENTS, find
    from ouzel.reproduce.provenance import state_of
    from ouzel.reproduce.running import run

    if name is None:
        known = [(name, of.summary, state_of(Path(output), name)) for name, of in sorted(EXPERIMENTS.items())]
        if json_:
            print(json.dumps([{"name": name, "summary": summary, "report": state} for name, summary, state in known]))
            return
        width = max(len(name) for name in EXPERIMENTS)
        for name, summary, state in known:
            print(f"{name:<{width}}  {summary}; {state}")
        return
    find(name)
    given = [Path(path) for path in paths or ()]
    for path in given:
        if not path.exists():
            raise OuzelError(f"{path}: there is no such file")
    Path(output).mkdir(parents=True, exist_ok=True)
    with redirect_stdout(StringIO()) if json_ else nullcontext():  # of the report, which it prints
        run(name, Path(data), Path(output), quick=quick, paths=given)
    if json_:
        written = [Path(output, f"{name}{'-quick' * quick}{ending}") for ending in (".md", ".png")]
        print(json.dumps({"name": name, "files": [str(path) for path in written if path.exists()]}))
