"""Plots of effects of columns: a curve over the density of the numbers, and heat maps of pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ouzel.plotting.axes import COLOURS, Line, dress, fill, new_figure, save
from ouzel.streams.dates import DAY, HOUR, text_of_date

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_CLASSES = 10  # that are drawn, those with the largest effects
POINTS = 200  # of a curve between its steps
BARS = 40
MOST_BARS, LONGEST = 20, 28  # words that are drawn, and letters of each
STRAY = 0.5  # percent of the sample at either end that may lie beyond the picture
ACROSS = 5  # heat maps in a row
DATES = 4  # written below a curve


def draw_effect(effect: Any, path: str | None, title: str = "") -> Figure:
    """Draw the curve of a column (an `effects.Effect`), a line a class, or the heat map of a pair, one a class."""
    columns, labels = _shown(effect)
    if len(effect.columns) == 2:
        across = min(ACROSS, len(columns))
        down = -(-len(columns) // across)
        width, height = (4.4, 3.6) if len(columns) == 1 else (2.7, 2.5)
        figure = new_figure(1.0 + width * across, 0.5 + height * down)
        panels = figure.subplots(down, across, squeeze=False).ravel()
        _draw_maps(figure, panels, effect, columns, labels)
    else:
        figure = new_figure(6.4, 4.8)
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=(4, 1))
        _draw_curve(above, effect, columns, labels)
        _draw_density(below, effect)
        if effect.is_date:
            low, high = _ends(effect.numbers[:, 0], effect.edges[0])
            unit = DAY if high - low > DATES * DAY else HOUR
            dates = np.unique(np.linspace(low, high, DATES + 2)[1:-1] // unit * unit)
            below.set_xticks(dates, [text_of_date(seconds) for seconds in dates.tolist()])
    if title:
        figure.suptitle(_plain(title), fontsize=10)
    return save(figure, path)


def draw_words(effect: Any, path: str | None, title: str = "") -> Figure:
    """Draw bars of what words add (an `effects.WordEffect`), with the share of examples that have each."""
    values = effect.values[:MOST_BARS]
    classes = np.sort(np.argsort(-values.std(axis=0), kind="stable")[:MOST_CLASSES]).tolist()
    order = np.argsort(-values[:, classes[0]], kind="stable") if len(classes) == 1 else np.arange(len(values))
    height = 0.8 / len(classes)
    figure = new_figure(6.4, max(2.2, 1.2 + len(values) * max(0.26, 0.1 * len(classes))))
    axes, shares = figure.subplots(1, 2, sharey=True, width_ratios=(5, 1))
    places = np.arange(len(values))
    for number, k in enumerate(classes):
        added = values[order, k]
        colours = (
            [COLOURS[int(value < 0.0)] for value in added] if len(classes) == 1 else COLOURS[number % len(COLOURS)]
        )
        label = _plain(str(effect.classes[k])) if len(classes) > 1 else None
        axes.barh(places + (number + 0.5) * height - 0.4, added, height * 0.9, color=colours, label=label)
    words = [_plain(effect.words[place]) for place in order.tolist()]
    axes.set_yticks(places, [word if len(word) <= LONGEST else f"{word[: LONGEST - 1]}…" for word in words], fontsize=8)
    axes.invert_yaxis()
    axes.axvline(0.0, color="#5a5a5a", linewidth=0.8)
    left = len(effect.words) - len(values)
    what = _what(effect, _plain(str(effect.classes[0])) if len(effect.classes) == 1 else "")
    axes.set(xlabel=what, ylabel=_plain(effect.columns[0]) + (f" ({left:,} more words)" if left else ""))
    if len(classes) > 1:
        axes.legend(frameon=False, fontsize=8)
    shares.barh(places, effect.shares[:MOST_BARS][order], 0.8, color="#b9b9b9")
    shares.set(xlabel="share of\nexamples")
    for part in (axes, shares):
        dress(part)
    if title:
        figure.suptitle(_plain(title), fontsize=10)
    return save(figure, path)


def _shown(effect: Any) -> tuple[list[int], list[str]]:
    """The margins that are drawn, and the classes that they speak for."""
    sizes = effect.at(effect.numbers).std(axis=0)
    order = np.sort(np.argsort(-sizes, kind="stable")[:MOST_CLASSES]).tolist()
    return order, [_plain(str(effect.classes[k])) if effect.classes else "" for k in order]


def _what(effect: Any, label: str = "") -> str:
    """The name of what an effect is in units of."""
    if not effect.classes:
        return "added to the logarithm of the prediction" if effect.logarithms else "added to the prediction"
    return f"added to the margin of {label}" if label else "added to the score of a class"


def _draw_curve(axes: Any, effect: Any, columns: list[int], labels: list[str]) -> None:
    (low, high), edges = _ends(effect.numbers[:, 0], effect.edges[0]), effect.edges[0].astype(float)
    inside = edges[(edges > low) & (edges < high)]
    points = np.sort(np.concatenate([np.linspace(low, high, POINTS), inside, np.nextafter(inside, -np.inf)]))
    curves = effect.at(points)
    lines: dict[str, Line] = {
        label: (points.tolist(), curves[:, k].tolist()) for k, label in zip(columns, labels, strict=True)
    }
    axes.axhline(0.0, color="#5a5a5a", linewidth=0.8)
    fill(axes, lines, "", _what(effect, labels[0] if len(effect.classes) == 1 else ""), "", False, False, legend=False)
    if len(columns) > 1:
        axes.legend(frameon=False, fontsize=8, ncols=1 + len(columns) // 4)


def _draw_density(axes: Any, effect: Any) -> None:
    numbers = effect.numbers[:, 0].astype(float)
    low, high = _ends(numbers, effect.edges[0])
    bins, weights = np.linspace(low, high, BARS + 1).tolist(), np.full(len(numbers), 1 / len(numbers))
    axes.hist(numbers, bins=bins, weights=weights, color="#b9b9b9")
    axes.set(xlabel=_plain(effect.columns[0]), ylabel="share of\nexamples")
    dress(axes)


def _draw_maps(figure: Any, panels: Any, effect: Any, columns: list[int], labels: list[str]) -> None:
    x, y = (
        (-0.5, 1.5) if category else _ends(effect.numbers[:, k], effect.edges[k])
        for k, category in enumerate(effect.categories)
    )
    borders = [np.array([0.5]) if effect.categories[k] else effect.edges[k] for k in (0, 1)]
    corners = [_corners(edges, *ends) for edges, ends in zip(borders, (x, y), strict=True)]
    most = float(np.abs(effect.values).max()) or 1.0
    for axes in panels[len(columns) :]:
        axes.set_axis_off()
    for axes, k, label in zip(panels, columns, labels, strict=False):
        mesh = axes.pcolormesh(*corners, effect.values[:, :, k].T, cmap="RdBu_r", vmin=-most, vmax=most)
        axes.scatter(*effect.numbers.T, s=4, color="black", alpha=0.35, linewidths=0)
        named = f"class {label}" if len(effect.classes) > 1 else ""
        axes.set(xlim=x, ylim=y, xlabel=_plain(effect.columns[0]), ylabel=_plain(effect.columns[1]), title=named)
        for axis, category in zip((axes.xaxis, axes.yaxis), effect.categories, strict=True):
            if category:
                axis.set_ticks([0, 1], ["no", "yes"])
    label = labels[0] if len(effect.classes) == 1 else ""
    figure.colorbar(mesh, ax=panels.tolist(), label=f"{_what(effect, label)}\nbeyond the columns by themselves")


def _ends(numbers: np.ndarray, edges: np.ndarray) -> tuple[float, float]:
    """Between which numbers to draw: all edges, and most of the sample."""
    low, high = np.percentile(numbers, [STRAY, 100.0 - STRAY])
    low, high = float(min(low, edges.min(initial=low))), float(max(high, edges.max(initial=high)))
    margin = 0.03 * (high - low) or 1.0
    return low - margin, high + margin


def _corners(edges: np.ndarray, low: float, high: float) -> np.ndarray:
    """The borders of all intervals; the outermost lie at the border of the picture, or just beyond the last edge."""
    inner = edges.astype(float)
    return np.concatenate([[min(low, inner.min(initial=low))], inner, [max(high, inner.max(initial=high))]])


def _plain(text: str) -> str:
    """A text in which nothing is read as a formula."""
    return text.replace("$", r"\$")
