"""`ouzel train` on a file of text, the whole process, beside Vowpal Wabbit on the same examples: one core, then two."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from text import write_both

from ouzel.streams.formats.svmlight import parse_svmlight
from ouzel.streams.formats.vw import parse_vw
from ouzel.streams.options import Options
from ouzel.streams.sources.chunks import chunks_of
from ouzel.streams.sources.source import Source

BIN = Path(sys.executable).parent


def seconds(command: list[str], cores: int) -> float:
    """Wall-clock time of a whole process on the first so many cores."""
    begun = time.perf_counter()
    allowed = set(sorted(os.sched_getaffinity(0))[:cores])
    subprocess.run(
        command,
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=lambda: os.sched_setaffinity(0, allowed),
    )
    return time.perf_counter() - begun


def parsing_rate(path: Path, parse: object) -> float:
    """Megabytes a second of parsing alone, one core, warm page cache, best of three."""
    best = np.inf
    for _ in range(3):
        begun = time.perf_counter()
        for chunk in chunks_of(Source(path)):
            parse(*chunk, Options())  # type: ignore[operator]
        best = min(best, time.perf_counter() - begun)
    return path.stat().st_size / best / 1e6


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--data")
    given = parser.parse_args()
    folder = Path(tempfile.gettempdir(), "ouzel-bench")
    folder.mkdir(exist_ok=True)
    svm, vw = write_both(folder, given.megabytes)
    size = svm.stat().st_size / 1e6
    print(f"parsing with validation, one core:  svmlight {parsing_rate(svm, parse_svmlight):.0f} MB/s", end="")
    print(f"   vw {parsing_rate(vw, parse_vw):.0f} MB/s")
    ours = [str(BIN / "ouzel"), "train", str(svm), "--learner", "adagrad", "--json"]
    peer = f"{sys.executable} -m vowpalwabbit --data {vw} --adaptive --loss_function logistic --quiet".split()
    print(f"\n{size:.0f} MB of svmlight text, whole process, best of {given.rounds}")
    print(f"{'cores':>5} {'ouzel s':>8} {'MB/s':>6} {'vw s':>8} {'MB/s':>6} {'ratio':>6}")
    for cores in (1, 2):
        pairs = [(seconds(ours, cores), seconds(peer, cores)) for _ in range(given.rounds)]
        mine, theirs = (min(column) for column in zip(*pairs, strict=True))
        print(f"{cores:>5} {mine:>8.2f} {size / mine:>6.0f} {theirs:>8.2f} {size / theirs:>6.0f} {theirs / mine:>6.2f}")


if __name__ == "__main__":
    main()
