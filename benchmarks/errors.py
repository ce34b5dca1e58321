"""Progressive errors of every learner at its defaults on ten sets, to the last digit.

Before a change that should change no result: `python benchmarks/errors.py --output before.json`. After it:
`python benchmarks/errors.py --against before.json` lists what differs, and ends with status 1 if anything does.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ouzel
from ouzel.evaluation.progressive import Run
from ouzel.learners.catalogue import LEARNERS
from ouzel.streams.block import Block

SETS = (
    "a9a",
    "australian",
    "ijcnn1",
    "mushrooms",
    "pendigits",
    "phishing",
    "rcv1_binary_sample",
    "satimage.scale",
    "usps",
    "w1a",
)


def first_rows(path: Path, rows: int) -> list[Block]:
    """The first examples of a file, in blocks."""
    blocks, left = [], rows
    with ouzel.read(path) as stream:
        for block in stream:
            blocks.append(block.slice(0, min(left, block.rows)))
            left -= blocks[-1].rows
            if not left:
                break
    return blocks


def outcomes(data: Path, names: list[str], rows: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """For each learner and set: the error, the mean loss, and a digest of the margins and of the state."""
    sets = {name: first_rows(data / f"{name}.svm.xz", rows) for name in SETS if (data / f"{name}.svm.xz").exists()}
    for name in names:
        for place, blocks in sets.items():
            model = ouzel.Model(name)
            run = Run(model)
            try:
                run.over(blocks)
            except ouzel.OuzelError as error:
                yield f"{name} {place}", {"refused": str(error).split(";")[0]}
                continue
            report = run.report()
            margins = hashlib.sha256()
            for block in blocks:
                margins.update(model.margins(block).tobytes())
            found = {"error": report.error_rate, "loss": report.mean_loss, "margins": margins.hexdigest()[:12]}
            yield f"{name} {place}", found


def main() -> None:
    """Print, write or compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="../shared/data", type=Path)
    parser.add_argument("--learners", default=",".join(LEARNERS), help="names, parted by commas")
    parser.add_argument("--rows", default=2000, type=int, help="examples of each set (2000)")
    parser.add_argument("--output", type=Path, help="write what was found here")
    parser.add_argument("--against", type=Path, help="compare with what was written before")
    given = parser.parse_args()
    before = json.loads(given.against.read_text()) if given.against else {}
    found, changed = {}, 0
    for key, outcome in outcomes(given.data, given.learners.split(","), given.rows):
        found[key] = outcome
        known = before.get(key, outcome if not given.against else None)
        if known != outcome:
            changed += 1
            print(f"{key:<40} {known} -> {outcome}", flush=True)
        elif not given.against:
            print(f"{key:<40} {outcome}", flush=True)
    if given.output:
        given.output.write_text(json.dumps(found, indent=1))
    if given.against:
        print(f"{changed} of {len(found)} differ")
    sys.exit(changed > 0)


if __name__ == "__main__":
    main()
