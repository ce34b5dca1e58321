"""Plots in characters, by plotext."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ouzel.evaluation.formatting import short

MARGIN, TICK = 9, 14  # columns that the axis takes, and that a number below it has


def drawn(lines: Mapping[str, tuple[Sequence[float], Sequence[float]]], width: int, height: int) -> str:
    """Plot lines over examples, by colour, as text of `width` columns and `height` lines.

    >>> text = drawn({"blue": ([1, 2, 4], [1.0, 0.5, 0.25])}, 40, 8)
    >>> len(text.splitlines()), max(map(len, text.splitlines())) >= 40
    (8, True)
    """
    import plotext

    figure = plotext.figure
    figure.clear()
    figure.theme("colorless")  # but for the lines
    figure.plot_size(width, height)
    for colour, (xs, ys) in lines.items():
        marker = plotext.marker("braille", colour)
        figure.draw(figure.signal(list(xs), list(ys), marker=marker).lines())
    end = max((xs[-1] for xs, _ in lines.values() if len(xs)), default=1)
    count = max(2, (width - MARGIN) // TICK)
    places = [end * k / (count - 1) for k in range(count)]
    figure.ruler("x").lim(0, end)
    figure.ruler("x").ticks(places, [short(place) for place in places])
    return str(figure.build().string()).rstrip("\n")
