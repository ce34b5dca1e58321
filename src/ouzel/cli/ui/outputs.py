"""Output of results: files first, then text; and metrics as rows of a table in a database, for `--save-to`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ouzel.errors import OuzelError
from ouzel.evaluation.formatting import NAMES

SHOWN = (
    *("error_rate", "log_loss", "auc", "calibration_error", "rmse", "mae", "r2", "deviance"),
    *("average_precision", "mean_loss", "baseline"),
)
FIGURES = {name: NAMES[name] for name in SHOWN}
OF_RARE_CLASSES = {name: NAMES[name] for name in ("average_precision", "precision", "recall", "f1")}
ABOUT = {"model": "string", "files": "string", "learner": "string", "task": "string", "examples": "int64"}
Written = tuple[str | None, str, Callable[[str], Any]]  # a file, what to say of it, and what writes it


def write_outputs(
    files: Sequence[Written], answer: Callable[[], dict[str, Any]] | None, show: Callable[[], None]
) -> None:
    """Write the files, then print the `answer` as JSON if there is one, or else show it and name the files.

    Files are written before anything is printed. If one cannot be written, the others are, and its error is raised at
    the end.
    """
    written, failed = [], None
    for path, what, write in files:
        if path is not None:
            try:
                write(path)
                written.append(f"{what} {path}")
            except OuzelError as error:
                failed = failed or error
    try:
        if answer is not None:
            print(json.dumps(answer()))
        else:
            show()
            for line in written:
                print(line)
        sys.stdout.flush()
    except OSError as error:
        for line in written:
            error.add_note(line)
        raise
    if failed is not None:
        raise failed


def check_save_to(address: str | None) -> None:
    """Refuse an address of `--save-to` that is not a table of a database."""
    if address is not None:
        from ouzel.streams.sources.databases import check_table

        check_table(address)


def added_to(address: str | None, files: Sequence[str], rows: Callable[[], Sequence[Mapping[str, Any]]]) -> Written:
    """Return an output that adds rows to a table; members of `ABOUT` and `FIGURES` that a row lacks are null."""

    def add(_: str) -> None:
        import pyarrow

        from ouzel.streams.sources.addresses import is_remote, name_of
        from ouzel.streams.sources.databases import write_table

        assert address is not None
        names = " ".join(name_of(file) if is_remote(file) else file for file in files)  # without passwords
        given = [{"files": names, **row} for row in rows()]
        types = {**ABOUT, **dict.fromkeys(FIGURES, "double")}
        columns = {name: pyarrow.array([row.get(name) for row in given], type) for name, type in types.items()}
        write_table(address, [pyarrow.table(columns)], replace=False)

    return None if address is None else address.rpartition("#")[2], "figures added to", add  # it may hold a password


def titled(files: Sequence[str], between: str = ", ") -> str:
    """Return a title for a plot: the names of the files.

    >>> titled(["logs/today.csv", "logs/yesterday.csv"], " against ")
    'today.csv against yesterday.csv'
    """
    names = [Path(file).name for file in files]
    return between.join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
