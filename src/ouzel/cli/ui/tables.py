"""Tables of figures for a terminal, fitted to its width."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ouzel.comparison.tables import Table as Results
from ouzel.errors import printable
from ouzel.evaluation.formatting import WIDTH

WIDEST = 1000
STEPS = "best step"  # the column whose cells may take several lines
LEAST = ("seconds", "non-zeros", "updates", "mean loss")  # columns that a narrow screen does without, the first first
BLANK = "\N{NO-BREAK SPACE}"  # in the place of a mark


def console_for_tables() -> Console:
    """Return a console on standard output, with unlimited width where it is not a terminal."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=WIDEST)


def show(results: Results) -> None:
    """Print a table of results and the note on its marks, without columns that do not fit the screen.

    Titles take several lines if the table is wider than usual screens.
    """
    console = console_for_tables()
    marked = [any(cell[-1:] in "*=!" for cell in column) for column in zip(*results.cells, strict=True)]
    rows = [
        [f"{cell}{BLANK}" if mark and cell[-1:] not in "*=!" else cell for cell, mark in zip(row, marked, strict=True)]
        for row in results.cells
    ]  # a plain space would be cut off
    titles = results.titles
    if _width(titles, rows) > min(console.width, WIDTH):
        titles = [_folded(title, column) for title, *column in zip(titles, *rows, strict=True)]
    titles, rows, left_out = _fitting(titles, rows, console.width)
    widths = _widths(titles, rows)
    for number, part in enumerate(_parts(widths, console.width)):
        if number:
            console.print()
        table = Table(box=None, pad_edge=False, header_style="bold")
        for place in part:
            title, width = titles[place], widths[place]
            table.add_column(
                title, justify="right" if place else "left", no_wrap=_unfolded(title) != STEPS, min_width=width
            )
        for row in rows:
            table.add_row(*(row[place] for place in part))
        console.print(table)
    console.print(f"\n{results.note}")
    if left_out:
        console.print(f"left out on this narrow screen: {', '.join(left_out)}")


def _fitting(titles: Sequence[str], rows: list[list[str]], width: int) -> tuple[list[str], list[list[str]], list[str]]:
    """Return titles and rows that fit, and the titles of the columns that do not."""
    kept, left_out = list(titles), []
    for title in LEAST:
        names = [*map(_unfolded, kept)]
        if _width(kept, rows) > width and title in names:
            place = names.index(title)
            kept, rows = kept[:place] + kept[place + 1 :], [row[:place] + row[place + 1 :] for row in rows]
            left_out.append(title)
    return kept, rows, left_out


def _parts(widths: Sequence[int], width: int) -> list[list[int]]:
    """Split columns that are too wide into parts, each of which begins with the first column.

    >>> _parts([7, 20, 20, 9], 62), _parts([7, 20, 20, 9], 40)
    ([[0, 1, 2, 3]], [[0, 1], [0, 2, 3]])
    """
    parts = [[0]]
    for place in range(1, len(widths)):
        if len(parts[-1]) > 1 and sum(widths[k] + 2 for k in [*parts[-1], place]) - 2 > width:
            parts.append([0])
        parts[-1].append(place)
    return parts


def _folded(title: str, cells: Sequence[str]) -> str:
    """Return a title on as many lines as make it no wider than its cells, if its words allow that.

    >>> _folded("non-zeros", ["103"]), _folded("mean loss", ["0.4514"]), _folded("above the best", ["0.0026 to 0.0086"])
    ('non-\\nzeros', 'mean\\nloss', 'above the best')
    """
    return "\n".join(textwrap.wrap(title, max(map(len, cells)), break_long_words=False)) or title


def _unfolded(title: str) -> str:
    return title.replace("-\n", "-").replace("\n", " ")


def _widths(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> list[int]:
    """Return the widths of columns; the column of steps may be folded."""
    found = []
    for title, *cells in zip(titles, *rows, strict=True):
        parts = [word for cell in cells for word in cell.split()] if _unfolded(title) == STEPS else cells
        found.append(max(map(len, [*title.split("\n"), *parts])))
    return found


def _width(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    """Return the width of a table."""
    return sum(_widths(titles, rows)) + 2 * (len(titles) - 1)


def show_named(console: Console, titles: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows of figures with their names at the end; columns that do not fit follow below, with the names again."""
    titles, rows = [*map(printable, titles)], [(*row[:-1], printable(row[-1])) for row in rows]
    names, *figures = (
        max(map(len, column)) for column in zip(*((row[-1], *row[:-1]) for row in (titles, *rows)), strict=True)
    )
    for number, part in enumerate(_parts([names, *figures], console.width)):
        places = [*(place - 1 for place in part[1:]), -1]
        if number:
            console.print()
        console.print(named_table([titles[k] for k in places], [[row[k] for k in places] for row in rows]))


def named_table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> Any:
    """Return a table of right-aligned figures; the last column is text and may be cut off."""
    titles, rows = [*map(printable, titles)], [(*row[:-1], printable(row[-1])) for row in rows]
    table = Table(box=None, pad_edge=False, header_style="bold")
    widths = [max(map(len, column)) for column in zip(titles, *rows, strict=True)]
    for title, width in zip(titles[:-1], widths, strict=False):
        table.add_column(title, justify="right", no_wrap=True, min_width=width)
    table.add_column(titles[-1], overflow="ellipsis", no_wrap=True)
    for row in rows:
        table.add_row(*row[:-1], Text(row[-1], no_wrap=True, overflow="ellipsis"))
    return table
