"""Plots of the benchmarks: strips of errors relative to the default's, and grids of panels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter, StrMethodFormatter

from ouzel.plotting.axes import COLOURS, Line, fill, save


def draw_strips(
    path: Path, groups: Mapping[str, tuple[Sequence[float], float]], y: str, labels: tuple[str, str]
) -> None:
    """Draw strips of values as multiples of ours on a logarithmic axis, group by group: others' and ours."""
    figure = Figure(figsize=(max(6.4, 1.3 * len(groups)), 4.0), layout="constrained")
    axes = figure.subplots()
    for place, (others, ours) in enumerate(groups.values()):
        floor = max(ours, 1e-6)
        heights = [max(other, 1e-6) / floor for other in others]
        axes.plot([place] * len(heights), heights, "_", markersize=16, color="#999999", label=labels[0])
        axes.plot(place, 1.0, "o", markersize=7, color=COLOURS[0], label=labels[1])
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    low, high = axes.get_ylim()
    axes.yaxis.set_minor_formatter(StrMethodFormatter("{x:g}") if high < 10.0 * low else NullFormatter())
    axes.set_xticks(range(len(groups)), [name.replace(" (", "\n(") for name in groups])
    axes.set_ylabel(y)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(*zip(*list(zip(*axes.get_legend_handles_labels(), strict=True))[:2], strict=True), frameon=False)
    save(figure, path)


def draw_grid(path: Path, panels: Mapping[str, Mapping[str, Line]], *, x: str, y: str, across: int = 4) -> None:
    """Draw panels of the same lines, in rows of at most `across`."""
    across = min(across, len(panels))
    down = -(-len(panels) // across)
    figure = Figure(figsize=(3.6 * across, 2.8 * down), layout="constrained")
    grid = figure.subplots(down, across, squeeze=False).ravel()
    for axes, (title, lines) in zip(grid, panels.items(), strict=False):
        fill(axes, lines, x, y, title, False, False, legend=False)
    for axes in grid[len(panels) :]:
        axes.set_visible(False)
    handles, labels = grid[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False, fontsize=9)
    save(figure, path)
