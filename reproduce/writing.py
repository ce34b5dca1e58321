"""What an experiment leaves behind: NAME.md with its table and an honest paragraph, and NAME.png."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

from ouzel.plotting.axes import COLOURS, MARKERS, save


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown, columns aligned for reading as plain text.

    >>> print(markdown_table(["set", "error"], [["a9a", "0.15"]]))
    | set | error |
    | --- | ----- |
    | a9a | 0.15  |
    """
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    lines = [head, ["-" * max(width, 3) for width in widths], *rows]
    return "\n".join(
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |" for line in lines
    )


def write_report(output: Path, name: str, title: str, table: str, paragraph: str, command: str) -> None:
    """Write NAME.md; `command` is what makes it again."""
    text = f"# {title}\n\n`{command}`\n\n{table}\n\n{' '.join(paragraph.split())}\n"
    (output / f"{name}.md").write_text(text)


def listed(names: Sequence[str]) -> str:
    """Names in a sentence.

    >>> listed(["a", "b", "c"]), listed([])
    ('a, b and c', 'none')
    """
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]])) or "none"


def span(values: Iterable[float], digits: int = 3) -> str:
    """The least and the greatest of some numbers.

    >>> span([0.25, 0.5], 2)
    '0.25 to 0.50'
    """
    found = [f"{value:.{digits}f}".replace("-", "\N{MINUS SIGN}") for value in sorted(values)]
    return "not known" if not found else found[0] if found[0] == found[-1] else f"{found[0]} to {found[-1]}"


def signed(difference: float, digits: int = 3) -> str:
    """A difference with its sign, a proper minus."""
    return f"{difference:+.{digits}f}".replace("-", "\N{MINUS SIGN}")


def draw_bars(path: Path, groups: Sequence[str], series: Mapping[str, Sequence[float]], y: str) -> None:
    """Bars of each series beside one another, group by group."""
    figure = Figure(figsize=(max(6.4, 1.3 * len(groups)), 4.0), layout="constrained")
    axes = figure.subplots()
    width = 0.8 / len(series)
    for number, (label, values) in enumerate(series.items()):
        left = np.arange(len(groups)) - 0.4 + width * (number + 0.5)
        axes.bar(left, values, width * 0.92, label=label, color=COLOURS[number % len(COLOURS)])
    axes.set_xticks(range(len(groups)), groups)
    axes.set_ylabel(y)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8, ncols=2)
    save(figure, path)


def draw_scatter(path: Path, panels: Mapping[str, tuple[Mapping[str, tuple[float, float]], str, str]]) -> None:
    """Panels of named points on logarithmic axes with the diagonal between them: points, x and y of each title."""
    figure = Figure(figsize=(4.8 * len(panels), 4.6), layout="constrained")
    for axes, (title, (points, x, y)) in zip(
        figure.subplots(1, len(panels), squeeze=False)[0], panels.items(), strict=True
    ):
        values = [max(value, 1e-5) for point in points.values() for value in point]
        ends = [min(values) / 1.3, max(values) * 1.3]
        axes.plot(ends, ends, color="#999999", linewidth=0.8)
        for number, (label, point) in enumerate(points.items()):
            place = tuple(max(value, 1e-5) for value in point)
            axes.plot(*place, "o", markersize=4, color=COLOURS[number % len(COLOURS)])
            axes.annotate(label, place, fontsize=6, xytext=(3, 2), textcoords="offset points")
        axes.set(xscale="log", yscale="log", xlim=ends, ylim=ends, xlabel=x, ylabel=y, title=title)
        axes.set_aspect("equal")
    save(figure, path)


class Band(NamedTuple):
    """A line with the range about it."""

    x: Sequence[float]
    middle: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]


def draw_bands(
    path: Path,
    panels: Mapping[str, Mapping[str, Band]],
    *,
    x: str,
    y: str,
    log_x: bool = False,
    top_of: str = "",
    most: int = 3,
) -> None:
    """Panels in rows of at most `most`, lines with shaded ranges; the line `top_of` may leave a panel at its top."""
    across = 2 if len(panels) == 4 else min(most, len(panels))
    down = -(-len(panels) // across)
    figure = Figure(figsize=(max(6.4, 4.2 * across), 3.8 * down), layout="constrained")
    grid = figure.subplots(down, across, squeeze=False).ravel()
    names = list(dict.fromkeys(name for lines in panels.values() for name in lines))
    for axes, (title, lines) in zip(grid, panels.items(), strict=False):
        for name, band in lines.items():
            number = names.index(name)
            colour = COLOURS[number % len(COLOURS)]
            axes.fill_between(band.x, band.low, band.high, color=colour, alpha=0.18, linewidth=0)
            marker = MARKERS[number % len(MARKERS)]
            axes.plot(band.x, band.middle, marker=marker, markersize=4, linewidth=1.5, color=colour, label=name)
        ticks = next(iter(lines.values())).x
        if log_x:
            axes.set_xscale("log", base=2)
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks], minor=False)
        axes.set(title=title, xlabel=x, ylabel=y)
        heights = [value for name, band in lines.items() if name != top_of for value in band.high if value == value]
        if top_of in lines and heights:
            low = min(1.0, *heights)
            axes.set_ylim(low - 0.02 * (max(heights) - low), max(heights) + 0.08 * (max(heights) - low))
        axes.grid(True, color="#dddddd", linewidth=0.6)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
    for axes in grid[len(panels) :]:
        axes.set_visible(False)
    grid[0].legend(frameon=False, fontsize=8)
    save(figure, path)
