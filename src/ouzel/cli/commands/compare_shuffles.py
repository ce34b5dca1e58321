"""Comparison over random orders, with a table like LIBOL's."""

from __future__ import annotations

from typing import Any

from ouzel.cli.commands.contest import Contest
from ouzel.cli.ui.progress import Screen
from ouzel.cli.ui.tables import show
from ouzel.evaluation.comparison.plots import draw_cumulative
from ouzel.evaluation.comparison.results import name_of, table_of_orders
from ouzel.evaluation.comparison.shuffles import compare_orders, join
from ouzel.evaluation.comparison.tables import write_table
from ouzel.streams.labels import classes_in
from ouzel.streams.read import read


def compare_in_orders(contest: Contest, orders: int) -> list[dict[str, Any]]:
    """Compare over random orders, show and write the table, draw the plot, and return what --json prints."""
    with Screen(f"{orders} orders", quiet=contest.quiet) as screen:
        with read(contest.files, format=contest.format, **contest.reading) as stream:
            block = join(stream)
        for line in [*stream.remarks, *(classes_in(block) if contest.labels_decide else [])]:
            screen.say(line)
        found = compare_orders(
            contest.chosen,
            block,
            orders,
            jobs=contest.jobs,
            on_progress=lambda done: screen.step(done, orders),
            on_refusal=screen.say,
            **contest.model,
        )
    table = table_of_orders(found)
    if not contest.quiet:
        show(table)
    if contest.table is not None:
        write_table(table, contest.table)
    if contest.plot is not None:
        draw_cumulative({name_of(entry.candidate): entry for entry in found}, contest.plot, title=contest.title)
    return [entry.to_json() for entry in found]
