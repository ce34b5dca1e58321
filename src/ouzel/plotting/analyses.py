"""Pictures of what the analyses find."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ouzel.analytics.exact import correlation
from ouzel.plotting.axes import COLOURS, Line, draw_lines, dress, save

if TYPE_CHECKING:
    from ouzel.analytics.deltoids.two_streams import TwoStreams
    from ouzel.analytics.explanation.explained import Explained
    from ouzel.analytics.pmi.corpus import Corpus

MOST_BARS = 30
LONGEST_NAME = 40


def draw_deltoids(reader: TwoStreams, path: str) -> None:
    """Recall against the true ratio where that is known (the paper's Figure 10); else the ratios of the top items."""
    if reader.exact is None:
        rows = reader.rows(MOST_BARS)
        draw_bars([(row["item"], row["weight"] / np.log(2)) for row in rows], path, "log2 of the estimated ratio")
        return
    recalls = reader.recalls()
    rows = [row for row in recalls if row["items"]]
    lines: dict[str, Line] = {
        name: ([row["ratio"] for row in rows], [row[name] for row in rows]) for name in list(recalls[0])[2:]
    }
    draw_lines(lines, path, x="true ratio, or its reciprocal, at least", y="recall", log_x=True)


def draw_explanation(explained: Explained, path: str, side: str = "high", min_support: int = 1) -> None:
    """Weights against true relative risks where these are known (Figures 8 and 9); else the risks of the top."""
    if explained.exact is None:
        rows = explained.table(MOST_BARS, side, min_support)
        draw_bars([(row["attribute"], np.log2(row["risk"])) for row in rows], path, "log2 of the relative risk")
        return
    weights, risks = explained.risks(min_support)
    draw_risks({"kept": risks}, {"kept": (weights, risks)}, path)


def draw_risks(groups: dict[str, np.ndarray], scatters: dict[str, tuple[np.ndarray, np.ndarray]], path: str) -> None:
    """Histograms of relative risks, a panel a group; and weights against risks, with their correlation."""
    from matplotlib.figure import Figure

    count = len(groups) + len(scatters)
    across = 2 if count == 4 else min(3, count)
    down = -(-count // across)
    figure = Figure(figsize=(4.2 * across, 3.4 * down), layout="constrained")
    panels = list(figure.subplots(down, across, squeeze=False).ravel())
    logs = [np.log2(risks) for risks in (*groups.values(), *(risks for _, risks in scatters.values()))]
    reach = max((float(np.abs(values).max()) for values in logs if len(values)), default=1.0)
    for number, (name, risks) in enumerate(groups.items()):
        axes = panels.pop(0)
        axes.hist(np.log2(risks), np.linspace(-reach, reach, 41), color=COLOURS[number % len(COLOURS)])
        axes.set_title(f"{name}: {len(risks):,}", fontsize=10)
        _dress(axes, "log2 of the true relative risk", "attributes")
    for name, (weights, risks) in scatters.items():
        axes = panels.pop(0)
        axes.scatter(weights, np.log2(risks), s=5, alpha=0.5, color=COLOURS[0], linewidths=0)
        axes.set_title(f"{name}: r = {correlation(weights, np.log(risks)):.3f}", fontsize=10)
        _dress(axes, "weight", "log2 of the true relative risk")
    for axes in panels:
        axes.set_axis_off()
    save(figure, path)


def draw_pmi(corpus: Corpus, path: str) -> None:
    """Estimated against exact PMI of the pairs retrieved where that is known; else the PMI of the top pairs."""
    if not corpus.exact:
        rows = corpus.table(MOST_BARS)
        draw_bars([(f"{row['first']} {row['second']}", row["pmi"]) for row in rows], path, "estimated PMI")
        return
    from matplotlib.figure import Figure

    members, estimated = corpus.model.pairs()
    exact, _ = corpus.exact_pmi(members)
    figure = Figure(figsize=(5.2, 4.4), layout="constrained")
    axes = figure.subplots()
    if len(members):
        ends = [min(exact.min(), estimated.min()), max(exact.max(), estimated.max())]
        axes.plot(ends, ends, color="#5a5a5a", linewidth=0.8)
    axes.scatter(exact, estimated, s=7, alpha=0.6, color=COLOURS[0], linewidths=0)
    axes.set_title(f"{len(exact):,} pairs, Pearson correlation {corpus.correlation()[1]:.3f}", fontsize=10)
    _dress(axes, "exact PMI", "estimated PMI")
    save(figure, path)


def draw_bars(pairs: list[tuple[str, float]], path: str, x: str) -> None:
    """Named bars to either side of zero, the first on top."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, max(2.0, 0.6 + 0.24 * len(pairs))), layout="constrained")
    axes = figure.subplots()
    values = [value for _, value in pairs]
    colours = [COLOURS[0] if value >= 0 else COLOURS[1] for value in values]
    axes.barh(range(len(pairs)), values, color=colours, height=0.72)
    axes.set_yticks(range(len(pairs)), [_short(name) for name, _ in pairs], fontsize=8)
    axes.margins(y=0.01)
    axes.invert_yaxis()
    axes.axvline(0.0, color="#5a5a5a", linewidth=0.8)
    _dress(axes, x, "")
    save(figure, path)


def _dress(axes: Any, x: str, y: str) -> None:
    axes.set(xlabel=x, ylabel=y)
    dress(axes)


def _short(name: str) -> str:
    """A name that fits beside a bar, with nothing that the drawing would take for a formula."""
    name = name.replace("$", r"\$")
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"
