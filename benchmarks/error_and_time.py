"""Errors beside microseconds an example, at everybody's defaults: the figure at the head of README.md.

`python benchmarks/error_and_time.py --data DATA` learns 4,000 examples of each of eight tables of numbers by all, in
one run of two minutes, and draws docs/images/error-and-time.png: the geometric mean of errors beside the default's, and
the median of processor time, the least of five times where that is short. Each is fed as it wants: blocks,
dictionaries, batches, text; what Vowpal Wabbit takes to start is taken off. Peers are those of `default_peers.py`.
"""

from __future__ import annotations

import argparse
import json
import resource
from pathlib import Path

import numpy as np
from default_peers import ENTRANTS, FORESTS, Figure, ours
from default_sets import in_order, sets

from ouzel.plotting.axes import dress, new_figure, save
from ouzel.streams.block import Block

SETS = ("magic04", "electricity", "shuttle", "covtype_sample", "ijcnn1", "pendigits", "satimage", "segment")
SHOWN: dict[str, tuple[str, Figure]] = {
    "Ouzel, auto": ("#d1495b", ENTRANTS["auto"]),
    "Ouzel, adagrad": ("#d1495b", ours("adagrad", standardize=True)),
    "Ouzel, arow": ("#d1495b", ours("arow", standardize=True)),
    "River, logistic": ("#1b6ca8", ENTRANTS["River"]),
    "scikit-learn, SGD": ("#5a5a5a", ENTRANTS["scikit-learn"]),
    "Vowpal Wabbit": ("#2e933c", ENTRANTS["VW squared"]),
    "Vowpal Wabbit, coin": ("#2e933c", ENTRANTS["VW coin"]),
    **{f"River, {name}": ("#1b6ca8", ENTRANTS[name]) for name in FORESTS},
}
LOW, BELOW = ("Ouzel, arow", "Vowpal Wabbit"), -11  # names that would stand on others
TIMES, SHORT = 5, 0.5  # seconds
KEPT = Path(__file__).with_suffix(".json")
PICTURE = Path(__file__).parents[1] / "docs" / "images" / "error-and-time.png"


def measured(data: Path, rows: int) -> dict[str, dict[str, list[float]]]:
    """Return the error and the seconds of processor of everybody, by set."""
    found: dict[str, dict[str, list[float]]] = {}
    for one in sets(data, list(SETS)):
        block = in_order(one.block, 1, rows)
        for name, (_, entrant) in SHOWN.items():
            entrant(one.task, block.slice(0, 200))  # kernels are compiled, or read from disk
            error, seconds = timed(entrant, one.task, block)
            seconds -= timed(entrant, one.task, block.slice(0, 10))[1] if "Vowpal" in name else 0.0
            found.setdefault(one.name, {})[name] = [error, 1e6 * seconds / block.rows]
            print(f"{one.name:<20} {name:<22} {error:.4f} {1e6 * seconds / block.rows:9.1f} µs", flush=True)
    return found


def timed(entrant: Figure, task: str, block: Block) -> tuple[float, float]:
    """Return the error, and the seconds of processor: the least of five times, where they are few."""
    seconds = np.inf
    for _ in range(TIMES):
        begun = spent()
        error = entrant(task, block)
        seconds = min(seconds, spent() - begun)
        if seconds > SHORT:
            break
    return error, float(seconds)


def spent() -> float:
    """Return the seconds of processor that this process, and those it waited for, have used."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime for one in used)


def draw(found: dict[str, dict[str, list[float]]]) -> None:
    """Draw a point for each, named."""
    figure = new_figure(7.2, 4.2)
    axes = figure.subplots()
    for name, (colour, _) in SHOWN.items():
        ratios = [row[name][0] / row["Ouzel, auto"][0] for row in found.values()]
        error = float(np.exp(np.mean(np.log(ratios))))
        time = float(np.median([row[name][1] for row in found.values()]))
        axes.plot(time, error, "o", markersize=9 if name == "Ouzel, auto" else 7, color=colour)
        axes.annotate(
            name,
            (time, error),
            xytext=(8, BELOW if name in LOW else 3),
            textcoords="offset points",
            fontsize=9,
            color=colour,
        )
    axes.set(
        xscale="log", xlabel="microseconds of processor an example", ylabel="mistakes, relative to Ouzel's default"
    )
    axes.set_ylim(bottom=0.0)
    axes.margins(x=0.22)
    dress(axes)
    save(figure, PICTURE)


def main() -> None:
    """Measure, unless the figures are only to be drawn, and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--rows", type=int, default=4_000)
    parser.add_argument("--draw", action="store_true", help="draw the figures of the last run, and measure nothing")
    given = parser.parse_args()
    if not given.draw:
        KEPT.write_text(json.dumps(measured(given.data, given.rows), indent=1) + "\n")
    draw(json.loads(KEPT.read_text()))


if __name__ == "__main__":
    main()
