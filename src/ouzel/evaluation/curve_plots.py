"""Plots of runs: errors against examples, and the calibration of probabilities."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ouzel.evaluation.curve import Point
from ouzel.plotting.axes import COLOURS, Line, draw_lines, dress, fill, new_figure, save

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SETTLED = 64  # examples before which an error says little, where a curve is long


def draw_training(
    learner: str,
    curve: Sequence[Point],
    calibration: Sequence[tuple[float, float]],
    path: str | None,
    *,
    numbers: bool,
    pairs: bool,
    title: str = "",
    intervals: Sequence[dict[str, Any]] = (),
    before: Sequence[tuple[float, float]] = (),
) -> Figure:
    """Draw the learning curve of a run, the calibration of probabilities, and the coverage of intervals."""
    intervals = [one for one in intervals if one["curve"]]
    panels = 1 + bool(calibration) + 2 * bool(intervals)
    if panels == 1:
        return draw_curves({learner: curve}, path, numbers, pairs, f"{title}, {learner}" if title else "")
    errors = _settled(curve)
    figure = new_figure(width=4.2 * panels)
    first, *others = figure.subplots(1, panels)
    figures = [point.mean_loss if numbers else point.error_rate for point in errors]
    line = {learner: ([point.examples for point in errors], figures)}
    fill(first, line, "examples", f"progressive {'loss' if numbers else 'error rate'}", "", log_x=True, log_y=False)
    if calibration:
        draw_calibration(
            others[0], {"recalibrated": calibration, "before": before} if before else {learner: calibration}
        )
    if intervals:
        draw_coverage(others[-2], others[-1], intervals, numbers)
    if title:
        figure.suptitle(title, fontsize=10)
    return save(figure, path)


def _settled(curve: Sequence[Point]) -> list[Point]:
    """The points from where an error says something."""
    return [point for point in curve if point.examples >= SETTLED or curve[-1].examples < 16 * SETTLED]


def draw_curves(
    curves: Mapping[str, Sequence[Point]], path: str | None, numbers: bool, pairs: bool, title: str = ""
) -> Figure:
    """Progressive error (or loss, for numbers) against examples, a line a learner, from where it has settled."""
    lines: dict[str, Line] = {}
    for name, curve in curves.items():
        settled = _settled(curve)
        figures = [point.mean_loss if numbers else point.error_rate for point in settled]
        lines[name] = ([point.examples for point in settled], figures)
    counted = "pairs" if pairs else "examples"
    title = title or (next(iter(lines)) if len(lines) == 1 else "")
    return draw_lines(
        lines, path, x=counted, y=f"progressive {'loss' if numbers else 'error rate'}", title=title, log_x=True
    )


def draw_calibration(axes: Any, calibration: Mapping[str, Sequence[tuple[float, float]]]) -> None:
    """Draw calibration: observed frequency by predicted probability, a line a model, and the diagonal."""
    axes.plot([0.0, 1.0], [0.0, 1.0], "--", color="#999999", linewidth=1.0, label="perfectly calibrated")
    for number, (name, points) in enumerate(calibration.items()):
        predicted, observed = zip(*points, strict=True)
        axes.plot(predicted, observed, "o-", markersize=4, color=COLOURS[number % len(COLOURS)], label=name)
    axes.set(xlabel="predicted probability", ylabel="observed frequency", xlim=(0.0, 1.0), ylim=(0.0, 1.0))
    dress(axes)
    axes.legend(frameon=False, fontsize=8)


def draw_coverage(left: Any, right: Any, intervals: Sequence[dict[str, Any]], numbers: bool) -> None:
    """Draw coverage and sizes of intervals or sets by stretch, a line per level."""
    for number, one in enumerate(intervals):
        colour, name = COLOURS[number % len(COLOURS)], f"{one['level']:g}"
        examples = [point["examples"] for point in one["curve"]]
        left.axhline(one["level"], linestyle="--", color="#999999", linewidth=1.0)
        left.plot(examples, [point["coverage"] for point in one["curve"]], color=colour, linewidth=1.2, label=name)
        sizes = [math.nan if point["size"] is None else point["size"] for point in one["curve"]]
        right.plot(examples, sizes, color=colour, linewidth=1.2, label=name)
    what = "width of intervals" if numbers else "labels in a set"
    left.set(xlabel="examples", ylabel=f"coverage of each stretch of {intervals[0]['curve'][0]['examples']:,}")
    right.set(xlabel="examples", ylabel=f"mean {what}")
    for axes in (left, right):
        dress(axes)
        axes.legend(frameon=False, fontsize=8, title="level")
