"""The table and the figures of a comparison over random orders, as LIBOL prints them."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table

from ouzel.cli.commands.compare_once import step_name
from ouzel.cli.commands.contest import Contest
from ouzel.cli.ui.formatting import size
from ouzel.cli.ui.progress import Screen
from ouzel.evaluation.comparison.grid import Candidate
from ouzel.evaluation.comparison.shuffles import Summary, compare_orders, join
from ouzel.plotting.curves import draw_cumulative
from ouzel.streams.read import read


def compare_in_orders(contest: Contest, orders: int) -> list[dict[str, Any]]:
    """Compare over random orders; show the table, draw the figures, return what --json prints."""
    with Screen(f"{orders} orders", quiet=contest.quiet) as screen:
        with read(contest.files, format=contest.format, **contest.reading) as stream:
            block = join(stream)
        found = compare_orders(
            contest.chosen,
            block,
            orders,
            jobs=contest.jobs,
            on_progress=lambda done: screen.step(done, orders),
            on_refusal=screen.say,
            **contest.model,
        )
    if not contest.quiet:
        _print_table(found, orders)
    if contest.plot is not None:
        draw_cumulative({_name(entry.candidate): entry for entry in found}, contest.plot)
    return [
        {**entry.candidate._asdict(), "orders": orders}
        | {name: {"mean": mean, "sd": spread} for name, (mean, spread) in entry.row().items()}
        for entry in found
    ]


def _print_table(found: list[Summary], orders: int) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("learner", no_wrap=True)
    for title in ("rmse" if found[0].task.numbers else "mistake rate", "updates", "seconds"):
        table.add_column(title, justify="right", no_wrap=True)
    least = min(entry.row()["error"][0] for entry in found)
    for entry in found:
        row = entry.row()
        mark = "*" if row["error"][0] == least else "\N{NO-BREAK SPACE}"  # a plain one would be cut off
        table.add_row(
            _name(entry.candidate),
            f"{row['error'][0]:.4f} ± {row['error'][1]:.4f}{mark}",
            f"{row['updates'][0]:,.0f} ± {row['updates'][1]:,.0f}",
            f"{row['seconds'][0]:.3f} ± {row['seconds'][1]:.3f}",
        )
    console = Console(highlight=False)
    console.print(table)
    console.print(f"\n* the lowest mean over {orders} random orders; ± is the standard deviation")


def _name(candidate: Candidate) -> str:
    parts = [candidate.learner]
    if candidate.step is not None:
        parts.append(f"step {step_name(candidate.step)}")
    if candidate.l1 is not None:
        parts.append(f"l1 {candidate.l1:g}")
    if candidate.budget is not None:
        parts.append(size(candidate.budget))
    return " ".join(parts)
