"""The tables of the comparison of defaults, and what they come to in words: all worked out from the figures kept."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from default_peers import DEFAULT, FORESTS, FORGETS, LINES, PEERS, TUNED

RIVER, TUNED_BEST, DEFAULT_BEST = "River", "best tuned", "best default"
LINEAR = ("River", "scikit-learn", "VW logistic", "VW squared", "VW coin")
COLUMNS = (FORGETS, LINES, *LINEAR, *FORESTS, TUNED_BEST)
ENOUGH = 50  # mistakes of a peer
OWN = "0"  # the order of the file
Results = dict[str, dict[str, Any]]
Row = dict[str, float]


def names_of(column: str) -> list[str]:
    """The entrants whose best stands in a column."""
    if column == TUNED_BEST:
        return [TUNED_BEST, *TUNED]  # by itself: the best of them, kept without the others
    return [name for name in PEERS if name.startswith(RIVER)] if column == RIVER else [column]


def mean(found: dict[str, Any], name: str, orders: Iterable[str] | None = None) -> float:
    """The mean figure of an entrant over shuffles, or over some orders, NaN where one is missing."""
    known = found["figures"].get(name, {})
    kept = {order: value for order, value in known.items() if order != OWN} if orders is None else known
    wanted = list(kept) if orders is None else list(orders)
    values = [kept.get(order) for order in wanted]
    return float(np.mean([np.nan if value is None else value for value in values])) if values else np.nan


def cell(found: dict[str, Any], column: str, own: bool) -> tuple[float, float]:
    """Return a set's value in a column, and the ratio of the default to it on the orders that both have seen."""
    best, ratio = np.nan, np.nan
    for name in names_of(column):
        figures = {order for order in found["figures"].get(name, {}) if (order == OWN) == own}
        value = mean(found, name, sorted(figures)) if figures else np.nan
        if np.isfinite(value) and not value >= best:
            mine = sorted(figures & set(found["figures"][DEFAULT])) or None
            best, ratio = value, (mean(found, DEFAULT, mine) / value if value > 0.0 else np.nan)
    return best, ratio


def rows_of(everything: Results, own: bool, numbers: bool, changes: bool) -> tuple[dict[str, Row], dict[str, Row]]:
    """Return the values of every column by set, and the ratios of the default to them for the sets that count."""
    rows, ratios = {}, {}
    for name, found in everything.items():
        if found["changes"] != changes or (found["task"] == "numbers") != numbers:
            continue
        mine = mean(found, DEFAULT, [OWN] if own else None)
        cells = {column: cell(found, column, own) for column in COLUMNS}
        if not np.isfinite(mine):
            continue
        rows[name] = {DEFAULT: mine, **{column: value for column, (value, _) in cells.items()}}
        worst = max((value for value, _ in cells.values() if np.isfinite(value)), default=0.0)
        if numbers or worst * found["examples"] >= ENOUGH:
            of_set = {column: ratio for column, (_, ratio) in cells.items()}
            of_set[DEFAULT_BEST] = max((of_set[column] for column in LINEAR if of_set[column] > 0.0), default=np.nan)
            ratios[name] = of_set
    return rows, ratios


def table(rows: dict[str, Row]) -> Iterator[str]:
    """A line a set, markdown; columns that nobody has a figure in are left out."""
    shown = [column for column in COLUMNS if any(np.isfinite(row[column]) for row in rows.values())]
    yield "| set | `auto` | " + " | ".join(shown) + " |"
    yield "| --- |" + " ---: |" * (1 + len(shown))
    for name, row in rows.items():
        cells = [f"{row[who]:.4g}" if np.isfinite(row[who]) else "–" for who in (DEFAULT, *shown)]
        yield f"| {name} | {' | '.join(cells)} |"


def summary(ratios: dict[str, Row]) -> Iterator[str]:
    """For each column: the geometric mean of the ratios to it, sets won, the worst ratio."""
    yield "| against | geometric mean | won | worst |"
    yield "| --- | ---: | ---: | --- |"
    for column in (*COLUMNS, DEFAULT_BEST):
        known = {name: row[column] for name, row in ratios.items() if row[column] > 0.0}
        if known:
            middle = np.exp(np.mean(np.log(list(known.values()))))
            worst = max(known, key=known.__getitem__)
            won = sum(ratio < 1.0 for ratio in known.values())
            yield f"| {column} | {middle:.3f} | {won} of {len(known)} | {known[worst]:.2f} ({worst}) |"


