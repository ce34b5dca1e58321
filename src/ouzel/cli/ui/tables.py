"""Tables of figures with a name at the end, which is what gives way on a narrow screen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ouzel.evaluation.comparison.tables import Table as Results

WIDEST = 1000
BLANK = "\N{NO-BREAK SPACE}"  # in the place of a mark


def console_for_tables() -> Console:
    """Standard output, as wide as it takes where it is not a terminal: a file or a pipe gets names in full."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=WIDEST)


def show(results: Results) -> None:
    """Print results under their titles, and what their marks mean."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for place, title in enumerate(results.titles):
        table.add_column(title, justify="right" if place else "left", no_wrap=title != "best step")
    marked = [any(cell[-1:] in "*=!" for cell in column) for column in zip(*results.cells, strict=True)]
    for row in results.cells:  # a plain space would be cut off
        pad = zip(row, marked, strict=True)
        table.add_row(*(f"{cell}{BLANK}" if mark and cell[-1:] not in "*=!" else cell for cell, mark in pad))
    console = Console(highlight=False)
    console.print(table)
    console.print(f"\n{results.note}")


def named_table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> Any:
    """Rows of cells under their titles, figures to the right; the last column is text and may be cut short."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    widths = [max(map(len, column)) for column in zip(titles, *rows, strict=True)]
    for title, width in zip(titles[:-1], widths, strict=False):
        table.add_column(title, justify="right", no_wrap=True, min_width=width)
    table.add_column(titles[-1], overflow="ellipsis", no_wrap=True)
    for row in rows:
        table.add_row(*row[:-1], Text(row[-1], no_wrap=True, overflow="ellipsis"))
    return table
