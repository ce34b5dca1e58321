"""Plots of comparisons: settings against the error, learners over time and over orders, regret, ranks over files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ouzel.comparison.one_pass import Entry, best_of_rows
from ouzel.comparison.results import name_of
from ouzel.comparison.shuffles import Summary
from ouzel.comparison.significance import critical_difference, mean_ranks
from ouzel.evaluation.curve_plots import draw_curves
from ouzel.plotting.axes import COLOURS, Line, draw_lines, draw_panels, fill, new_figure, save

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_DRAWN = 8  # candidates, beside which more cannot be told apart


def draw_comparison(
    entries: Sequence[Entry],
    path: str | None,
    title: str = "",
    recovered: Mapping[int, float | None] | None = None,
    reference: Entry | None = None,
) -> Figure:
    """Draw the plot for the varied settings; recovery errors, by the identity of an entry, are drawn too."""
    title = f"{title}, {entries[0].scores.examples:,} examples" if title else ""
    candidates = [entry.candidate for entry in entries]
    y = "progressive rmse" if entries[0].model.task.numbers else "progressive error rate"
    varied = {name for candidate in candidates for name in candidate.varied}
    best = [row[0] for row in best_of_rows(entries)]
    if reference is not None and any(entry.budget for entry in candidates):
        errors = _lines(best, _kilobytes, lambda entry: entry.figure)
        budgets = [entry.budget / 1024 for entry in candidates if entry.budget]
        errors[reference.candidate.learner] = ([min(budgets), max(budgets)], [reference.figure] * 2)
        lines = _lines(best, _kilobytes, lambda entry: recovered.get(id(entry)) if recovered else None)
        return draw_panels({"recovery error": lines, y: errors}, path, x="budget in KB", log_x=True, title=title)
    if any(entry.budget for entry in candidates):
        lines = _lines(best, _kilobytes, lambda entry: entry.figure)
        return draw_lines(lines, path, x="budget in KB", y=y, title=title, log_x=True)
    if any(entry.l1 for entry in candidates):
        lines = _lines(best, lambda entry: entry.nonzeros or None, lambda entry: entry.figure)
        return draw_lines(lines, path, x="weights that are not zero", y=y, title=title, log_x=True)
    if any(entry.step for entry in candidates):
        lines = _lines(entries, lambda entry: entry.candidate.step, lambda entry: entry.figure)
        return draw_lines(lines, path, x="step size", y=y, title=title, log_x=True)
    if len(varied) == 1 and all(
        isinstance(value, (int, float)) for entry in candidates for value in entry.varied.values()
    ):
        (name,) = varied
        lines = _lines(entries, lambda entry: entry.candidate.varied.get(name), lambda entry: entry.figure)
        return draw_lines(lines, path, x=name, y=y, title=title, log_x=True)
    curves = {name_of(entry.candidate): entry.curve.points for entry in entries}
    task = entries[0].model.task
    return draw_curves(curves, path, task.numbers, task.groups, title)


def _kilobytes(entry: Entry) -> float | None:
    budget = entry.candidate.budget
    return None if budget is None else budget / 1024


def _lines(entries: Sequence[Entry], x: Any, y: Any) -> dict[str, Line]:
    """A line a learner, through what `x` and `y` say of each entry; it is level where a learner has no `x` at all."""
    lines: dict[str, Line] = {}
    for entry in entries:
        if x(entry) is not None:
            xs, ys = lines.setdefault(entry.candidate.learner, ([], []))
            value = y(entry)
            xs.append(x(entry))  # type: ignore[attr-defined]
            ys.append(value if value is None or value < float("inf") else None)  # type: ignore[attr-defined]
    reached = [place for xs, _ in lines.values() for place in xs]
    for entry in entries:
        level = y(entry)
        if reached and level is not None and level < float("inf"):
            lines.setdefault(entry.candidate.learner, ([min(reached), max(reached)], [level] * 2))
    return lines


def draw_regret(entries: Sequence[Entry], path: str | None, title: str = "") -> Figure:
    """Draw the regret over examples, of the best of each row of the table; a dashed line is the bound on it.

    Axes are logarithmic; where a regret is 0 or less, the vertical one is linear from -1 to 1.
    """
    title = f"{title}, {entries[0].scores.examples:,} examples" if title else ""
    best = [row[0] for row in best_of_rows(entries) if row[0].regret is not None][:MOST_DRAWN]
    curves = {name_of(entry.candidate): entry.regret.curve for entry in best if entry.regret is not None}
    lines: dict[str, Line] = {
        name: ([point.examples for point in curve], [point.regret for point in curve]) for name, curve in curves.items()
    }
    positive = all(point.regret > 0.0 for curve in curves.values() for point in curve)
    figure = new_figure()
    axes = figure.subplots()
    fill(axes, lines, "examples", "regret against the best fixed weights", title, True, False, legend=False)
    for (name, curve), colour in zip(curves.items(), COLOURS, strict=False):
        bounds = [np.nan if point.bound is None else point.bound for point in curve]
        if not np.isnan(bounds).all():
            places = [point.examples for point in curve]
            axes.plot(places, bounds, "--", linewidth=1.2, color=colour, label=f"bound of {name}")
    axes.set_yscale("log" if positive else "symlog")
    axes.legend(frameon=False, fontsize=8)
    return save(figure, path)


def draw_cumulative(found: Mapping[str, Summary], path: str | None, title: str = "") -> Figure:
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
    title = f"{title}, {int(first.examples[-1]):,} examples, {len(first.mistakes)} orders" if title else ""
    title += f"; the best {MOST_DRAWN} of {len(found)}" if title and len(found) > MOST_DRAWN else ""
    return draw_panels(panels, path, x="examples", log_y=("seconds",), title=title, bands=bands)


def draw_ranks(errors: Mapping[str, Mapping[str, float]], path: str | None) -> Figure:
    """Mean ranks over files, the best at the left; a bar joins learners whose ranks do not differ for certain.

    A critical-difference diagram, of Demšar (2006), JMLR 7; `errors` are by file and learner.
    """
    names = [name for name in next(iter(errors.values())) if all(name in column for column in errors.values())]
    figures = np.array([[column[name] for column in errors.values()] for name in names])
    ranks = mean_ranks(figures)
    apart = critical_difference(len(names), len(errors)) if len(names) > 1 else 0.0
    order = np.argsort(ranks, kind="stable")
    bars = _bars(ranks[order], apart)
    last = max(len(names), 2)
    under = 0.6 + 0.4 * len(bars)  # where names begin, below the bars
    figure = new_figure()
    axes = figure.subplots()
    axes.plot([1, last], [0, 0], color="black", linewidth=1)
    for tick in range(1, last + 1):
        axes.plot([tick, tick], [0, -0.15], color="black", linewidth=1)
        axes.annotate(str(tick), (tick, -0.25), ha="center", va="bottom")
    for row, (low, high) in enumerate(bars):
        axes.plot([low - 0.03, high + 0.03], [0.4 + 0.4 * row] * 2, color="#5a5a5a", linewidth=4, alpha=0.7)
    half = -(-len(order) // 2)
    for row, place in enumerate(order):
        left = row < half
        depth = under + 0.6 * (row if left else len(order) - 1 - row)
        end = 1 - 0.1 * last if left else last + 0.1 * last
        axes.plot([ranks[place], ranks[place], end], [0, depth, depth], color=COLOURS[row % len(COLOURS)], linewidth=1)
        text = f"{names[place]} ({ranks[place]:.2f})"
        axes.annotate(text, (end, depth), xytext=(-4 if left else 4, 0), textcoords="offset points",
                      ha="right" if left else "left", va="center", annotation_clip=False)  # fmt: skip
    axes.set_ylim(under + 0.6 * half, -0.8)
    axes.set_title(f"mean rank over {len(errors)} files; critical difference {apart:.2f}", fontsize=10)
    axes.axis("off")
    return save(figure, path)


def _bars(ranks: np.ndarray, apart: float) -> list[tuple[float, float]]:
    """From where to where the longest runs of rising ranks go that lie less than so far apart."""
    found: list[tuple[float, float]] = []
    reached = -1
    for first, rank in enumerate(ranks):
        last = int(np.flatnonzero(ranks - rank < apart).max(initial=first))
        if last > max(first, reached):
            found.append((float(rank), float(ranks[last])))
            reached = last
    return found
