"""Dashboard of `ouzel train --live`: a screen that redraws while a stream is learnt."""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping, Sequence
from typing import Any

from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.live import Live
from rich.text import Text

from ouzel.cli.ui.progress import Screen, in_column
from ouzel.errors import printable
from ouzel.evaluation.curve import Point
from ouzel.evaluation.formatting import NAMES, figure, named, ranking, short, size
from ouzel.evaluation.metrics import Scores
from ouzel.evaluation.progressive import Run
from ouzel.extras import need
from ouzel.model.importance import most_important
from ouzel.streams.block_stream import BlockStream

EVERY = 0.25  # seconds between two drawings, at least
PART = 20  # of the time, one part of which drawing may take
LATELY = 8  # parts of the examples, the last of which is lately
WIDE = 110  # columns from which on curve and weights stand side by side
WEIGHTS, NAME, BAR = 10, 28, 12  # of the list of features: lines, columns of names and of bars
LEAST, MOST = 6, 14  # lines of the curve
START, PARTS = 64, 48  # the curve starts after 1 / START of the examples; recent errors are of PARTS parts
MARGIN, TICK = 9, 14  # columns that the axis takes, and that a number below it has
FAR, NEAR = "blue", "yellow"
MOVED = 0.005  # of the largest effect, below which an effect has not moved


class Dashboard(Screen):
    """Screen of metrics, learning curve and weights on a terminal; elsewhere it prints the lines of `Screen`."""

    def __init__(self, title: str, stream: BlockStream | None = None, quiet: bool = False) -> None:
        super().__init__(title, stream, quiet)
        self.run: Run | None = None
        self.aside = ""
        self.before: dict[tuple[Any, str], float] = {}  # effects of features as they were drawn last
        self.next = 0.0
        self._view: Live | None = None

    def show(self, run: Run) -> None:
        """Show the state of the run."""
        if not self.live:
            super().show(run)
            return
        self.run = run
        self._doubt(run)
        self._draw()

    def show_scores(self, scores: Scores, aside: str = "") -> None:
        """Show the state of the run, with a further text."""
        self.aside = aside
        if self.live:
            self._draw()

    def finish(self, run: Run) -> None:
        """Show the last state, which stays on the screen."""
        if not self.live:
            super().finish(run)
            return
        self.run, self.next = run, 0.0
        self._draw()

    def _begin(self) -> None:
        self._view = Live(Text(""), console=self.console, auto_refresh=False, vertical_overflow="crop")
        self._view.start()

    def _end(self) -> None:
        if self._view is not None:
            self._view.stop()

    def _update(self, standing: str, completed: int, total: int | None) -> None:
        self.aside = "" if self.run is not None else standing
        if self._view is not None and self.run is None:
            self._view.update(Text(f"{self.title}  {standing}"), refresh=True)

    def _draw(self) -> None:
        begun = time.monotonic()
        if self._view is None or self.run is None or begun < self.next:
            return
        width, height = self.console.size
        self._view.update(self.frame(self.run, width, height), refresh=True)
        self.next = time.monotonic() + max(EVERY, PART * (time.monotonic() - begun))

    def frame(self, run: Run, width: int, height: int) -> RenderableType:
        """Return the whole screen for a terminal of a size."""
        facts = [Text(line, no_wrap=True, overflow="ellipsis") for line in self._facts(run)]
        left = height - len(facts) - 2
        if width >= WIDE:
            column = width // 2
            weights = self._weights(run, min(WEIGHTS, max(left - 1, 1)), width - column - 2)
            curve = self._curve(run, column, max(LEAST, min(MOST, left)))
            return Group(*facts, Text(""), Columns([curve, weights], padding=(0, 1)))
        lines = max(0, min(WEIGHTS, left - LEAST - 5))
        curve = self._curve(run, width, max(LEAST, min(MOST, left - lines - 2)))
        return Group(*facts, Text(""), curve, *([self._weights(run, lines, width)] if lines else []))

    def _facts(self, run: Run) -> list[str]:
        scores, seconds = run.scores, max(time.perf_counter() - self.begun, 1e-9)
        read, whole = (0, None) if self.stream is None else (self.stream.position, self.stream.size)
        share = f"   {min(read / whole, 1.0):.0%} read" if whole else ""
        what = "pairs" if scores.task.groups else "examples"
        name = "rmse" if scores.task.numbers else "error_rate"
        named, so_far = NAMES[name], getattr(scores, name)
        lately = _lately(run)
        late = "" if lately is None else f"   {in_column(_shown(lately, run)).strip()} lately"
        if scores.task.numbers and lately is not None:
            late = f"   {NAMES['mean_loss']} {figure(scores.mean_loss)}{late}"
        memory = f"memory     {size(run.model.bytes_used)} of the model{_of_process()}"
        return [
            f"{self.title}   {run.model.learner.name}{share}",
            f"{what:<11}{scores.examples:,}   {short(scores.examples / seconds)}/s   {seconds:,.0f} s   {self.aside}",
            f"{named:<11}{figure(so_far)} so far{late}",
            memory,
        ]

    def _curve(self, run: Run, width: int, height: int) -> Text:
        points = run.curve.points
        points = [point for point in points if START * point.examples >= points[-1].examples]
        if len(points) < 2:
            return Text("")
        far = [point.examples for point in points], [_shown(point, run) for point in points]
        parts = _between(points)
        near = [end for end, _ in parts], [_shown(point, run) for _, point in parts]
        said = NAMES["mean_loss" if run.scores.task.numbers else "error_rate"]
        text = Text(f"{said}: ", no_wrap=True).append("so far", FAR).append(", and ").append("lately", NEAR)
        return text.append("\n").append_text(Text.from_ansi(drawn({NEAR: near, FAR: far}, width, height - 1)))

    def _weights(self, run: Run, lines: int, width: int) -> Text:
        shown = named(most_important(run.model, lines))
        label, column = max(shown, key=lambda found: abs(found[1][0].effect) if found[1] else 0.0, default=(None, []))
        speaks = "" if label is None else f", for {label}"
        effects = {printable(feature.name): feature.effect for feature in column[:lines] if feature.effect}
        largest = max(map(abs, effects.values()), default=1.0) or 1.0
        room = max(8, min(NAME, width - BAR - 18))
        text = Text(f"{ranking(run.model)} features{speaks}\n", no_wrap=True, overflow="ellipsis")
        for name, effect in effects.items():
            moved = effect - self.before.get((label, name), effect)
            arrow = "▲" if moved > MOVED * largest else "▼" if moved < -MOVED * largest else " "
            bar = "█" * round(BAR * abs(effect) / largest)
            clipped = name if len(name) <= room else f"{name[: room - 1]}…"
            text.append(f"{clipped:<{room}} {effect:+11.4g} ")
            text.append(arrow, "green" if moved > 0 else "red")
            text.append(f" {bar}\n", "blue" if effect > 0 else "red")
        self.before = {(label, name): effect for name, effect in effects.items()}
        return text


