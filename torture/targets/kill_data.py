"""The stream that killed trainings learn, in several formats."""

from __future__ import annotations

import gzip
import json
import lzma
from collections.abc import Callable
from pathlib import Path
from random import Random

ROWS = 3000


def _rows() -> list[tuple[int, list[float], str]]:
    random = Random(7)
    rows = []
    for _ in range(ROWS):
        numbers = [round(random.gauss(0, 1), 4) for _ in range(12)]
        word = random.choice(("red", "green", "blue", "grey"))
        label = int(numbers[0] + 0.5 * numbers[1] + (word == "red") + random.gauss(0, 0.3) > 0)
        rows.append((label, numbers, word))
    return rows


ROW = _rows()
TEXT = "".join(
    f"{label} " + " ".join(f"{k + 1}:{x}" for k, x in enumerate(numbers)) + "\n" for label, numbers, _ in ROW
).encode()
CSV = ("label,word," + ",".join(f"f{k}" for k in range(12)) + "\n").encode() + "".join(
    f"{label},{word}," + ",".join(map(str, numbers)) + "\n" for label, numbers, word in ROW
).encode()
VW = "".join(
    f"{label or -1} |n word={word} " + " ".join(f"f{k}:{x}" for k, x in enumerate(numbers)) + "\n"
    for label, numbers, word in ROW
).encode()
JSON = "".join(
    json.dumps({"label": label, "word": word, **{f"f{k}": x for k, x in enumerate(numbers)}}) + "\n"
    for label, numbers, word in ROW
).encode()

Sources = dict[str, str]


def write(folder: Path) -> Sources:
    """Write the stream in all formats; the paths by name."""
    import io

    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.ipc
    import pyarrow.parquet

    half = TEXT.index(b"\n", len(TEXT) // 2) + 1
    contents = {
        "a.svm": TEXT,
        "first.svm": TEXT[:half],
        "second.svm": TEXT[half:],
        "a.csv": CSV,
        "a.vw": VW,
        "a.jsonl": JSON,
        "a.svm.gz": gzip.compress(TEXT, 1, mtime=0),
        "a.csv.xz": lzma.compress(CSV, preset=0),
    }
    table = pa.csv.read_csv(io.BytesIO(CSV), pa.csv.ReadOptions(use_threads=False))
    sink = io.BytesIO()
    pa.parquet.write_table(table, sink, row_group_size=700)
    contents["a.parquet"] = sink.getvalue()
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=500)
    contents["a.arrow"] = sink.getvalue()
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    return {name: str(folder / name) for name in contents}


def _one(name: str) -> Callable[[Sources], tuple[list[str], bytes]]:
    return lambda sources: ([sources[name]], b"")


FORMS: dict[str, Callable[[Sources], tuple[list[str], bytes]]] = {
    **{
        name: _one(name)
        for name in ("a.svm", "a.csv", "a.vw", "a.jsonl", "a.svm.gz", "a.csv.xz", "a.parquet", "a.arrow")
    },
    "two files": lambda sources: ([sources["first.svm"], sources["second.svm"]], b""),
    "-": lambda sources: (["-"], TEXT),
    "packed -": lambda sources: (["-"], gzip.compress(TEXT, 1, mtime=0)),
}
"""By name: the files of the command, and what comes by standard input."""
