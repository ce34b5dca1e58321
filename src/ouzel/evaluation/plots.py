"""Plots: one clean figure a file, SVG or PNG (or PDF) by the file's suffix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ouzel.errors import OuzelError
from ouzel.evaluation.curve import Point

SUFFIXES = (".svg", ".png", ".pdf")
COLOURS = ("#1b6ca8", "#d1495b", "#2e933c", "#edae49", "#7b4ea3", "#5a5a5a", "#00798c", "#b5651d")
MARKERS = "osD^vPX*"

Line = tuple[Sequence[float], Sequence[float | None]]


def check_plot_path(path: str) -> None:
    """Refuse, before any work is done, a file that could not be drawn to."""
    if Path(path).suffix.lower() not in SUFFIXES:
        raise OuzelError(f"{path}: a plot's name ends in {', '.join(SUFFIXES)}")
    if not Path(path).absolute().parent.is_dir():
        raise OuzelError(f"{path}: there is no folder {Path(path).absolute().parent}; make it first")


def draw_curves(curves: Mapping[str, Sequence[Point]], path: str, task: str = "classification") -> None:
    """Progressive error (or loss, for numbers) against examples, a line a learner."""
    classes = task == "classification"
    lines = {
        name: ([p.examples for p in curve], [p.error_rate if classes else p.mean_loss for p in curve])
        for name, curve in curves.items()
    }
    draw_lines(lines, path, x="examples", y=f"progressive {'error rate' if classes else 'loss'}", log_x=True)


def draw_lines(
    lines: Mapping[str, Line], path: str, *, x: str, y: str, title: str = "", log_x: bool = False, log_y: bool = False
) -> None:
    """Named lines in one pair of axes; short lines have markers, and where a value is None the line is broken."""
    figure = _figure()
    _fill(figure.subplots(), lines, x, y, title, log_x, log_y)
    _save(figure, path)


def draw_panels(
    panels: Mapping[str, Mapping[str, Line]], path: str, *, x: str, y: str | None = None, log_x: bool = False
) -> None:
    """One pair of axes beside another: `y` on every vertical axis, or the panel's own name there."""
    figure = _figure(width=4.2 * len(panels))
    for axes, (title, lines) in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels.items(), strict=True):
        _fill(axes, lines, x, y or title, title if y else "", log_x, False)
    _save(figure, path)


def _figure(width: float = 6.4) -> Any:
    from matplotlib.figure import Figure

    return Figure(figsize=(width, 4.0), layout="constrained")


def _fill(axes: Any, lines: Mapping[str, Line], x: str, y: str, title: str, log_x: bool, log_y: bool) -> None:
    for number, (name, (xs, ys)) in enumerate(lines.items()):
        values = [float("nan") if value is None else value for value in ys]
        marker = MARKERS[number % len(MARKERS)] if len(xs) <= 20 else ""
        colour = COLOURS[number % len(COLOURS)]
        style = "-" if number < len(COLOURS) else "--"
        axes.plot(xs, values, style, marker=marker, markersize=4, linewidth=1.6, color=colour, label=name)
    axes.set(xlabel=x, ylabel=y, title=title)
    if log_x:
        axes.set_xscale("log", base=2 if _powers_of_two(lines) else 10)
    if log_y:
        axes.set_yscale("log")
    axes.grid(True, color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    if len(lines) > 1:
        axes.legend(frameon=False, fontsize=8)


def _powers_of_two(lines: Mapping[str, Line]) -> bool:
    values = [value for xs, _ in lines.values() for value in xs]
    return bool(values) and all(value > 0 and float(value).hex().startswith("0x1.0000000000000p") for value in values)


def _save(figure: Any, path: str) -> None:
    try:
        figure.savefig(path, dpi=150)
    except OSError as error:
        raise OuzelError(f"{path}: cannot be written ({error.strerror or error})") from None
