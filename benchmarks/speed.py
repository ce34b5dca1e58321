"""Speed by entry point, each ratio with its target: the tables and the picture of docs/speed.md.

`python benchmarks/speed.py` measures for half an hour: whole commands beside Vowpal Wabbit, calls in memory beside
scikit-learn and River, starting, single learners, rounds, and what the memory of the machine allows. Figures are
medians of five by turns; `--rounds 1 --megabytes 20 --rows 100000` is a short run, `--part learners` one part. They are
kept in speed.json next to it, and docs/images/speed.png is drawn; `--table NAME` prints a table of those kept.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import budgeted
import in_memory
import named
import numpy as np
import rounds
import streaming
from text import write_both
from threadpoolctl import threadpool_limits
from zipf_rows import zipf_block

import ouzel
from ouzel.plotting.axes import dress, new_figure, save
from ouzel.streams.memory import to_block

KEPT = Path(__file__).with_suffix(".json")
PICTURE = Path(__file__).parents[1] / "docs" / "images" / "speed.png"
Found = dict[str, Any]

FILES: list[tuple[str, str, str, str, str, tuple[float, float | None]]] = [  # title, table, format, crosses, aims
    ("named text, one cross", "eat-rate", "vw", "A*B", "-q AB", (3.0, 4.5)),
    ("converted, one cross", "eat-rate", "arrow", "A*B", "-q AB", (8.0, 8.0)),
    ("named text", "clicks", "vw", "", "", (3.0, None)),
    ("CSV", "clicks", "csv", "", "", (2.5, None)),
    ("Parquet", "clicks", "parquet", "", "", (3.0, None)),
    ("JSON lines", "clicks", "jsonl", "", "", (2.5, None)),
]
NAMES_A_ROW = {"eat-rate": 12, "clicks": 39}
LEARNERS = {  # nanoseconds a non-zero that are aimed at, where something is
    "adagrad": None, "hashing": None, "awm": 10.0, "space-saving": 15.0, "wm": None, "son-oja": None, "son-fd": None,
}  # fmt: skip
TABLES = ("files", "limits", "memory", "one", "starting", "learners", "scaling", "rounds")
SCALED, COLUMNS = ("adagrad", "son-oja", "awm"), 30
ROWS, FEATURES = 270, 13


def of_files(megabytes: int, times: int) -> Iterator[Found]:
    """Whole commands compared with Vowpal Wabbit's on the same examples, on one core and on two."""
    for title, name, format, cross, pairs, aims in FILES:
        rows = megabytes * named.ROWS_A_MEGABYTE[name]
        path, text = named.made(name, rows, format, cross), named.made(name, rows, "vw")
        ours, peer = named.commands(path, text, cross, pairs)
        if format == "arrow":
            named.taken(peer, 2)  # which fills the cache
        features = rows * NAMES_A_ROW[name]
        yield from _compared(title, path, ours, peer, aims, times, features, named.reading(path))
    svmlight, text = write_both(Path(tempfile.gettempdir(), "ouzel-bench"), megabytes)
    ours = [str(streaming.BIN / "ouzel"), "train", str(svmlight), "--learner", "adagrad", "--json"]
    peer = f"{sys.executable} -m vowpalwabbit --data {text} --adaptive --loss_function logistic --quiet".split()
    with svmlight.open("rb") as file:
        features = sum(line.count(b":") for line in file)
    yield from _compared("svmlight", svmlight, ours, peer, (2.2, 3.5), times, features, named.reading(svmlight))


def _compared(
    title: str,
    path: Path,
    ours: list[str],
    peer: list[str],
    aims: tuple[float, float | None],
    times: int,
    features: int,
    reading: float,
) -> Iterator[Found]:
    named.taken(ours, 2)  # which compiles
    for cores, aim in zip((1, 2), aims, strict=True):
        runs = [(named.taken(ours, cores), named.taken(peer, cores)) for _ in range(times)]
        mine, theirs = (named.median(list(column)) for column in zip(*runs, strict=True))
        yield {
            "what": title, "cores": cores, "seconds": mine.seconds, "peer": theirs.seconds, "aim": aim,
            "features": features, "bytes": path.stat().st_size, "reading": reading,
        }  # fmt: skip