def _shown(point: Point, run: Run) -> float:
    return point.mean_loss if run.scores.task.numbers else point.error_rate


def _lately(run: Run) -> Point | None:
    """Return the point of the last part of the examples."""
    points = run.curve.points
    if len(points) < 2:
        return None
    begin = points[-1].examples * (1.0 - 1.0 / LATELY)
    earlier = [point for point in points[:-1] if point.examples <= begin]
    return points[-1].since(earlier[-1]) if earlier else points[-1]


def _between(points: list[Point]) -> list[tuple[int, Point]]:
    """Return the examples between equally spaced points, and where each part ends."""
    chosen = points[:: max(1, len(points) // PARTS)]
    return [(later.examples, later.since(earlier)) for earlier, later in itertools.pairwise(chosen)]


def _of_process() -> str:
    """Return the peak memory of the process, empty where the system does not report it."""
    try:
        import resource
    except ImportError:  # Windows
        return ""
    import sys

    unit = 1 if sys.platform == "darwin" else 1024
    return f"   {size(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit)} of the process"


def drawn(lines: Mapping[str, tuple[Sequence[float], Sequence[float]]], width: int, height: int) -> str:
    """Plot lines over examples, by colour, as text of `width` columns and `height` lines.

    >>> text = drawn({"blue": ([1, 2, 4], [1.0, 0.5, 0.25])}, 40, 8)
    >>> len(text.splitlines()), max(map(len, text.splitlines())) >= 40
    (8, True)
    """
    plotext = need("plotext", "the dashboard", "plot")
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
