"""Cases of reading: every format, with many sets of options, through every entry that yields blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import scipy.sparse as sparse

import ouzel
from records import tables
from records.blocks import blocks_content
from records.contents import Content
from records.entries import (
    ARCHIVES,
    FRAMES,
    converted,
    from_database,
    from_dictionaries,
    from_file,
    from_frame,
    from_log,
)
from records.option_sets import OF_TABLES, OF_VW, USUAL, options_of

Case = tuple[str, Callable[[], Content]]


def cases(folder: Path) -> Iterator[Case]:
    """All cases of reading; files are written to the folder as they are needed."""
    kinds = {"odd": tables.table("odd"), "plain": tables.table("plain")}
    formats = [*tables.TEXT, *tables.TABLES, "lists in parquet", "lists in ipc", "idx"]
    for kind, rows in kinds.items():
        place = folder / kind
        place.mkdir(exist_ok=True)
        for format in formats if kind == "odd" else ("csv", "tsv", "jsonl", "parquet", "arrow", "vw"):
            for name, options in options_of(format).items():
                for entry in ("file", "standard input", "pipe", "gz"):
                    yield (
                        f"read/{kind}/{format}/{name}/{entry}",
                        partial(from_file, entry, format, rows, options, place),
                    )
            for entry in list(ARCHIVES)[1:]:
                usual = options_of(format)["usual"]
                yield f"read/{kind}/{format}/usual/{entry}", partial(from_file, entry, format, rows, usual, place)
        for name, options in options_of("arrow").items():
            for frame in FRAMES:
                yield f"frame/{kind}/{frame}/{name}", partial(from_frame, frame, rows, options)
            yield f"dictionaries/{kind}/{name}", partial(from_dictionaries, rows, options)
            for messages in ("jsonl", "arrow"):
                yield f"log/{kind}/{messages}/{name}", partial(from_log, messages, rows, options)
            yield f"converted/{kind}/{name}", partial(converted, rows, options, place)
        for name, options in OF_VW.items():
            yield f"log/{kind}/vw/{name}", partial(from_log, "vw", rows, options)
            yield f"converted/{kind}/vw {name}", partial(converted, rows, options, place, "vw")
        for messages in ("svmlight", "libffm"):
            yield f"log/{kind}/{messages}/usual", partial(from_log, messages, rows, {})
        for name in ("usual", "roles", "text", "cross", "everything", "indicator"):
            yield f"table log/{kind}/{name}", partial(from_database, rows, {**USUAL, **OF_TABLES[name]}, place)
    yield from _of_arrays()
    yield from _others(kinds["odd"], folder / "odd")
    yield from _tall(folder)


def _of_arrays() -> Iterator[Case]:
    X = np.array([[row["price"], 0.0, row["size"], row["temp"] or 0.0] for row in tables.table("odd")])
    labels = [row["label"] for row in tables.table("odd")]
    for name, options in {
        "usual": {},
        "small blocks": {"block_rows": 7},
        "weights": {"weights": np.arange(60) / 8},
    }.items():
        yield f"array/dense/{name}", partial(blocks_content, lambda o=options: ouzel.blocks_from(X, labels, **o))
        for kind in ("csr", "csc", "coo"):
            made = sparse.csr_matrix(X).asformat(kind)
            yield (
                f"array/{kind}/{name}",
                partial(blocks_content, lambda o=options, m=made: ouzel.blocks_from(m, labels, **o)),
            )


def _others(rows: list[tables.Row], folder: Path) -> Iterator[Case]:
    """Several files as one stream, group sizes, small blocks, formats found by content."""

    def query() -> Content:
        (folder / "sizes").write_text("20\n25\n15\n")
        return blocks_content(lambda: ouzel.read(tables.written("svmlight", rows, folder), query=str(folder / "sizes")))

    def several() -> Content:
        paths = [tables.written(format, rows, folder) for format in ("csv", "tsv", "jsonl", "csv unquoted")]
        return blocks_content(lambda: ouzel.read(paths, **USUAL))

    def by_content(format: str) -> Content:
        path = folder / f"{format} without an ending"
        path.write_bytes(tables.written(format, rows, folder).read_bytes())
        return blocks_content(lambda: ouzel.read(path, label=None))

    def small_blocks() -> Content:
        pairs = [(row, row["label"]) for row in tables.table("plain")]
        return blocks_content(lambda: ouzel.blocks_from(pairs, block_rows=7))

    def cached() -> Content:
        keep = folder / "cache"
        keep.mkdir(exist_ok=True)
        path = tables.written("csv", rows, folder)
        first = blocks_content(lambda: ouzel.read(path, cache=keep, **USUAL))
        again = blocks_content(lambda: ouzel.read(path, cache=keep, **USUAL))
        return first | {f"again {part}": texts for part, texts in again.items()}

    yield "read/sizes of groups", query
    yield "read/several files", several
    yield "read/cached", cached
    yield "dictionaries/small blocks", small_blocks
    for format in ("csv", "tsv", "jsonl", "svmlight", "libffm", "vw", "parquet", "arrow", "arrow stream"):
        yield f"read/format by content/{format}", partial(by_content, format)


def whatever_the_cuts(content: Content) -> Content:
    """The content of a case without what depends on where blocks end, such as names emitted twice."""
    return {part: texts for part, texts in content.items() if part != "emitted"}


def _tall(folder: Path) -> Iterator[Case]:
    """Files of more than one chunk, whose later rows have other values than their first thousand."""
    place = folder / "tall"
    place.mkdir(exist_ok=True)

    def rows(format: str) -> list[tables.Row]:
        found = [dict(row) for row in tables.table("plain", tables.TALL)]
        for k in range(4000, len(found), 501):
            changed = {"review": "new words here", "city": "12"}
            tabular = format not in ("vw", "svmlight", "libffm")
            found[k] |= changed | ({"price": "word" if k % 2 else None, "temp": None} if tabular else {})
        return found

    for format in ("csv", "csv unquoted", "tsv", "jsonl", "vw", "svmlight", "libffm"):
        for name in ("usual", "everything", "bad lines skipped"):
            options = options_of(format).get(name)
            if options is not None:
                for entry in ("file", "gz") if name == "usual" else ("file",):
                    yield (
                        f"tall/{format}/{name}/{entry}",
                        lambda f=format, o=options, e=entry: whatever_the_cuts(from_file(e, f, rows(f), o, place)),
                    )
    for format in ("parquet", "arrow", "arrow stream"):
        for name in ("usual", "everything"):
            options = options_of(format)[name]
            yield (
                f"tall/{format}/{name}",
                lambda f=format, o=options: whatever_the_cuts(from_file("file", f, rows("vw"), o, place)),
            )
