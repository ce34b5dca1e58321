"""Progressive error with no setting at all, beside the defaults of others, on the same examples in the same order.

Sets are those of `default_sets.py`, in their own order and shuffled, cut to so many examples; who takes part stands in
`default_peers.py`. "Best tuned" is the one of our single learners and settings that is best on a set in the mean, known
only afterwards. Figures and seconds of processor are kept in `defaults.json` as they come, and a run that was cut off
goes on from there: forests take an hour, and are not measured again. After a change of the default

    python benchmarks/defaults.py --data DATA --ours && python docs/tables.py defaults.py

measures it alone, and writes the tables of docs/defaults.md anew.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from default_peers import DEFAULT, ENTRANTS, FORGETS, OURS, PEERS
from default_sets import Set, in_order, sets
from default_tables import SECTIONS, Results

from ouzel.streams.block import Block

PACKAGES = {"scikit-learn": "scikit-learn", "VW": "vowpalwabbit"}  # of peers, those of River apart
KEPT = Path(__file__).with_suffix(".json")


def cut(one: Set, orders: list[int], rows: int, everything: Results) -> dict[int, Block]:
    """Return a set's examples in each order, and record its task and size."""
    blocks = {order: in_order(one.block, order, rows) for order in orders}
    found = everything.setdefault(one.name, {})
    found |= {"task": one.task, "changes": one.changes, "examples": blocks[orders[0]].rows}
    return blocks


def measure(found: dict[str, Any], order: int, block: Block, names: Iterable[str]) -> bool:
    """Add figures and seconds of those that are not known yet in an order of a set; whether there were any."""
    anew = False
    for name in names:
        known = found.setdefault("figures", {}).setdefault(name, {})
        if str(order) not in known:
            if name not in PEERS:
                ENTRANTS[name](found["task"], block)  # kernels are compiled, or read from disk
            begun = spent()
            figure = ENTRANTS[name](found["task"], block)
            seconds = spent() - begun
            if name in PEERS:
                found.setdefault("versions", {})[name] = version(PACKAGES.get(name.split()[0], "river"))
            known[str(order)] = None if np.isnan(figure) else float(f"{figure:.6g}")
            found.setdefault("seconds", {}).setdefault(name, {})[str(order)] = round(seconds, 3)
            known.pop("mean", None)  # of more orders, kept without them
            anew = True
    return anew


def spent() -> float:
    """Seconds of processor that this process and those it waited for have used."""
    times = os.times()
    return times.user + times.children_user


def kept(path: Path) -> Results:
    """The figures that are kept, by set."""
    return dict(json.loads(path.read_text())) if path.exists() else {}


def keep(path: Path, everything: Results) -> None:
    """Write the figures, a line a set."""
    temporary = path.with_suffix(".part")
    lines = (f"{json.dumps(name)}: {json.dumps(found)}" for name, found in everything.items())
    temporary.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    temporary.replace(path)


def show(everything: Results, names: Iterable[str]) -> None:
    """Print sections."""
    for name in names:
        print(*SECTIONS[name](everything), sep="\n", flush=True)


def main() -> None:
    """Measure what is not known, or ours anew; print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--shuffles", type=int, default=5)
    parser.add_argument("--rows", type=int, default=4_000, help="maximum number of examples of each set; streams whole")
    parser.add_argument("--only", default="", help="names of sets, comma-separated")
    parser.add_argument("--output", type=Path, default=KEPT, help="where the figures are kept")
    parser.add_argument("--ours", action="store_true", help="measure the default anew, and nobody else")
    parser.add_argument("--table", choices=SECTIONS, help="print this table of what is there, and measure nothing")
    given = parser.parse_args()
    everything = kept(given.output)
    if given.table:
        show(everything, [given.table])
        return
    for one in sets(given.data, given.only.split(",") if given.only else []):
        orders = [0] if one.changes else [*range(1, given.shuffles + 1), 0]
        blocks = cut(one, orders, one.block.rows if one.changes else given.rows, everything)
        found = everything[one.name]
        names = [name for name in ENTRANTS if name != FORGETS or one.changes]
        if given.ours:
            names = [name for name in names if name in OURS]
            for name, figures in itertools.product(names, ("figures", "seconds")):
                found.setdefault(figures, {}).pop(name, None)
        for order, block in blocks.items():
            measure(found, order, block, names)
        keep(given.output, everything)
        print(one.name, found["figures"][DEFAULT], flush=True)
    show(everything, SECTIONS)


if __name__ == "__main__":
    main()