def of_starting(times: int) -> Iterator[Found]:
    """Short commands: seconds, and megabytes of memory at most."""
    folder, rng = Path(tempfile.mkdtemp()), np.random.default_rng(0)
    table, two, model = folder / "table.csv", folder / "two.csv", folder / "model.ouzel"
    lines = [",".join([*(f"x{k}" for k in range(FEATURES)), "label"])]
    lines += [
        ",".join([*map("{:.3f}".format, row), "ny"[int(row[0] > 0)]]) for row in rng.normal(size=(ROWS, FEATURES))
    ]
    table.write_text("\n".join(lines) + "\n")
    two.write_text("\n".join(lines[:3]) + "\n")
    ouzel = str(named.BIN / "ouzel")
    named.taken([ouzel, "train", str(table), "--model", str(model)], 2)
    typed = {"_OUZEL_COMPLETE": "complete_bash", "COMP_WORDS": "ouzel train --lea", "COMP_CWORD": "2"}
    commands: list[tuple[str, list[str], float | None, float | None]] = [
        (f"`ouzel train`, {ROWS} rows", [ouzel, "train", str(table)], 0.3, None),
        ("`ouzel predict`, two rows", [ouzel, "predict", str(model), str(two)], 0.25, 100.0),
        ("`ouzel train --help`", [ouzel, "train", "--help"], 0.15, None),
        ("completing `ouzel train --lea`", ["env", *map("=".join, typed.items()), ouzel], None, None),
        ("`python -c 'import numba'`", [sys.executable, "-c", "import numba"], None, None),
        ("`python -c 'import numba, pyarrow'`", [sys.executable, "-c", "import numba, pyarrow"], None, None),
    ]
    runs = [[named.taken(whole, 2) for _, whole, _, _ in commands] for _ in range(times + 1)]
    for (title, _, aim, memory), taken in zip(commands, zip(*runs[1:], strict=True), strict=True):
        found = named.median(list(taken))
        yield {"what": title, "seconds": found.seconds, "aim": aim, "megabytes": found.megabytes, "memory": memory}


def of_learners(times: int) -> Iterator[Found]:
    """Nanoseconds a non-zero of learners' kernels, rows in memory; `son-fd` and `son-oja` with ten directions."""
    block = zipf_block(50_000, budgeted.NONZEROS, budgeted.FEATURES)
    passes = {name: budgeted.kernel_pass(block, name) for name in LEARNERS}
    for run in passes.values():
        run()
    runs: dict[str, list[float]] = {name: [] for name in passes}
    for _ in range(times):
        for name, run in passes.items():
            runs[name].append(run())
    for name, seconds in runs.items():
        yield {"what": f"`{name}`", "ns": 1e9 * float(np.median(seconds)) / block.nonzeros, "aim": LEARNERS[name]}


def of_scaling(times: int) -> Iterator[Found]:
    """Nanoseconds a non-zero of learning from blocks in memory, by `standardize`: where nothing is scaled, and raw."""
    rng = np.random.default_rng(0)
    raw = rng.standard_normal((100_000, COLUMNS)) * 10.0 ** rng.integers(-2, 4, COLUMNS)
    labels = np.where(raw @ (rng.standard_normal(COLUMNS) / raw.std(axis=0)) > 0, 1.0, -1.0)
    blocks = {
        "text of one scale": zipf_block(50_000, budgeted.NONZEROS, budgeted.FEATURES),
        f"{COLUMNS} raw columns": to_block(raw, labels),
    }
    for what, block in blocks.items():
        for name in SCALED:
            runs: dict[str, list[float]] = {how: [] for how in ("no", "auto")}
            for _ in range(times + 1):
                for how, seconds in runs.items():
                    model = ouzel.Model(name, standardize=how)
                    begun = time.thread_time()
                    for start in range(0, block.rows, 4096):
                        model.learn(block.slice(start, min(start + 4096, block.rows)))
                    seconds.append(time.thread_time() - begun)
            plain, scaled = (1e9 * float(np.median(seconds[1:])) / block.nonzeros for seconds in runs.values())
            yield {"what": f"`{name}`, {what}", "no": plain, "auto": scaled}


