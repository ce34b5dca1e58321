"""Pictures of what the analyses find."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ouzel.errors import OuzelError
from ouzel.evaluation.plots import COLOURS, Line, draw_lines

if TYPE_CHECKING:
    from ouzel.analytics.two_streams import TwoStreams

MOST_BARS = 30
LONGEST_NAME = 40


def draw_deltoids(reader: TwoStreams, path: str) -> None:
    """Recall against the true ratio where that is known (the paper's Figure 10); else the ratios of the top items."""
    if reader.exact is None:
        rows = reader.rows(MOST_BARS)
        draw_bars([(row["item"], row["weight"] / np.log(2)) for row in rows], path, "log2 of the estimated ratio")
        return
    rows = [row for row in reader.recalls() if row["items"]]
    lines: dict[str, Line] = {
        name: ([row["ratio"] for row in rows], [row[name] for row in rows]) for name in list(rows[0])[2:]
    }
    draw_lines(lines, path, x="true ratio, or its reciprocal, at least", y="recall", log_x=True)


def draw_bars(pairs: list[tuple[str, float]], path: str, x: str) -> None:
    """Named bars to either side of zero, the first on top."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, max(2.0, 0.6 + 0.24 * len(pairs))), layout="constrained")
    axes = figure.subplots()
    values = [value for _, value in pairs]
    colours = [COLOURS[0] if value >= 0 else COLOURS[1] for value in values]
    axes.barh(range(len(pairs)), values, color=colours, height=0.72)
    axes.set_yticks(range(len(pairs)), [_short(name) for name, _ in pairs], fontsize=8)
    axes.invert_yaxis()
    axes.axvline(0.0, color="#5a5a5a", linewidth=0.8)
    _finish(figure, axes, path, x, "")


def _finish(figure: Any, axes: Any, path: str, x: str, y: str) -> None:
    axes.set(xlabel=x, ylabel=y)
    axes.grid(True, color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    save(figure, path)


def save(figure: Any, path: str) -> None:
    """Write a figure to its file."""
    try:
        figure.savefig(path, dpi=150)
    except OSError as error:
        raise OuzelError(f"{path}: cannot be written ({error.strerror or error})") from None


def _short(name: str) -> str:
    """A name that fits beside a bar, with nothing that the drawing would take for a formula."""
    name = name.replace("$", r"\$")
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"
