"""Output of results: files first, then text."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ouzel.errors import OuzelError

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


def titled(files: Sequence[str], between: str = ", ") -> str:
    """Return a title for a plot: the names of the files.

    >>> titled(["logs/today.csv", "logs/yesterday.csv"], " against ")
    'today.csv against yesterday.csv'
    """
    names = [Path(file).name for file in files]
    return between.join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