def of_rounds(rows: int) -> Iterator[Found]:
    """Two workers compared with one process."""
    paths = rounds.made(Path(tempfile.gettempdir(), "ouzel-bench"), rows)
    for learner in ("adagrad", "auto"):
        rounds.run(learner, paths[:1], [])
        alone, two = (
            min(rounds.run(learner, paths, options)[:2] for _ in range(2))
            for options in ([], ["--workers", "2", "--merge-every", "100000"])
        )
        yield {"what": f"`{learner}`, {rows:,} rows", "alone": alone, "two": two, "aim": 1.25}


def bandwidth() -> float:
    """Bytes a second that one core copies within memory, read and written: best of five."""
    data = np.zeros(1 << 28, np.uint8)
    copy, best = data.copy(), np.inf
    for _ in range(5):
        begun = time.perf_counter()
        np.copyto(copy, data)
        best = min(best, time.perf_counter() - begun)
    return 2 * data.nbytes / best


def measured(megabytes: int, times: int, rows: int, kept: Found, only: str | None) -> Found:
    """Measure every part, or one part, and keep the figures of the others."""
    warnings.simplefilter("ignore")
    threadpool_limits(1)
    machine = f"{platform.machine()}, Python {platform.python_version()}"
    found: Found = kept if only else {"machine": machine, "bandwidth": bandwidth()}
    parts: dict[str, Callable[[], Iterator[Any]]] = {
        "starting": lambda: of_starting(times),
        "learners": lambda: of_learners(times),
        "scaling": lambda: of_scaling(times),
        "memory": lambda: in_memory.many(200_000),
        "one": lambda: in_memory.one_by_one(),
        "rounds": lambda: of_rounds(rows),
        "files": lambda: of_files(megabytes, times),
    }
    for part, lines in parts.items():
        if only not in (None, part):
            continue
        found[part] = []
        for one in lines():
            found[part].append(one._asdict() if isinstance(one, in_memory.Line) else one)
            print(part, found[part][-1], flush=True)
    return found


