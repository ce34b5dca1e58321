"""Tables of figures with a name at the end, which is what gives way on a narrow screen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

WIDEST = 1000


def console_for_tables() -> Console:
    """Standard output, as wide as it takes where it is not a terminal: a file or a pipe gets names in full."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=WIDEST)


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
