"""Tables of comparisons on several files: one column of errors per file, marks of significance, and mean ranks."""

from __future__ import annotations

from collections.abc import Container, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ouzel.errors import OuzelError
from ouzel.evaluation.comparison.grid import Candidate
from ouzel.evaluation.comparison.results import name_of, table_of_files
from ouzel.evaluation.comparison.significance import LEVEL, against_best
from ouzel.evaluation.comparison.tables import Table

LEAST = "* the best of a file"  # what a note says of stars for the least error
TESTED = (
    "* better than every other on its file, = the lowest mean there and those not worse for certain "
    f"(a paired t-test, p < {LEVEL:g} by Holm's correction)"
)

Results = Mapping[str, list[dict[str, Any]]]
"""What a comparison found on each file, by its title: the results of candidates as JSON has them."""


def marked_table_of_files(found: Results) -> Table:
    """Return a table of errors, one column per file, of each learner with its best step there, and mean ranks.

    Of random orders there are standard deviations, and the marks of a paired test; else a star for the least error.
    """
    results = [result for column in found.values() for result in column]
    numbers = {any("rmse" in result for result in column) for column in found.values()}
    if len(numbers) > 1:
        raise OuzelError("some files are of classes and some of numbers; compare them apart")
    best = {file: _best(column) for file, column in found.items()}
    orders = {file: {name: of["error"] for name, of in row.items() if "error" in of} for file, row in best.items()}
    spreads = {file: {name: error["sd"] for name, error in row.items()} for file, row in orders.items()}
    values = {file: {name: error["values"] for name, error in row.items()} for file, row in orders.items()}
    table = marked(table_of_files(errors_of_files(found), spreads), values)
    if any(result["step"] is not None for result in results):
        table = table._replace(note=f"{table.note}; of each learner the step that was best on the file")
    return table


def errors_of_files(found: Results) -> dict[str, dict[str, float]]:
    """Return the errors by file and learner, each with its best step on the file."""
    return {file: {name: _error(of) for name, of in _best(column).items()} for file, column in found.items()}


def marked(table: Table, orders: dict[str, dict[str, list[float]]]) -> Table:
    """Replace the marks of the lowest error by those of a paired test, where there are several random orders."""
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
    """Return the mark of each candidate of `errors` (k, orders)."""
    better = against_best(errors) < LEVEL
    alone = int(better.sum()) == len(errors) - 1
    return ["" if worse else "*" if alone else "=" for worse in better]


def title_of(file: str | Path, taken: Container[str]) -> str:
    """Return the file's name, or its path if another has that name.

    >>> title_of("data/heart.svm.xz", []), title_of("more/heart.svm", ["heart"])
    ('heart', 'more/heart.svm')
    """
    name = Path(file).name.split(".")[0]
    return str(file) if not name or name in taken else name


def _best(results: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the result of each learner's best step."""
    best: dict[str, dict[str, Any]] = {}
    for result in results:
        candidate = Candidate(*(result[name] for name in Candidate._fields))
        name = name_of(candidate._replace(step=None))
        if name not in best or _error(result) <= _error(best[name]):
            best[name] = result
    return best


def _error(result: Mapping[str, Any]) -> float:
    error = result["error"]["mean"] if "error" in result else result.get("rmse", result.get("error_rate"))
    return float("inf") if error is None else float(error)
