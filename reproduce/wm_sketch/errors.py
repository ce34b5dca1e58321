"""Figures 6 and 7 of the WM-Sketch paper: online error rates within a byte budget, and time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ouzel.streams.block import Block
from reproduce.provenance import DataFolder
from reproduce.wm_sketch import remarks
from reproduce.wm_sketch.budget_trials import KILOBYTES, LEARNERS, REFERENCE, SEEDS, Outcome, best, load, range_of
from reproduce.wm_sketch.budget_trials import trials as run_trials
from reproduce.writing import Band, draw_bands, markdown_table, signed, write_report

STRENGTHS = (1e-3, 1e-4, 1e-5, 1e-6)
GAINS = {"RCV1": (0.005, 0.037), "URL": (0.001, 0.004)}  # of awm over hashing, least and greatest over budgets
TIMES = {"hashing": 2.0, "awm": 4.0}  # relative to logistic regression


def error_of(outcome: Outcome) -> float:
    """The figure that is shown."""
    return outcome.error


def strength_for(block: Block, sizes: Sequence[int]) -> float:
    """The penalty at which the best of the methods within a budget errs least, in one order, summed over budgets."""
    least = {}
    for l2 in STRENGTHS:
        found = [best(run_trials(block, LEARNERS, size, 1, l2), error_of) for size in sizes]
        least[l2] = sum(min(entry[0].error for name, entry in one.items() if name != REFERENCE) for one in found)
    return min(least, key=lambda l2: least[l2])


def figure_6(data: DataFolder, output: Path, quick: bool = False, paths: Sequence[Path] = ()) -> None:
    """Every method at every budget on every set."""
    sizes = (2, 8) if quick else KILOBYTES
    panels, rows = {}, []
    for name, block in load(data, paths, quick).items():
        l2 = strength_for(block, [8])
        found = [best(run_trials(block, LEARNERS, size, 2 if quick else SEEDS, l2), error_of) for size in sizes]
        lines = {}
        for learner in (*LEARNERS, REFERENCE):
            ranges = [range_of(one[learner], error_of) for one in found]
            lines[learner] = Band(sizes, *map(list, zip(*ranges, strict=True)))
            rows.append([name, learner, *(f"{value:.4f}" for value in lines[learner].middle), ""])
        gains = [rival - own for rival, own in zip(lines["hashing"].middle, lines["awm"].middle, strict=True)]
        published = "{:.3f} to {:.3f}".format(*GAINS[name]) if name in GAINS else ""
        rows.append([f"{name}, l2 {l2:.0e}", "hashing - awm", *(signed(gain, 4) for gain in gains), published])
        panels[name] = lines
        print(f"{name}: done", flush=True)
    table = markdown_table(["set", "learner", *(f"{size} KB" for size in sizes), "published"], rows)
    title = "WM-Sketch, figure 6: online error rate by budget"
    said = remarks.FIGURE_6 + remarks.gains(panels, REFERENCE)
    write_report(output, "wm-figure-6", title, table, said, "ouzel reproduce wm-figure-6")
    draw_bands(output / "wm-figure-6.png", panels, x="kilobytes", y="online error rate", log_x=True)


def figure_7(data: DataFolder, output: Path, quick: bool = False, paths: Sequence[Path] = ()) -> None:
    """Time of every method against logistic regression without a budget, on RCV1, in the configurations of Table 2."""
    (block,) = load(data, (), quick, ["RCV1"]).values()
    sizes = (2, 8) if quick else KILOBYTES
    lines: dict[str, list[float]] = {name: [] for name in LEARNERS}
    for size in sizes:
        found = run_trials(block, LEARNERS, size, 3 if quick else SEEDS)
        base = min(outcome.seconds for outcome in found[REFERENCE][0])
        for name in LEARNERS:
            lines[name].append(min(outcome.seconds for outcome in found[name][0]) / base)
    rows = []
    for name in LEARNERS:
        published = f"about {TIMES[name]:.0f}" if name in TIMES else ""
        rows.append([name, published, *(f"{value:.2f}" for value in lines[name])])
    table = markdown_table(["learner", "published", *(f"{size} KB" for size in sizes)], rows)
    title = "WM-Sketch, figure 7: time relative to logistic regression without a budget, on RCV1"
    write_report(output, "wm-figure-7", title, table, remarks.FIGURE_7, "ouzel reproduce wm-figure-7")
    drawn = {name: Band(sizes, values, values, values) for name, values in lines.items()}
    fast = {name: band for name, band in drawn.items() if np.max(band.middle) < 8.0}
    panels = {"all": drawn, "the fast ones": fast}
    draw_bands(output / "wm-figure-7.png", panels, x="kilobytes", y="time of logistic regression's", log_x=True)
