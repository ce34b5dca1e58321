"""Seconds of readings, single calls, logs, starts and first runs: of one checkout, or of two in turn as ratios.

What the numbers of one run say depends on the machine and on whoever else uses it. So figures are compared by running
both checkouts in turn on one machine, each in a process of its own, and by the ratio of their medians.
"""

from __future__ import annotations

import fnmatch
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
KEPT = Path(tempfile.gettempdir(), "ouzel-record-figures")
LARGER = 1.03  # a ratio that is called slower


def figures(against: str | None, rounds: int, only: str | None, write: Path | None, compiling: bool) -> int:
    """Print the figures; 1 if this checkout is slower than the other one by more than 3 %."""
    from records.measuring import FIRST_RUNS, MEASURED

    names = [*MEASURED, *(FIRST_RUNS if compiling else ())]
    names = [name for name in names if only is None or only in name or fnmatch.fnmatch(name, only)]
    pythons = [sys.executable, *([] if against is None else [against])]
    found: dict[str, dict[str, list[float]]] = {python: {name: [] for name in names} for python in pythons}
    slower = 0
    head = f"{'figure':<36}{'this':>12}" + ("" if against is None else f"{'other':>12}{'ratio':>8}")
    print(f"medians of {rounds}, in turn\n{head}")
    for name in names:
        if name not in FIRST_RUNS:
            for python in pythons:
                measured(python, name)  # which compiles, and fills the caches of files
        for number in range(1 if name in FIRST_RUNS and against is None else rounds):
            for python in pythons if number % 2 == 0 else pythons[::-1]:
                found[python][name].append(measured(python, name))
        mine, *others = (statistics.median(found[python][name]) for python in pythons)
        line = f"{name:<36}{mine:>12.4g}"
        for other in others:
            ratio = mine / other
            slower += ratio > LARGER
            line += f"{other:>12.4g}{ratio:>8.3f}{'  slower' if ratio > LARGER else ''}"
        print(line, flush=True)
    if write is not None:
        before = json.loads(write.read_text())["figures"] if write.exists() else {}
        made: dict[str, Any] = {
            "note": "seconds or microseconds on one machine: compare two checkouts with --against, not two of these",
            "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
            "figures": before | {name: round(statistics.median(found[sys.executable][name]), 4) for name in names},
        }
        write.write_text(json.dumps(made, indent=1) + "\n")
    return int(slower > 0)


def measured(python: str, name: str) -> float:
    """One measurement, by the code of this record in a process of a checkout's environment."""
    words = [python, "-m", "records.measuring", name, str(KEPT)]
    run = subprocess.run(words, cwd=home_of(python), capture_output=True, text=True, check=False)
    if run.returncode:
        said = [f"status {run.returncode}", *run.stderr.strip().splitlines()[-1:]]
        print(f"{name}: {python}: {': '.join(said)}", file=sys.stderr)
        return float("nan")
    return float(run.stdout.split()[-1])


@cache
def home_of(python: str) -> Path:
    """The checkout that an environment has the package from, if it has this folder; else the one of this file."""
    asked = [python, "-c", "import ouzel; print(ouzel.__file__)"]
    home = Path(subprocess.run(asked, capture_output=True, text=True, check=True, cwd="/").stdout.strip()).parents[2]
    return home if (home / "records" / "measuring.py").exists() else ROOT
