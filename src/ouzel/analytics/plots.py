"""Plots of the results of analyses."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ouzel.analytics.exact import correlation
from ouzel.analytics.pmi.streaming_pmi import SETTLED
from ouzel.plotting.axes import COLOURS, Line, draw_lines, dress, new_figure, save

if TYPE_CHECKING:
    from ouzel.analytics.deltoids.two_streams import TwoStreams
    from ouzel.analytics.explanation.explained import Explained
    from ouzel.analytics.pmi.corpus import Corpus

LONGEST_NAME = 40


def draw_deltoids(reader: TwoStreams, path: str, title: str = "", top: int = 20) -> None:
    """Plot recall against the true ratio if known (the paper's Figure 10), else the ratios of the top items."""
    first, second = reader.model.seen.tolist()
    title = _title(title, f"{first:,} items against {second:,}")
    if reader.exact is None:
        bars = [(row["item"], row["weight"] / np.log(2)) for row in reader.rows(top)]
        draw_bars(
            bars,
            path,
            "log2 of the estimated ratio, first to second",
            title,
            ("more in the first", "more in the second"),
        )
        return
    recalls = reader.recalls()
    rows = [row for row in recalls if row["items"]]
    lines: dict[str, Line] = {
        name: ([row["ratio"] for row in rows], [row[name] for row in rows]) for name in list(recalls[0])[2:]
    }
    draw_lines(lines, path, x="true ratio, or its reciprocal, at least", y="recall", title=title, log_x=True)


def draw_explanation(
    explained: Explained, path: str, title: str = "", top: int = 20, side: str = "high", min_support: int = 1
) -> None:
    """Plot weights against true relative risks if known (Figures 8 and 9), else the risks of the top attributes."""
    inliers, outliers = explained.explainer.rows.tolist()
    title = _title(title, f"{inliers + outliers:,} rows, {outliers:,} outliers")
    if explained.exact is None:
        rows = explained.table(top, side, min_support)
        bars = [(row["attribute"], float(_log2(row["risk"]))) for row in rows]
        ends = [(float(_log2(row["risk_low"])), float(_log2(row["risk_high"]))) for row in rows]
        sides = ("more among outliers", "more among the rest")
        draw_bars(bars, path, "log2 of the relative risk, with its interval", title, sides, ends)
        return
    weights, risks = explained.risks(min_support)
    draw_risks({"attributes kept": risks}, {"attributes kept": (weights, risks)}, path, title)


def draw_risks(
    groups: dict[str, np.ndarray], scatters: dict[str, tuple[np.ndarray, np.ndarray]], path: str, title: str = ""
) -> None:
    """Plot histograms of relative risks, one panel per group, and weights against risks with their correlation."""
    count = len(groups) + len(scatters)
    across = 2 if count == 4 else min(3, count)
    down = -(-count // across)
    figure = new_figure(4.2 * across, 3.4 * down)
    panels = list(figure.subplots(down, across, squeeze=False).ravel())
    logs = [np.log2(risks) for risks in (*groups.values(), *(risks for _, risks in scatters.values()))]
    ends = [end for values in logs if len(values) for end in (float(values.min()), float(values.max()))] or [-1.0, 1.0]
    for number, (name, risks) in enumerate(groups.items()):
        axes = panels.pop(0)
        axes.hist(np.log2(risks), np.histogram_bin_edges(ends, 40), color=COLOURS[number % len(COLOURS)])
        axes.set_title(f"{name}: {len(risks):,}", fontsize=10)
        _dress(axes, "log2 of the true relative risk", "attributes")
    for name, (weights, risks) in scatters.items():
        axes = panels.pop(0)
        axes.scatter(weights, np.log2(risks), s=5, alpha=0.5, color=COLOURS[0], linewidths=0)
        axes.set_title(f"{name}: r = {correlation(weights, np.log(risks)):.3f}", fontsize=10)
        _dress(axes, "weight", "log2 of the true relative risk")
    for axes in panels:
        axes.set_axis_off()
    if title:
        figure.suptitle(title, fontsize=10)
    save(figure, path)


def draw_pmi(corpus: Corpus, path: str, title: str = "", top: int = 20, least: int = SETTLED) -> None:
    """Plot estimated against exact PMI of the retrieved pairs if known, else the PMI of the top pairs."""
    title = _title(title, f"{corpus.model.seen:,} tokens")
    if not corpus.exact:
        rows = corpus.table(top, least)
        bars = [(f"{row['first']} {row['second']}", row["pmi"]) for row in rows]
        ends = [(row["pmi_low"], row["pmi_high"]) for row in rows]
        draw_bars(bars, path, "estimated PMI, with its interval", title, ends=ends)
        return
    listed, estimated = corpus.model.listed(least)
    exact, _ = corpus.exact_pmi(listed.members)
    figure = new_figure(5.2, 4.4)
    axes = figure.subplots()
    if len(exact):
        ends = [min(exact.min(), estimated.min()), max(exact.max(), estimated.max())]
        axes.plot(ends, ends, color="#5a5a5a", linewidth=0.8)
    axes.scatter(exact, estimated, s=7, alpha=0.6, color=COLOURS[0], linewidths=0)
    above, r, _ = corpus.correlation(least=least)
    found = f"correlation over {above:,} pairs above 0: {r:.3f}"
    axes.set_title(f"{title}\n{found}", fontsize=10)
    _dress(axes, "exact PMI", "estimated PMI")
    save(figure, path)


def draw_bars(
    pairs: list[tuple[str, float]],
    path: str,
    x: str,
    title: str = "",
    sides: tuple[str, str] = ("", ""),
    ends: Sequence[tuple[float, float]] | None = None,
) -> None:
    """Plot named bars to either side of zero, sorted; `sides` are the names of the two colours.

    `ends` are those of an interval around each, drawn as a line.
    """
    from matplotlib.patches import Patch

    reach = 1.1 * max((abs(value) for _, value in pairs if np.isfinite(value)), default=1.0)
    cut = [(name, float(np.clip(value, -reach, reach))) for name, value in pairs]  # something to nothing is infinite
    order = sorted(range(len(cut)), key=lambda k: -cut[k][1])
    pairs = [cut[k] for k in order]
    values = [value for _, value in pairs]
    signs = [
        sign for sign, present in ((0, max(values, default=0.0) > 0), (1, min(values, default=0.0) < 0)) if present
    ]
    explained = len(signs) == 2 and all(sides)
    figure = new_figure(7.2, max(2.0, 1.0 + 0.24 * len(pairs) + 0.25 * explained))
    axes = figure.subplots()
    axes.barh(range(len(pairs)), values, color=[COLOURS[value < 0] for value in values], height=0.72)
    if ends:
        low, high = np.array(ends)[order].T
        lengths = [np.maximum(values - low, 0.0), np.maximum(high - values, 0.0)]
        axes.errorbar(values, range(len(pairs)), xerr=lengths, fmt="none", ecolor="#5a5a5a", elinewidth=0.8, capsize=2)
    axes.set_yticks(range(len(pairs)), [_short(name) for name, _ in pairs], fontsize=8)
    axes.margins(y=0.01)
    axes.invert_yaxis()
    axes.axvline(0.0, color="#5a5a5a", linewidth=0.8)
    _dress(axes, x if len(signs) != 1 or not all(sides) else f"{x} ({sides[signs[0]]})", "")
    if title:
        figure.suptitle(title, fontsize=10)
    if explained:
        handles = [Patch(color=COLOURS[sign], label=sides[sign]) for sign in signs]
        figure.legend(handles=handles, loc="outside lower right", ncols=2, frameon=False, fontsize=8)
    save(figure, path)


def _title(given: str, counted: str) -> str:
    """Return a title: the files, if known, and the counts, in lines that fit into the picture."""
    return textwrap.fill(f"{given}: {counted}" if given else counted, 60)


def _log2(ratio: float) -> Any:
    """Return the binary logarithm of a ratio that may be 0 or infinite."""
    with np.errstate(divide="ignore"):
        return np.log2(ratio)


def _dress(axes: Any, x: str, y: str) -> None:
    axes.set(xlabel=x, ylabel=y)
    dress(axes)


def _short(name: str) -> str:
    """Shorten a name to the margin of a bar, and escape what would be read as a formula."""
    name = name.replace("$", r"\$")
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"
