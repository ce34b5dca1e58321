"""The sets of River's benchmark page: those that its package has, those of the data folder, those River has fetched."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ouzel.errors import OuzelError
from ouzel.streams.block_stream import BlockStream
from ouzel.streams.read import read
from reproduce.provenance import DataFolder

FILES = {"Elec2": ("elec2.csv.xz", "class"), "SMTP": ("smtp.csv.xz", "service")}  # and the columns of labels
FETCHED = ("Insects", "Keystroke")  # by River from the network, at their first use
LABEL = "label"


def river_datasets() -> Any:
    """Import River's data sets; raise an OuzelError where River is not installed."""
    try:
        from river import datasets
    except ImportError:
        raise OuzelError("River is not installed, whose sets these are; run `pip install river`") from None
    return datasets


def is_available(name: str) -> bool:
    """Return whether a set can be read without a network."""
    return name not in FETCHED or bool(getattr(river_datasets(), name)().is_downloaded)


@contextmanager
def stream_of(data: DataFolder, name: str) -> Iterator[BlockStream]:
    """A set as the default reads it: a table of CSV in the file's own order, River's own written as one."""
    if name in FILES:
        file, label = FILES[name]
        with read(str(data / file), label=label) as stream:
            yield stream
        return
    found = getattr(river_datasets(), name)()
    data.used.add(Path(found.path))
    with TemporaryDirectory() as place:
        path = Path(place, f"{name}.csv")
        with path.open("w", newline="") as file_of:
            write_csv(found, csv.writer(file_of))
        with read(str(path), label=LABEL) as stream:
            yield stream


def write_csv(pairs: Any, writer: Any) -> None:
    """Write examples and labels as a table."""
    columns: list[str] | None = None
    for x, y in pairs:
        if columns is None:
            columns = list(x)
            writer.writerow([*columns, LABEL])
        writer.writerow([*(x[column] for column in columns), y])
