"""Tables of results for papers and other programs: CSV, Markdown and LaTeX, by the ending of a file's name."""

from __future__ import annotations

import csv
import re
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

from ouzel.comparison.latex import latex
from ouzel.errors import OuzelError
from ouzel.files import check_place, write_atomically

STAR = re.compile(r"^\* ")  # which LaTeX has as bold
ENDINGS = (".csv", ".md", ".tex")


class Table(NamedTuple):
    """Results twice: `cells` for people, under their titles, and `records` of plain values for programs."""

    titles: list[str]
    cells: list[list[str]]
    records: list[dict[str, Any]]
    note: str  # what the marks mean

    def turned(self, first: str) -> Table:
        """The table with rows and columns exchanged; `first` is the title of the first column.

        >>> Table(["learner", "a.csv"], [["ogd", "0.1*"]], [{"learner": "ogd", "a.csv": 0.1}], "").turned("file")[:2]
        (['file', 'ogd'], [['a.csv', '0.1*']])
        """
        names = [row[0] for row in self.cells]
        cells = [[title, *column] for title, *column in zip(self.titles, *self.cells, strict=True)][1:]
        key, *keys = dict.fromkeys(name for record in self.records for name in record)
        records = [{first: name, **{of[key]: of[name] for of in self.records if name in of}} for name in keys]
        return Table([first, *names], cells, records, self.note)


def check_table_path(path: str) -> None:
    """Refuse, before any work is done, a table that could not be written."""
    if Path(path).suffix.lower() not in ENDINGS:
        raise OuzelError(f"{path}: a table's name ends in {', '.join(ENDINGS)}")
    check_place(Path(path))


def write_table(table: Table, path: str) -> None:
    """Write a table to its file, whole or not at all."""
    forms = {".csv": _comma_separated, ".md": _markdown}
    ending, name = Path(path).suffix.lower(), Path(path).stem
    with write_atomically(path) as file:
        if ending == ".tex":
            note = "; ".join(table.note.splitlines())
            caption = STAR.sub("Bold: ", note)
            file.write(f"{latex(table.titles, table.cells, caption, name)}\n".encode())
        else:
            file.write(forms[ending](table).encode())


def _comma_separated(table: Table) -> str:
    text = StringIO()
    names = list(dict.fromkeys(name for record in table.records for name in record))
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(table.records)
    return text.getvalue()


def _markdown(table: Table) -> str:
    under = ["---", *["---:"] * (len(table.titles) - 1)]
    rows = [f"| {' | '.join(row)} |" for row in (table.titles, under, *table.cells)]
    return "\n".join([*rows, "", table.note, ""]).replace("*", r"\*")
