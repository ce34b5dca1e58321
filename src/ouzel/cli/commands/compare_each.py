"""Comparison on several files separately, with mean ranks of the learners."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ouzel.cli.commands.contest import Contest
from ouzel.cli.ui.tables import show
from ouzel.comparing_files import errors_of_files, marked_table_of_files, title_of
from ouzel.evaluation.comparison.plots import draw_ranks
from ouzel.evaluation.comparison.tables import write_table

Results = list[dict[str, Any]]


def compare_each(contest: Contest, run: Callable[[Contest], Results]) -> Results:
    """Compare on each file separately, show a table of errors and mean ranks, and return what --json prints."""
    found: dict[str, Results] = {}
    for file in contest.files:
        if not contest.quiet:
            print(f"{file}:\n")
        found[title_of(file, found)] = run(replace(contest, files=[file], plot=None, table=None))
        if not contest.quiet:
            print()
    table = marked_table_of_files(found)
    if contest.table is not None:
        write_table(table, contest.table)
    if contest.plot is not None:
        draw_ranks(errors_of_files(found), contest.plot)
    if not contest.quiet:
        show(table)
    return [{"file": file, "results": results} for file, results in zip(contest.files, found.values(), strict=True)]
