"""`ouzel reproduce`: runs an experiment of a paper again and writes its table and figure."""

from __future__ import annotations

import json
from contextlib import nullcontext, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Annotated

from ouzel.cli import options
from ouzel.cli.experiments import RESULTS, experiment_names, load_experiments
from ouzel.cli.parameters import FILE, FOLDER, Kind, argument, choice, option
from ouzel.errors import OuzelError

BEST = ("lowest-in-row", "lowest-in-column", "highest-in-row", "highest-in-column")
EXPERIMENT = Kind("NAME", words=experiment_names)


def reproduce(
    name: Annotated[
        str | None,
        argument(
            f"The experiment: {', '.join(experiment_names()) or 'those of the source checkout'}; "
            "without one, all are listed, and which reports are of other code.",
            EXPERIMENT,
        ),
    ] = None,
    paths: Annotated[list[str] | None, argument("Further data sets.", FILE)] = None,
    data: Annotated[str, option("Folder with the data sets.", takes=FOLDER)] = "data",
    output: Annotated[
        str | None, option("Folder for NAME.md and NAME.png (reproduce/results of the checkout).", takes=FOLDER)
    ] = None,
    quick: Annotated[bool, option("A small variant, in seconds, as NAME-quick.md and NAME-quick.png.")] = False,
    latex: Annotated[bool, option("Print the tables of the report that is there as LaTeX; run nothing.")] = False,
    best: Annotated[
        str | None,
        option(
            "With --latex: the bold numbers: lowest-in-row, highest-in-column, …", takes=choice(*BEST, name="WHICH")
        ),
    ] = None,
    json_: options.Json = False,
) -> None:
    """Reproduce an experiment of the papers or a public benchmark, and write its table and figure.

    Example: ouzel reproduce son-figure-1 --quick
    """
    load_experiments()
    from reproduce import EXPERIMENTS, find
    from reproduce.provenance import state_of
    from reproduce.running import run

    results = Path(output) if output is not None else RESULTS

    if name is None:
        known = [(name, of.summary, state_of(results, name)) for name, of in sorted(EXPERIMENTS.items())]
        if json_:
            print(json.dumps([{"name": name, "summary": summary, "report": state} for name, summary, state in known]))
            return
        width = max(len(name) for name in EXPERIMENTS)
        for name, summary, state in known:
            print(f"{name:<{width}}  {summary}; {state}")
        return
    find(name)
    if latex:
        print(_latex(results / f"{name}{'-quick' * quick}.md", name, best))
        return
    given = [Path(path) for path in paths or ()]
    for path in given:
        if not path.exists():
            raise OuzelError(f"{path}: there is no such file")
    results.mkdir(parents=True, exist_ok=True)
    with redirect_stdout(StringIO()) if json_ else nullcontext():  # of the report, which it prints
        run(name, Path(data), results, quick=quick, paths=given)
    if json_:
        written = [results / f"{name}{'-quick' * quick}{ending}" for ending in (".md", ".png")]
        print(json.dumps({"name": name, "files": [str(path) for path in written if path.exists()]}))


def _latex(report: Path, name: str, best: str | None) -> str:
    from ouzel.comparison.latex import of_report

    if not report.exists():
        raise OuzelError(f"{report}: there is no such report; make it without --latex")
    return of_report(report.read_text(), name, best)