def losses_in_words(ratios: dict[str, Row], columns: Iterable[str]) -> list[str]:
    """Return the sets on which the default makes more errors than others, with the ratios, in lines of a page."""
    parts = []
    for column in columns:
        worse = [f"{name} ({row[column]:.2f})" for name, row in ratios.items() if row[column] > 1.0]
        known = sum(row[column] > 0.0 for row in ratios.values())
        if known:
            parts.append(f"than {column} on {len(worse)} of {known}" + (f": {', '.join(worse)}" if worse else ""))
    return textwrap.wrap(f"More errors {'; '.join(parts)}.", 120, break_long_words=False, break_on_hyphens=False)


def microseconds(found: dict[str, Any], name: str) -> float:
    """Return microseconds of processor an example, mean over the orders that were timed."""
    known = found.get("seconds", {}).get(name, {})
    values = [seconds for order, seconds in known.items() if found["figures"][name].get(order) is not None]
    return 1e6 * float(np.mean(values)) / found["examples"] if values else np.nan


def seconds(everything: Results) -> Iterator[str]:
    """A line a set, microseconds an example by entrant; then their medians over the sets of all."""
    timed = {name for found in everything.values() for name in found.get("seconds", {})}
    names = [DEFAULT, *(name for name in PEERS if name in timed)]
    rows = {
        name: {who: microseconds(found, who) for who in names}
        for name, found in everything.items()
        if not found["changes"]
    }
    rows = {name: row for name, row in rows.items() if np.isfinite(row[DEFAULT])}
    yield "| set | examples | `auto` | " + " | ".join(names[1:]) + " |"
    yield "| --- |" + " ---: |" * (len(names) + 1)
    for name, row in rows.items():
        yield f"| {name} | {everything[name]['examples']:,} | {' | '.join(as_cost(row[who]) for who in names)} |"
    whole = [row for row in rows.values() if all(np.isfinite(row[who]) for who in (DEFAULT, *FORESTS))]
    if whole:
        medians = {
            who: float(np.median([row[who] for row in whole if np.isfinite(row[who])] or [np.nan])) for who in names
        }
        cells = " | ".join(f"**{as_cost(medians[who])}**" for who in names)
        yield f"| **median of the {len(whole)} that forests learnt** | | {cells} |"


def as_cost(value: float) -> str:
    """Microseconds, two digits at least."""
    return "–" if not np.isfinite(value) else f"{value:.1f}" if value < 10.0 else f"{value:,.0f}"


def page_of(
    title: str, own: bool, numbers: bool, changes: bool, whole: bool = True
) -> Callable[[Results], Iterator[str]]:
    """Return a function that makes a section: its table if wanted, the summary, and the sets that it loses."""

    def section(everything: Results) -> Iterator[str]:
        rows, ratios = rows_of(everything, own, numbers, changes)
        if not rows:
            return
        yield from [*table(rows), ""] if whole else []
        yield from [*summary(ratios), "", *losses_in_words(ratios, (RIVER, *FORESTS, "VW coin"))]

    section.__doc__ = title
    return section


def versions(everything: Results) -> Iterator[str]:
    """Whose figures they are, in words."""
    known: dict[str, set[str]] = {}
    for found in everything.values():
        for name, number in found.get("versions", {}).items():
            package = name.split()[0] if name.split()[0] in ("scikit-learn", "VW") else RIVER
            known.setdefault("Vowpal Wabbit" if package == "VW" else package, set()).add(number)
    numbers = "; ".join(f"{package} {', '.join(sorted(found))}" for package, found in sorted(known.items()))
    yield f"Figures of others are kept in `benchmarks/defaults.json` ({numbers})."


SECTIONS: dict[str, Callable[[Results], Iterator[str]]] = {
    "versions": versions,
    "classes": page_of("Classes, mean of the shuffles", False, False, False),
    "numbers": page_of("Numbers, mean of the shuffles", False, True, False),
    "seconds": seconds,
    "own-order": page_of("Classes, the files' own order", True, False, False, whole=False),
    "streams": page_of("Streams that change", True, False, True),
}
"""Sections of the page, by the names of `--table`."""
