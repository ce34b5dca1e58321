"""Comparison in one pass, with its table and plot."""

from __future__ import annotations

from typing import Any

from ouzel.cli.commands.contest import Contest
from ouzel.cli.ui.progress import Screen
from ouzel.cli.ui.tables import show
from ouzel.errors import OuzelError
from ouzel.evaluation.comparison.compare import compare
from ouzel.evaluation.comparison.grid import Candidate
from ouzel.evaluation.comparison.plots import draw_comparison
from ouzel.evaluation.comparison.recovery import recovery_error
from ouzel.evaluation.comparison.results import table_of_reading
from ouzel.evaluation.comparison.tables import write_table
from ouzel.evaluation.formatting import figure
from ouzel.learners import catalogue
from ouzel.streams.groups import Groups
from ouzel.streams.labels import classes_in
from ouzel.streams.read import read


def compare_once(contest: Contest, top: int, reference: str, given: dict[str, Any]) -> list[dict[str, Any]]:
    """Compare in one pass, show the table, draw the plot, and return what --json prints."""
    standard: list[Candidate] = []
    if top:
        fields = catalogue.find(reference).settings._fields
        fixed = {name: value for name, value in given.items() if name in fields}
        standard = [Candidate(reference, None, None, None, fixed)]
    with (
        Screen(f"{len(contest.chosen)} candidates", quiet=contest.quiet) as screen,
        read(contest.files, format=contest.format, **contest.reading) as stream,
    ):
        screen.stream = stream
        taken = classes_in(stream.first()) if contest.labels_decide else []
        found = compare(
            [*standard, *contest.chosen],
            Groups(stream) if contest.model.get("task") == "ranking" else stream,
            jobs=contest.jobs,
            on_progress=lambda entries: screen.show_scores(entries[0].scores),
            on_wait=screen.wait,
            on_refusal=screen.say,
            **contest.model,
        )
        for line in [*stream.remarks, *taken]:
            screen.say(line)
    if top and found[0].candidate is not standard[0]:
        raise OuzelError(f"--reference {reference} cannot hold the features of this stream; name another")
    best = found[0] if top else None
    entries = found[len(standard) :]
    recovered = {id(entry): None if best is None else recovery_error(entry.model, best.model, top) for entry in entries}
    extra = {"top": top} if top else {}
    table = table_of_reading(entries, recovered if top else None, extra)
    if contest.table is not None:
        write_table(table, contest.table)
    if not contest.quiet:
        show(table)
        if best is not None:
            print(f"recovery: of the {top} heaviest weights, against {reference} (error {figure(best.figure)})")
    if contest.best is not None:
        contest.save(min(entries, key=lambda entry: entry.figure).model)
    if contest.plot is not None:
        draw_comparison(entries, contest.plot, contest.title, recovered, best)
    return [entry.to_json() | ({"recovery_error": recovered[id(entry)], **extra} if top else {}) for entry in entries]
