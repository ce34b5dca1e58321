"""The entries that yield blocks: files, standard input, pipes, archives, frames, dictionaries, logs, databases."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import zstandard

import ouzel
from records import adapter, tables
from records.blocks import blocks_content
from records.contents import Content
from records.option_sets import Options

PIPE = 60_000  # bytes that a pipe holds
FRAMES = ("pandas", "polars", "arrow")
ARCHIVES: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "zst": zstandard.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
}


def from_file(entry: str, format: str, rows: list[tables.Row], options: Options, folder: Path) -> Content:
    """The blocks of a file, as it comes: by its path, through standard input or a pipe, or from an archive."""
    path = tables.written(format, rows, folder)
    name = format.split()[0]
    plain = {"feather": "arrow", "lists": "arrow" if path.suffix == ".ipc" else "parquet"}.get(name, name)
    if entry == "file":
        return blocks_content(lambda: ouzel.read(path, **options), path)
    data = path.read_bytes()
    if entry in ARCHIVES:
        if format == "idx":
            for each in folder.glob("t.*-ubyte"):
                (folder / f"{each.name}.{entry}").write_bytes(ARCHIVES[entry](each.read_bytes()))
        packed = folder / f"{path.name}.{entry}"
        if format != "idx" and not packed.exists():
            packed.write_bytes(ARCHIVES[entry](data))
        return blocks_content(lambda: ouzel.read(packed, **options), packed)
    with pipe_of(data) as reading:
        if entry == "pipe":
            found = blocks_content(lambda: ouzel.read(f"/dev/fd/{reading}", plain, **options))
        else:
            usual = sys.stdin
            with open(os.dup(reading)) as sys.stdin:
                try:
                    found = blocks_content(lambda: ouzel.read("-", plain, **options))
                finally:
                    sys.stdin = usual
    said = [text.replace(f"/dev/fd/{reading}", "SOURCE").replace("standard input", "SOURCE") for text in found["said"]]
    return {**found, "said": said}


@contextmanager
def pipe_of(data: bytes) -> Iterator[int]:
    """A pipe with these bytes, written before it is read where they fit."""
    reading, writing = os.pipe()
    begun = threading.Event()

    def write() -> None:
        if len(data) > PIPE:
            begun.set()  # it is read while it is written
        with open(writing, "wb", buffering=0) as file, suppress(BrokenPipeError):
            at = 0
            while at < len(data):
                at += file.write(data[at:]) or 0
        begun.set()

    writer = threading.Thread(target=write)
    writer.start()
    begun.wait()
    try:
        yield reading
    finally:
        os.close(reading)
        writer.join()


def from_frame(frame: str, rows: list[tables.Row], options: Options) -> Content:
    """The blocks of a data frame."""
    if frame == "arrow":
        made: Any = tables.arrow(rows)
    elif frame == "polars":
        import polars

        made = polars.from_arrow(tables.arrow(rows))
    else:
        import pandas

        made = pandas.DataFrame(rows)
    return blocks_content(lambda: ouzel.blocks_from(made, **options))


def from_dictionaries(rows: list[tables.Row], options: Options) -> Content:
    """The blocks of dictionaries, without the options that only tables have."""
    label = options["label"] or "label"
    given = {
        name: value
        for name, value in options.items()
        if name not in ("label", "label_positive", "weight", "group", "id")
    }
    for name in ("sample", "limits", "on_error", "unlabelled"):
        given.pop(name, None)
    weights = [row["weight"] for row in rows] if "weight" in options else None
    features = [{name: value for name, value in row.items() if name != label} for row in rows]
    labels = [row[label] for row in rows]
    return blocks_content(lambda: ouzel.blocks_from(features, labels, weights=weights, **given))


def messages_of(kind: str, rows: list[tables.Row]) -> list[bytes]:
    """Rows as messages of a log: a line each, or an Arrow stream of five rows."""
    if kind == "arrow":
        made = tables.arrow(rows)
        return [tables.as_stream(made.slice(k, 5), 5) for k in range(0, len(rows), 5)]
    make = {"jsonl": tables.json_lines, "vw": tables.vw, "svmlight": tables.svmlight, "libffm": tables.libffm}[kind]
    return [line for line in make(rows).split(b"\n") if line and not line.startswith(b"#")]


def from_log(kind: str, rows: list[tables.Row], options: Options) -> Content:
    """The blocks of a log in memory."""
    given = {name: value for name, value in options.items() if name != "limits"}
    found = blocks_content(lambda: adapter.read_messages(messages_of(kind, rows), None, given))
    found.pop("emitted", None)  # blocks are cut as messages arrive
    return found


def from_database(rows: list[tables.Row], options: Options, folder: Path) -> Content:
    """The blocks of a table that is read as a log, by a cursor, and of a query."""
    path = folder / "t.db"
    if not path.exists():
        with sqlite3.connect(path) as connection:
            names = [*rows[0]]
            kinds = {str: "TEXT", float: "REAL", int: "INTEGER", bool: "INTEGER"}
            columns = ", ".join(
                f"{name} {kinds[type(next(r[name] for r in rows if r[name] is not None))]}" for name in names
            )
            connection.execute(f"CREATE TABLE t (number INTEGER PRIMARY KEY, {columns})")
            marks = ", ".join("?" * len(names))
            connection.executemany(
                f"INSERT INTO t ({', '.join(names)}) VALUES ({marks})", [tuple(row.values()) for row in rows]
            )
        connection.close()
    log = blocks_content(lambda: ouzel.read(f"sqlite:///{path}?cursor=number#SELECT * FROM t", **options), folder)
    log.pop("emitted", None)
    query = blocks_content(lambda: ouzel.read(f"sqlite:///{path}#SELECT * FROM t ORDER BY number", **options), folder)
    return log | {f"query {part}": texts for part, texts in query.items()}


def converted(rows: list[tables.Row], options: Options, folder: Path, format: str = "csv") -> Content:
    """What a converted file holds, in each format that files are converted to."""
    found: Content = {}
    path = tables.written(format, rows, folder)
    reading = {name: options[name] for name in ("bits", "seed") if name in options}
    for ending in ("arrow", "parquet", "svm", "vw"):
        to = folder / f"converted.{ending}"
        to.unlink(missing_ok=True)
        try:
            ouzel.convert(ouzel.read(path, **options), to)
        except ouzel.OuzelError as error:
            found[f"{ending} refused"] = [str(error).replace(str(folder), "FOLDER")]
            continue
        if ending in ("svm", "vw"):
            found[ending] = to.read_text().splitlines()
        else:
            blocks = blocks_content(lambda to=to: ouzel.read(to, **reading), folder)
            found |= {f"{ending} {part}": texts for part, texts in blocks.items()}
    return found