def table(found: Found, name: str) -> Iterator[str]:
    """The lines of a table in Markdown."""
    if name == "files":
        yield "| file | cores | Ouzel, s | Vowpal Wabbit, s | times as fast | aim | ns a feature |"
        yield "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"
        for one in found[name]:
            nanoseconds = 1e9 * one["seconds"] / one["features"]
            cells = f"{one['seconds']:.2f} | {one['peer']:.2f} | {one['peer'] / one['seconds']:.1f}"
            yield f"| {one['what']} | {one['cores']} | {cells} | {one['aim'] or ''} | {nanoseconds:.0f} |"
    elif name in ("memory", "one"):
        lines = [in_memory.Line(one["what"], one["seconds"], one["ratios"]) for one in found[name]]
        yield from in_memory.table(lines, *(("ms", 1e3) if name == "memory" else ("µs", 1e6)))
    elif name == "starting":
        yield "| command | seconds | aim | MB | aim |\n| --- | ---: | ---: | ---: | ---: |"
        for one in found[name]:
            memory = f"{one['megabytes']:.0f} | {'' if one['memory'] is None else round(one['memory'])}"
            yield f"| {one['what']} | {one['seconds']:.2f} | {one['aim'] or ''} | {memory} |"
    elif name == "learners":
        yield "| learner | ns a non-zero | aim |\n| --- | ---: | ---: |"
        for one in found[name]:
            yield f"| {one['what']} | {one['ns']:.1f} | {'' if one['aim'] is None else round(one['aim'])} |"
    elif name == "scaling":
        yield "| from blocks in memory | `no`, ns a non-zero | `auto`, ns | times |\n| --- | ---: | ---: | ---: |"
        for one in found[name]:
            yield f"| {one['what']} | {one['no']:.1f} | {one['auto']:.1f} | {one['auto'] / one['no']:.2f} |"
    elif name == "rounds":
        yield "| learner | one process, s | of processors | two workers, s | of processors | times as fast | aim |"
        yield "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"
        for one in found[name]:
            (alone, used), (two, both) = one["alone"], one["two"]
            ratio = f"{alone / two:.2f} | {one['aim']}"
            yield f"| {one['what']} | {alone:.1f} | {used:.1f} | {two:.1f} | {both:.1f} | {ratio} |"
    else:
        yield "| file | bytes a feature | at the memory's speed, ns | reading, ns | times the limit |"
        yield "| --- | ---: | ---: | ---: | ---: |"
        for one in found["files"]:
            if one["cores"] == 1:
                size = one["bytes"] / one["features"]
                least = 1e9 * (size + 8) / found["bandwidth"]
                cells = f"{size:.1f} | {least:.1f} | {one['reading']:.1f} | {one['reading'] / least:.0f}"
                yield f"| {one['what']} | {cells} |"
        speed = f"{found['bandwidth'] / 1e9:.1f} GB a second"
        yield f"\nOne core copies {speed} here, read and written ({found['machine']})."


def draw(found: Found) -> None:
    """Nanoseconds a feature by entry point, as bars."""
    bars = {one["what"].strip("`") + ", kernel": one["ns"] for one in found["learners"] if "adagrad" in one["what"]}
    for one in found["memory"]:
        what, call = one["what"].rsplit(", ", 1)
        if call == "`partial_fit`" and "auto" not in what:
            size = in_memory.NONZEROS if what == "sparse" else in_memory.COLUMNS
            bars[f"{what}, partial_fit"] = 1e9 * one["seconds"] / (200_000 * size)
    for one in found["files"]:
        if one["cores"] == 1:
            bars[f"{one['what']}, train"] = 1e9 * one["seconds"] / one["features"]
    for one in found["one"]:
        what, call = one["what"].split(", ")
        if call == "`learn_one`":
            bars[f"dictionary of {what}, learn_one"] = 1e9 * one["seconds"] / int(what.split()[0])
    names, values = list(bars), list(bars.values())
    figure = new_figure(height=0.28 * len(bars) + 1.2)
    axes = figure.subplots()
    axes.barh(names[::-1], values[::-1], color="#1b6ca8")
    for place, value in enumerate(values[::-1]):
        axes.annotate(
            f"{value:.0f}", (value, place), xytext=(3, 0), textcoords="offset points", va="center", fontsize=8
        )
    dress(axes)
    axes.set_xlabel("nanoseconds a feature (adagrad, one core)", fontsize=9)
    axes.tick_params(labelsize=8)
    axes.grid(axis="y", visible=False)
    save(figure, str(PICTURE))


def main() -> None:
    """Measure, or print a table of what is kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", choices=TABLES)
    parser.add_argument("--part", choices=[table for table in TABLES if table != "limits"], help="only this")
    parser.add_argument("--megabytes", type=int, default=220)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rows", type=int, default=12_000_000)
    given = parser.parse_args()
    if given.table is None:
        kept = json.loads(KEPT.read_text()) if given.part else {}
        found = measured(given.megabytes, given.rounds, given.rows, kept, given.part)
        KEPT.write_text(json.dumps(found, indent=1) + "\n")
        draw(json.loads(KEPT.read_text()))
    found = json.loads(KEPT.read_text())
    for name in [given.table] if given.table else TABLES:
        print("\n".join(table(found, name)) + ("" if given.table else "\n"))


if __name__ == "__main__":
    main()
