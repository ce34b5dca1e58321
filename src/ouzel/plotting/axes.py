"""Line plots and panels, one figure per file: SVG, PNG or PDF by its suffix."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ouzel.errors import OuzelError
from ouzel.extras import need
from ouzel.files import check_place, write_atomically

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SUFFIXES = (".svg", ".png", ".pdf")
COLOURS = ("#1b6ca8", "#d1495b", "#2e933c", "#edae49", "#7b4ea3", "#5a5a5a", "#00798c", "#b5651d")
MARKERS = "osD^vPX*"
STYLES = ("-", "--", ":", "-.")
LONGEST_LEGEND = 16  # lines of one column of a legend next to the panels

Line = tuple[Sequence[float], Sequence[float | None]]


def check_plot_path(path: str) -> None:
    """Refuse a file that could not be drawn to, before any work is done."""
    if Path(path).suffix.lower() not in SUFFIXES:
        raise OuzelError(f"{path}: a plot's name ends in {', '.join(SUFFIXES)}")
    check_place(Path(path))
    need("matplotlib", "drawing", "plot")


def draw_lines(
    lines: Mapping[str, Line],
    path: str | None,
    *,
    x: str,
    y: str,
    title: str = "",
    log_x: bool = False,
    log_y: bool = False,
) -> Figure:
    """Draw named lines in one pair of axes; short lines have markers, and None breaks a line."""
    figure = new_figure()
    fill(figure.subplots(), lines, x, y, title, log_x, log_y)
    return save(figure, path)


def draw_panels(
    panels: Mapping[str, Mapping[str, Line]],
    path: str | None,
    *,
    x: str | Mapping[str, str],
    y: str | None = None,
    log_x: bool | Collection[str] = False,
    log_y: Collection[str] = (),
    title: str = "",
    bands: Mapping[str, Mapping[str, Any]] | None = None,
) -> Figure:
    """Draw panels side by side; `y` labels every vertical axis, by default the name of the panel does.

    Panels that have the same lines share a legend at their right; those named in `log_x` or `log_y` have a logarithmic
    axis, and `x` may name the horizontal ones one by one. `bands` are how far to shade above and below the lines of a
    panel.
    """
    names = [list(lines) for lines in panels.values()]
    shared = len(panels) > 1 and len(names[0]) > 1 and all(other == names[0] for other in names)
    columns = -(-len(names[0]) // LONGEST_LEGEND) if shared else 0
    longest = max(map(len, names[0]), default=0)
    figure = new_figure(width=4.2 * len(panels) + columns * (0.5 + 0.06 * longest))
    for axes, (panel, lines) in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels.items(), strict=True):
        across = x if isinstance(x, str) else x[panel]
        log = log_x if isinstance(log_x, bool) else panel in log_x
        fill(axes, lines, across, y or panel, panel if y else "", log, panel in log_y, legend=not shared)
        for number, (name, reach) in enumerate((bands or {}).get(panel, {}).items()):
            middle = np.asarray(lines[name][1], float)
            colour = COLOURS[number % len(COLOURS)]
            axes.fill_between(lines[name][0], middle - reach, middle + reach, alpha=0.15, color=colour, linewidth=0)
    if shared:
        handles, labels = axes.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside right upper", ncols=columns, frameon=False, fontsize=8)
    if title:
        figure.suptitle(title, fontsize=10)
    return save(figure, path)


def new_figure(width: float = 6.4, height: float = 4.0) -> Any:
    """Return an empty figure of a width and a height in inches."""
    return need("matplotlib.figure", "drawing", "plot").Figure(figsize=(width, height), layout="constrained")


def fill(
    axes: Any,
    lines: Mapping[str, Line],
    x: str,
    y: str,
    title: str,
    log_x: bool,
    log_y: bool,
    legend: bool = True,
) -> None:
    """Draw named lines and label the axes."""
    for number, (name, (xs, ys)) in enumerate(lines.items()):
        values = [float("nan") if value is None else value for value in ys]
        marker = MARKERS[number % len(MARKERS)] if len(xs) <= 20 else ""
        colour = COLOURS[number % len(COLOURS)]
        style = STYLES[number // len(COLOURS) % len(STYLES)]
        axes.plot(xs, values, style, marker=marker, markersize=4, linewidth=1.6, color=colour, label=name)
    axes.set(xlabel=x, ylabel=y, title=title)
    if log_x:
        binary = _powers_of_two(lines)
        ticks = sorted({value for xs, _ in lines.values() for value in xs})
        if binary or (ticks and ticks[-1] >= 10.0 * ticks[0]):  # less than a power of ten is better seen as it is
            axes.set_xscale("log", base=2 if binary else 10)
            if not binary:
                _label_between(axes.xaxis, *axes.get_xlim())
        if binary and len(ticks) <= 10 and ticks[0] >= 1 and ticks[-1] <= 1024:
            axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    if log_y:
        axes.set_yscale("log")
        _label_between(axes.yaxis, *axes.get_ylim())
    dress(axes)
    if legend and len(lines) > 1:
        axes.legend(frameon=False, fontsize=8)


def dress(axes: Any) -> None:
    """Style axes with a faint grid and no frame."""
    axes.grid(True, color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def _label_between(axis: Any, low: float, high: float) -> None:
    """Label 2 and 5, or 3 alone, between the powers of ten of a logarithmic axis that has few."""
    if high < 1000.0 * low:
        between = (1.0, 2.0, 5.0) if high < 100.0 * low else (1.0, 3.0)
        from matplotlib.ticker import LogLocator, NullFormatter

        axis.set_major_locator(LogLocator(subs=between))
        axis.set_major_formatter("{x:g}")
        axis.set_minor_formatter(NullFormatter())


def _powers_of_two(lines: Mapping[str, Line]) -> bool:
    values = [value for xs, _ in lines.values() for value in xs]
    return bool(values) and all(value > 0 and float(value).hex().startswith("0x1.0000000000000p") for value in values)


def save(figure: Any, path: str | Path | None) -> Figure:
    """Write a figure to its file atomically, if there is one; return it, as a notebook shows it."""
    if path is not None:
        with write_atomically(path) as file:
            figure.savefig(file, dpi=150, format=Path(path).suffix[1:].lower())
    figure._repr_png_ = partial(_png, figure)
    found: Figure = figure
    return found


def _png(figure: Any) -> bytes:
    """Return a picture for a notebook."""
    picture = BytesIO()
    figure.savefig(picture, dpi=100, format="png")
    return picture.getvalue()
