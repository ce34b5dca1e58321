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
