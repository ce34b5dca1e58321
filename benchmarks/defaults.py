"""Progressive error with no setting at all, beside the defaults of others, on the same examples in the same order.

Sets are those of `default_sets.py`, in their own order and shuffled, cut to so many examples; who takes part stands in
`default_peers.py`. "Best tuned" is the one of our single learners and settings that is best on a set in the mean, known
only afterwards. Figures are kept in a file as they come, and a run that was cut off goes on from there; `--table`
measures nothing and prints the tables of what is there.

A set counts in the means where a peer makes 50 mistakes.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from default_peers import ENTRANTS, PEERS, TUNED
from default_sets import Set, in_order, sets

ENOUGH = 50  # mistakes of a peer
BEST_RIVER, BEST_TUNED = "River", "best tuned"
COLUMNS = (BEST_RIVER, "scikit-learn", "VW logistic", "VW squared", "VW coin", BEST_TUNED)
Results = dict[str, dict[str, Any]]


def measure(one: Set, orders: list[int], rows: int, found: dict[str, Any], path: Path, everything: Results) -> None:
    """Add what is not known yet of a set, writing the file after each order of it."""
    found |= {"task": one.task, "changes": one.changes}
    figures = found.setdefault("figures", {})
    for order in orders:
        block = in_order(one.block, order, rows)
        found.setdefault("examples", block.rows)
        for name, run in ENTRANTS.items():
            known = figures.setdefault(name, {})
            if str(order) not in known:
                known[str(order)] = run(one.task, block)
        temporary = path.with_suffix(".part")
        temporary.write_text(json.dumps(everything))
        temporary.replace(path)


def row_of(found: dict[str, Any], own_order: bool) -> dict[str, float]:
    """What each column says of a set: the mean over shuffles, or the figure in its own order."""
    means = {}
    for name, by_order in found["figures"].items():
        kept = [figure for order, figure in by_order.items() if (order == "0") == own_order]
        means[name] = float(np.mean(kept)) if kept else np.nan
    best = {BEST_RIVER: [name for name in PEERS if name.startswith("River")], BEST_TUNED: list(TUNED)}
    row = {"auto": means["auto"], **{name: means.get(name, np.nan) for name in COLUMNS}}
    for column, names in best.items():
        known = [means[name] for name in names if np.isfinite(means.get(name, np.nan))]
        row[column] = min(known, default=np.nan)
    return row


def counts(found: dict[str, Any], row: dict[str, float]) -> bool:
    """Whether a peer makes mistakes enough."""
    worst = max((row[name] for name in COLUMNS if np.isfinite(row[name])), default=0.0)
    return found["task"] == "numbers" or worst * found["examples"] >= ENOUGH


def table(rows: dict[str, dict[str, float]]) -> Iterator[str]:
    """A line a set, markdown."""
    yield "| set | `auto` | " + " | ".join(COLUMNS) + " |"
    yield "| --- |" + " ---: |" * (1 + len(COLUMNS))
    for name, row in rows.items():
        shown = [f"{row[who]:.4g}" if np.isfinite(row[who]) else "–" for who in ("auto", *COLUMNS)]
        yield f"| {name} | {' | '.join(shown)} |"


def summary(rows: dict[str, dict[str, float]]) -> Iterator[str]:
    """For each column: the geometric mean of the ratios to it, sets won, the worst ratio."""
    yield "| against | geometric mean | won | worst |"
    yield "| --- | ---: | ---: | --- |"
    for peer in (*COLUMNS, "best default"):
        others = COLUMNS[:-1] if peer == "best default" else (peer,)
        ratios = {}
        for name, row in rows.items():
            known = [row[other] for other in others if np.isfinite(row[other])]
            if known and min(known) > 0.0 and row["auto"] > 0.0:
                ratios[name] = row["auto"] / min(known)
        if ratios:
            mean = np.exp(np.mean(np.log(list(ratios.values()))))
            worst = max(ratios, key=lambda name: ratios[name])
            won = sum(ratio < 1.0 for ratio in ratios.values())
            yield f"| {peer} | {mean:.3f} | {won} of {len(ratios)} | {ratios[worst]:.2f} ({worst}) |"


def show(everything: Results) -> None:
    """Print all tables."""
    for title, own_order, of_numbers, changes in (
        ("Classes, mean of the shuffles", False, False, False),
        ("Numbers, mean of the shuffles", False, True, False),
        ("Streams that change", True, False, True),
        ("Classes, the files' own order", True, False, False),
    ):
        rows, counted = {}, {}
        for name, found in everything.items():
            if found["changes"] == changes and (found["task"] == "numbers") == of_numbers and found.get("figures"):
                rows[name] = row_of(found, own_order)
                if counts(found, rows[name]):
                    counted[name] = rows[name]
        rows = {name: row for name, row in rows.items() if np.isfinite(row["auto"])}
        counted = {name: row for name, row in counted.items() if name in rows}
        if rows:
            print(f"\n### {title}\n", *table(rows), "", *summary(counted), sep="\n", flush=True)


def main() -> None:
    """Measure, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--shuffles", type=int, default=5)
    parser.add_argument("--rows", type=int, default=20_000, help="at most so many examples of each set; streams whole")
    parser.add_argument("--only", default="", help="names of sets, comma-separated")
    parser.add_argument("--output", type=Path, default=Path("defaults.json"), help="where the figures are kept")
    parser.add_argument("--table", action="store_true", help="print what is there")
    given = parser.parse_args()
    everything: Results = json.loads(given.output.read_text()) if given.output.exists() else {}
    if not given.table:
        for one in sets(given.data, given.only.split(",") if given.only else []):
            orders = [0] if one.changes else [*range(1, given.shuffles + 1), 0]
            rows = one.block.rows if one.changes else given.rows
            measure(one, orders, rows, everything.setdefault(one.name, {}), given.output, everything)
            print(
                one.name,
                {name: round(value, 5) for name, value in row_of(everything[one.name], one.changes).items()},
                flush=True,
            )
    show(everything)


if __name__ == "__main__":
    main()
