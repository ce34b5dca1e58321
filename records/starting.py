"""Cases of starting: which files a training of 30 rows executes, and seconds of a first one with nothing compiled."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from records import tables
from records.contents import Content
from records.readings import Case

COUNTING = """
import json, os, sys
def ended(status):
    json.dump(sorted(name for name in sys.modules if name.split(".")[0] == "ouzel"), open("executed.json", "w"))
    really(0 if not status else status)
really, os._exit = os._exit, ended
sys.argv = ["ouzel", "train", "t.csv", "--label", "label", "--learner", sys.argv[1]]
from ouzel.cli import main
main()
"""
"""The program as it is installed, which ends by `os._exit`."""

FORMATS = ("svmlight", "libffm", "vw", "csv", "tsv", "jsonl", "parquet", "arrow", "idx")


def cases(folder: Path) -> Iterator[Case]:
    """The files that are executed."""
    for learner in ("auto", "adagrad"):
        yield f"executed/{learner}", partial(executed, learner, folder)


def executed(learner: str, folder: Path) -> Content:
    """How many modules of each package `ouzel train` imports for a CSV file of 30 rows."""
    (folder / "t.csv").write_bytes(tables.delimited(tables.table("plain", 30)))
    words = [sys.executable, "-c", COUNTING, learner]
    subprocess.run(words, cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    names = json.loads((folder / "executed.json").read_text())
    parents = {name.rpartition(".")[0] for name in names}
    packages = Counter(name if name in parents else name.rpartition(".")[0] for name in names)
    return {"all": [str(len(names))], **{name: [str(packages[name])] for name in sorted(packages)}}


def first_run(python: str, format: str) -> float:
    """Seconds of `ouzel train` on a small file, all kernels compiled anew into a folder that goes with them."""
    with tempfile.TemporaryDirectory(prefix="ouzel-record-") as name:
        folder = Path(name)
        path = tables.written(format, tables.table("plain"), folder)
        label = [] if format in ("svmlight", "libffm", "vw", "idx") else ["--label", "label"]
        words = [str(Path(python).with_name("ouzel")), "train", str(path), *label]
        place = {**os.environ, "OUZEL_CACHE_DIR": str(folder / "kernels"), "OUZEL_WHEEL_KERNELS": "0"}
        begun = time.perf_counter()
        subprocess.run(words, env=place, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return time.perf_counter() - begun
