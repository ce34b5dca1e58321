"""Errors against examples: of one run, of learners side by side, and of orders of the examples."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ouzel.evaluation.comparison.shuffles import Summary
from ouzel.evaluation.curve import Point
from ouzel.evaluation.report import Report
from ouzel.plotting.axes import Line, draw_lines, draw_panels, fill, new_figure, save
from ouzel.plotting.testing import draw_calibration

MOST_DRAWN = 8  # candidates, beside which more cannot be told apart
SETTLED = 64  # examples before which an error says little, where a curve is long


def draw_training(report: Report, path: str, title: str = "") -> None:
    """The learning curve of a run, and, of a learner of probabilities, how they agree with what came true beside it."""
    if not report.calibration:
        told = f"{title}, {report.learner}" if title else ""
        draw_curves({report.learner: report.curve}, path, report.rmse is not None, report.pairs is not None, told)
        return
    errors = _settled(report.curve)
    figure = new_figure(width=8.4)
    left, right = figure.subplots(1, 2)
    line = {report.learner: ([point.examples for point in errors], [point.error_rate for point in errors])}
    fill(left, line, "examples", "progressive error rate", "", log_x=True, log_y=False)
    draw_calibration(right, {report.learner: report.calibration})
    if title:
        figure.suptitle(title, fontsize=10)
    save(figure, path)


def _settled(curve: Sequence[Point]) -> list[Point]:
    """The points from where an error says something."""
    return [point for point in curve if point.examples >= SETTLED or curve[-1].examples < 16 * SETTLED]


def draw_curves(curves: Mapping[str, Sequence[Point]], path: str, numbers: bool, pairs: bool, title: str = "") -> None:
    """Progressive error (or loss, for numbers) against examples, a line a learner, from where it has settled."""
    lines: dict[str, Line] = {}
    for name, curve in curves.items():
        settled = _settled(curve)
        figures = [point.mean_loss if numbers else point.error_rate for point in settled]
        lines[name] = ([point.examples for point in settled], figures)
    counted = "pairs" if pairs else "examples"
    title = title or (next(iter(lines)) if len(lines) == 1 else "")
    draw_lines(lines, path, x=counted, y=f"progressive {'loss' if numbers else 'error rate'}", title=title, log_x=True)


def draw_cumulative(found: Mapping[str, Summary], path: str, title: str = "") -> None:
    """The three figures: rate of mistakes, updates and seconds so far; means over orders, in bands of their spread.

    Of many candidates the best eight are drawn; bands are one standard deviation to each side.
    """
    shown = dict(sorted(found.items(), key=lambda item: float(item[1].rates[-1]))[:MOST_DRAWN])
    shown = {name: entry for name, entry in found.items() if name in shown}  # in the order of the table
    first = next(iter(shown.values()))
    figures: dict[str, Callable[[Summary], np.ndarray]] = {
        "root mean squared error" if first.task.numbers else "rate of mistakes": lambda entry: entry.rates_of_orders,
        "updates": lambda entry: entry.updates,
        "seconds": lambda entry: entry.seconds,
    }
    panels: dict[str, dict[str, Line]] = {}
    bands: dict[str, dict[str, np.ndarray]] = {}
    for of, values in figures.items():
        panels[of] = {n: (e.examples.tolist(), values(e).mean(axis=0).tolist()) for n, e in shown.items()}
        spread = {n: values(e).std(axis=0, ddof=min(1, len(e.mistakes) - 1)) for n, e in shown.items()}
        bands[of] = spread if of != "seconds" else {}
    told = f"{title}, {int(first.examples[-1]):,} examples, {len(first.mistakes)} orders" if title else ""
    told += f"; the best {MOST_DRAWN} of {len(found)}" if told and len(found) > MOST_DRAWN else ""
    draw_panels(panels, path, x="examples", log_y=("seconds",), title=told, bands=bands)
