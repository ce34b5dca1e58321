"""A comparison on each of several files, and what it says of the learners over all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ouzel.cli.commands.contest import Contest
from ouzel.cli.ui.tables import show
from ouzel.errors import OuzelError
from ouzel.evaluation.comparison.grid import Candidate
from ouzel.evaluation.comparison.results import name_of, table_of_files
from ouzel.evaluation.comparison.significance import LEVEL, against_best
from ouzel.evaluation.comparison.tables import Table, write_table
from ouzel.plotting.comparisons import draw_ranks

LEAST = "* the best of a file"  # what a note says of stars for the least error
TESTED = (
    "* better than every other on its file, = the lowest mean there and those not worse for certain "
    f"(a paired t-test, p < {LEVEL:g} by Holm's correction)"
)

Results = list[dict[str, Any]]


def compare_each(contest: Contest, run: Callable[[Contest], Results]) -> Results:
    """Compare on each file by itself, then show a column of errors a file and mean ranks; what --json prints."""
    errors: dict[str, dict[str, float]] = {}
    spreads: dict[str, dict[str, float]] = {}
    orders: dict[str, dict[str, list[float]]] = {}
    found: Results = []
    for file in contest.files:
        if not contest.quiet:
            print(f"{file}:\n")
        results = run(replace(contest, files=[file], plot=None, table=None))
        if not contest.quiet:
            print()
        found.append({"file": file, "results": results})
        best: dict[str, dict[str, Any]] = {}  # by learner, without its step
        for result in sorted(results, key=_error, reverse=True):
            name, learner = _name(result)
            best[learner or name] = result
        title = _title(file, errors)
        order = dict.fromkeys(learner or name for name, learner in map(_name, results))
        errors[title] = {name: _error(best[name]) for name in order}
        spreads[title] = {name: best[name]["error"]["sd"] for name in order if "error" in best[name]}
        orders[title] = {name: best[name]["error"]["values"] for name in spreads[title]}
    if any("rmse" in result for entry in found for result in entry["results"]) and len({*map(_kind, found)}) > 1:
        raise OuzelError("some files are of classes and some of numbers; compare them apart")
    table = tested(table_of_files(errors, spreads), orders)
    if any(result["step"] is not None for entry in found for result in entry["results"]):
        table = table._replace(note=f"{table.note}; of each learner the step that was best on the file")
    if contest.table is not None:
        write_table(table, contest.table)
    if contest.plot is not None:
        draw_ranks(errors, contest.plot)
    if not contest.quiet:
        show(table)
    return found


def tested(table: Table, orders: dict[str, dict[str, list[float]]]) -> Table:
    """The table with the marks of a paired test over random orders, where there are several, not of the least error."""
    learners = [row[0] for row in table.cells]
    errors = [np.array([column[name] for name in learners]) for column in orders.values() if column]
    if not errors or errors[0].shape[1] < 2 or len(learners) < 2:
        return table
    marks = zip(*map(_marks, errors), strict=True)
    cells = [
        [name, *(f"{cell.rstrip('*')}{mark}" for cell, mark in zip(row, of, strict=True)), rank]
        for (name, *row, rank), of in zip(table.cells, marks, strict=True)
    ]
    return table._replace(cells=cells, note=table.note.replace(LEAST, TESTED))


def _marks(errors: np.ndarray) -> list[str]:
    """What each candidate of `errors` (k, orders) has earned."""
    better = against_best(errors) < LEVEL
    alone = int(better.sum()) == len(errors) - 1
    return ["" if worse else "*" if alone else "=" for worse in better]


def _name(result: dict[str, Any]) -> tuple[str, str]:
    """A candidate's name, and that without its step, of which the best of a file counts."""
    candidate = Candidate(*(result[name] for name in Candidate._fields))
    return name_of(candidate), name_of(candidate._replace(step=None))


def _error(result: dict[str, Any]) -> float:
    error = result["error"]["mean"] if "error" in result else result.get("rmse", result.get("error_rate"))
    return float("inf") if error is None else float(error)


def _kind(entry: dict[str, Any]) -> bool:
    return any("rmse" in result for result in entry["results"])


def _title(file: str, taken: dict[str, dict[str, float]]) -> str:
    """The file's name, or its path where another has that name."""
    name = Path(file).name.split(".")[0]
    return file if not name or name in taken else name
