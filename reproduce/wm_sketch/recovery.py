"""Figures 3, 4 and 5 of the WM-Sketch paper: how well the heaviest weights are recovered within a byte budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from reproduce.provenance import DataFolder
from reproduce.wm_sketch import remarks
from reproduce.wm_sketch.budget_trials import (
    KILOBYTES,
    LEARNERS,
    REFERENCE,
    SEEDS,
    SHARES,
    TOPS,
    Outcome,
    best,
    load,
    range_of,
)
from reproduce.wm_sketch.budget_trials import trials as run_trials
from reproduce.writing import Band, draw_bands, markdown_table, write_report

STRENGTHS = (1e-3, 1e-4, 1e-5, 1e-6)


def at(place: int) -> Callable[[Outcome], float]:
    """The recovery error of the K in that place."""
    return lambda outcome: outcome.recovery[place]


def error_of(outcome: Outcome) -> float:
    """The online error rate."""
    return outcome.error


def bands(found: dict[str, list[list[Outcome]]]) -> dict[str, Band]:
    """A line over K for every learner, of its best configuration."""
    lines = {}
    for name, outcomes in best(found, at(-1)).items():
        if name != REFERENCE:
            ranges = [range_of(outcomes, at(k)) for k in range(len(TOPS))]
            lines[name] = Band(TOPS, *map(list, zip(*ranges, strict=True)))
    return lines


def rows_of(title: str, lines: dict[str, Band]) -> list[list[str]]:
    """A row a learner, K across; the last cell is the range over seeds at the last K."""
    return [
        [title, name, *(f"{value:.3f}" for value in band.middle), f"{band.low[-1]:.3f} to {band.high[-1]:.3f}"]
        for name, band in lines.items()
    ]


def both_of(title: str, found: dict[str, list[list[Outcome]]]) -> list[list[str]]:
    """Recovery and online error side by side: awm in each configuration, the others where they recover best."""
    entries: list[tuple[str, str, Sequence[Outcome]]]
    entries = [("awm", f"{SHARES[k]} of the budget", outcomes) for k, outcomes in enumerate(found["awm"])]
    entries += [(name, "", outcomes) for name, outcomes in best(found, at(-1)).items() if name != "awm"]
    return [[title, name, share, str(range_of(o, at(-1))), str(range_of(o, error_of))] for name, share, o in entries]


def head(first: str) -> list[str]:
    """Column names."""
    return [first, "learner", *(f"K = {top}" for top in TOPS), f"range at {TOPS[-1]}"]


def figure_3(data: DataFolder, output: Path, quick: bool = False, paths: Sequence[Path] = ()) -> None:
    """Every method on every set, at 8 KB."""
    panels, rows, both = {}, [], []
    for name, block in load(data, paths, quick).items():
        found = run_trials(block, LEARNERS, 8, 2 if quick else SEEDS, tops=TOPS)
        panels[name] = bands(found)
        rows += rows_of(name, panels[name])
        both += both_of(name, found)
        print(f"{name}: done", flush=True)
    title = "WM-Sketch, figure 3: relative error of the K heaviest weights at 8 KB"
    columns = ["set", "learner", "active set", "relative error at K = 128", "online error rate"]
    tables = f"{markdown_table(head('set'), rows)}\n\n{markdown_table(columns, both)}"
    _finish(output, "wm-figure-3", title, tables, remarks.FIGURE_3 + remarks.lowest(panels), panels)


def figure_4(data: DataFolder, output: Path, quick: bool = False, paths: Sequence[Path] = ()) -> None:
    """Every method at every budget, on RCV1 and any file given."""
    panels, rows = {}, []
    for name, block in load(data, paths, quick, ["RCV1"]).items():
        for size in (2, 8) if quick else KILOBYTES:
            title = f"{name}, {size} KB"
            panels[title] = bands(run_trials(block, LEARNERS, size, 2 if quick else SEEDS, tops=TOPS))
            rows += rows_of(title, panels[title])
            print(f"{title}: done", flush=True)
    title = "WM-Sketch, figure 4: relative error of the K heaviest weights by budget"
    said = remarks.FIGURE_4 + remarks.lowest(panels)
    _finish(output, "wm-figure-4", title, markdown_table(head("budget"), rows), said, panels)


def figure_5(data: DataFolder, output: Path, quick: bool = False, paths: Sequence[Path] = ()) -> None:
    """AWM-Sketch at 8 KB under ridge penalties of several strengths."""
    panels, rows = {}, []
    for name, block in load(data, paths, quick, ["RCV1", "URL", "20 newsgroups"]).items():
        lines = {}
        for l2 in STRENGTHS[::3] if quick else STRENGTHS:
            lines[f"l2 = {l2:.0e}"] = bands(run_trials(block, ["awm"], 8, 2 if quick else SEEDS, l2, TOPS))["awm"]
        panels[name] = lines
        rows += rows_of(name, lines)
    columns = head("set")
    columns[1] = "penalty"
    title = "WM-Sketch, figure 5: relative error of AWM-Sketch's K heaviest weights by penalty, at 8 KB"
    said = remarks.FIGURE_5 + remarks.by_penalty(panels)
    _finish(output, "wm-figure-5", title, markdown_table(columns, rows), said, panels)


def _finish(output: Path, name: str, title: str, table: str, remarks: str, panels: dict[str, dict[str, Band]]) -> None:
    write_report(output, name, title, table, remarks, f"ouzel reproduce {name}")
    draw_bands(output / f"{name}.png", panels, x="K", y="relative error", log_x=True, top_of="hashing")
