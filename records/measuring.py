"""One figure, measured in a process of its own: `python -m records.measuring NAME FOLDER` prints a number."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

import ouzel

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
ROWS = {"eat-rate": 240_000, "clicks": 80_000}
FIRST = 1000  # rows by which columns are judged: what they take is a figure of its own
PASSES = 5


def named_file(table: str, format: str, folder: Path) -> Path:
    """The file of one of the tables of `benchmarks/named.py`, made once for both checkouts."""
    import named

    path = folder / f"{table}-{ROWS[table]}.{format}"
    if not path.exists():
        lines = list({"eat-rate": named.eat_rate, "clicks": named.clicks}[table](ROWS[table]))
        texts = {"vw": "".join(lines), "jsonl": "".join(map(named.as_object, lines))}
        if format in texts:
            path.write_text(texts[format])
        else:
            import pyarrow.csv
            import pyarrow.json
            import pyarrow.parquet

            made = pyarrow.json.read_json(named_file(table, "jsonl", folder))
            pyarrow.csv.write_csv(made, path) if format == "csv" else pyarrow.parquet.write_table(made, path)
    return path


def zipf_file(folder: Path) -> Path:
    """Sparse svmlight text, as `benchmarks/streaming.py` has it."""
    from text import zipf_rows

    path = folder / "zipf.svm"
    if not path.exists():
        ids, values, labels = zipf_rows(20_000)
        rows = zip(labels.tolist(), ids.tolist(), values.tolist(), strict=True)
        path.write_text(
            "".join(f"{y} {' '.join(f'{j}:{x:.6f}' for j, x in zip(i, v, strict=True))}\n" for y, i, v in rows)
        )
    return path


def best(work: Callable[[], Any], passes: int = PASSES) -> float:
    """Seconds of the fastest of some passes, in processor time of this process."""
    found = []
    for _ in range(passes):
        begun = time.process_time()
        work()
        found.append(time.process_time() - begun)
    return min(found)


def reading(path: Path, **options: Any) -> float:
    """Nanoseconds that reading takes a feature."""
    features = sum(block.nonzeros for block in ouzel.read(path, **options))
    return 1e9 * best(lambda: sum(block.rows for block in ouzel.read(path, **options))) / features


def named_reading(table: str, format: str, folder: Path, **options: Any) -> float:
    """The same of named features."""
    return reading(named_file(table, format, folder), **options)


def first_rows(format: str, folder: Path) -> float:
    """Milliseconds that reading takes a file of the first thousand rows."""
    path = folder / f"first.{format}"
    if not path.exists():
        with named_file("clicks", format, folder).open("rb") as file:
            path.write_bytes(b"".join(islice(file, FIRST)))
    return 1e3 * best(lambda: sum(block.rows for block in ouzel.read(path)), 20)


def streaming(folder: Path) -> float:
    """The same of sparse text."""
    return reading(zipf_file(folder))


def converted_reading(folder: Path) -> float:
    """The same of a converted file, which each checkout makes for itself."""
    path = folder / f"eat-rate-{os.getpid()}.arrow"
    ouzel.convert(ouzel.read(named_file("eat-rate", "csv", folder)), path)
    try:
        return reading(path)
    finally:
        path.unlink()


def training(learner: str, folder: Path) -> float:
    """Seconds of a whole `ouzel train` on sparse text."""
    words = [
        str(Path(sys.executable).with_name("ouzel")),
        "train",
        str(zipf_file(folder)),
        "--learner",
        learner,
        "--json",
    ]
    found = []
    for _ in range(3):
        begun = time.perf_counter()
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        found.append(time.perf_counter() - begun)
    return min(found)


def starting(folder: Path) -> float:
    """Seconds of `ouzel train` on 30 rows."""
    path = folder / "small.csv"
    path.write_text("a,b,label\n" + "1.5,x,1\n2,y,0\n" * 15)
    words = [str(Path(sys.executable).with_name("ouzel")), "train", str(path), "--learner", "adagrad"]
    found = []
    for _ in range(7):
        begun = time.perf_counter()
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        found.append(time.perf_counter() - begun)
    return float(np.median(found))


def single_calls(name: str, folder: Path) -> float:
    """Microseconds of one call with a dictionary of 76 names."""
    from text import zipf_rows

    ids, values, labels = zipf_rows(300)
    rows = [
        {f"word={j}": float(x) for j, x in zip(row, numbers, strict=True)}
        for row, numbers in zip(ids.tolist(), values.tolist(), strict=True)
    ]
    pairs = list(zip(rows, (labels > 0).tolist(), strict=True))
    model = ouzel.AdaGradClassifier()
    for row, label in pairs:
        model.learn_one(row, label)
    call = getattr(model, name)
    with_label = name == "learn_one"
    return 1e6 * best(lambda: [call(x, y) if with_label else call(x) for x, y in pairs], 30) / len(pairs)


def log_reading(folder: Path) -> float:
    """Microseconds that a message of a log in memory takes."""
    from records import adapter

    lines = named_file("clicks", "jsonl", folder).read_bytes().split(b"\n")[:20_000]
    return 1e6 * best(lambda: sum(b.rows for b in adapter.read_messages(lines, "jsonl", {}, 500)), 3) / len(lines)


def first_run(format: str, folder: Path) -> float:
    """Seconds of a first training with no kernel compiled."""
    from records.starting import first_run

    return first_run(sys.executable, format)


MEASURED: dict[str, Callable[[Path], float]] = {
    "start, s": starting,
    "read svmlight, ns": streaming,
    **{
        f"read {table} {format}, ns": partial(named_reading, table, format)
        for table in ("eat-rate", "clicks")
        for format in ("vw", "csv", "parquet", "jsonl")
    },
    **{f"read 1,000 rows {format}, ms": partial(first_rows, format) for format in ("vw", "csv", "jsonl")},
    "read eat-rate converted, ns": converted_reading,
    "read eat-rate vw crossed, ns": partial(named_reading, "eat-rate", "vw", crosses=["A*B"]),
    "read eat-rate jsonl crossed, ns": partial(named_reading, "eat-rate", "jsonl", crosses=["A*B"]),
    "train adagrad, s": partial(training, "adagrad"),
    "train auto, s": partial(training, "auto"),
    **{f"{name}, us": partial(single_calls, name) for name in ("learn_one", "predict_one", "predict_proba_one")},
    "log in memory, us": log_reading,
}
"""Figures that are short forms of those in `benchmarks/`."""

FIRST_RUNS: dict[str, Callable[[Path], float]] = {
    f"first run {format}, s": partial(first_run, format)
    for format in ("svmlight", "libffm", "vw", "csv", "tsv", "jsonl", "parquet", "arrow", "idx")
}
"""Seconds of a first compile, of each format."""


if __name__ == "__main__":
    place = Path(sys.argv[2])
    place.mkdir(exist_ok=True)
    print({**MEASURED, **FIRST_RUNS}[sys.argv[1]](place))
