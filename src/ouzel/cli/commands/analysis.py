"""Common parts of `explain`, `deltoids` and `pmi`: options, progress and output of results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ouzel.cli import arguments, options
from ouzel.cli.ui import outputs

if TYPE_CHECKING:
    from ouzel.analytics.sketch import Analysis
    from ouzel.streams.options import Options
    from ouzel.streams.sources.source import Source

Budget = Annotated[str, typer.Option(help="Memory budget in bytes, such as 8KB.")]
ModelFile = Annotated[str | None, typer.Option("--model", "-m", metavar="OUT", help="Write the sketch to this file.")]


@dataclass(frozen=True)
class Common:
    """Options of all three commands."""

    learning_rate: options.LearningRate = None
    l2: options.L2 = None
    model: ModelFile = None
    seed: options.Seed = None
    plot: options.Plot = None
    json_: options.Json = False

    def check(self, **counts: int) -> None:
        """Refuse counts below 0 and a plot that could not be drawn, before anything is read."""
        arguments.check_counts(**counts)
        arguments.check_plot(self.plot)

    @property
    def settings(self) -> dict[str, Any]:
        """Settings of the sketch: step size and penalty if given, and the seed."""
        given = arguments.settings_given(None, learning_rate=self.learning_rate, l2=self.l2)
        return {**given, "seed": self.seed or 0}

    def reading(self, lines: options.Lines, **more: Any) -> Options:
        """Return the reading options of the stream."""
        from ouzel.streams.options import make_options

        return make_options(arguments.reading_options(lines, seed=self.seed, **more))


@contextmanager
def watching(
    title: str, sources: Sequence[Source], standing: Callable[[], str], quiet: bool
) -> Iterator[Callable[[], None]]:
    """Show a progress line while sources are read; yield the function that updates it."""
    from ouzel.cli.ui.progress import Screen

    files = [source for source in sources if source.size]
    total = sum(source.size or 0 for source in files) or None
    with Screen(title, quiet=quiet) as screen:
        yield lambda: screen.update(standing(), sum(source.position for source in files), total)


def interval(low: float, high: float, exact: bool, shown: Callable[[float], str]) -> str:
    """Format an interval as a cell of a table; `exact` if it is a point.

    >>> interval(2.0, 3.5, False, str), interval(2.0, 2.0, True, str)
    ('2.0 to 3.5', 'exact')
    """
    return "exact" if exact else f"{shown(low)} to {shown(high)}"


def recall_table(titles: Sequence[str], rows: Sequence[Sequence[float | None]]) -> Any:
    """Make a table of thresholds, the true items that reach each, and the recall; empty rows are left out."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in titles:
        table.add_column(title, justify="right", no_wrap=True)
    for threshold, count, *shares in rows:
        if count:
            table.add_row(f"{threshold:,g}", f"{count:,}", *(f"{share:.3f}" for share in shares))
    return table


def report(
    found: Analysis,
    common: Common,
    stream: Any,
    draw: Callable[..., None],
    show: Callable[..., None],
    title: str,
    *parameters: Any,
) -> None:
    """Save and plot the results if requested, then print them as JSON or as a table; `parameters` are those of both."""

    def picture(path: str) -> None:
        draw(stream, path, title, *parameters)

    files = [(common.model, "model written to", found.save), (common.plot, "picture drawn in", picture)]
    outputs.write_outputs(
        files, (lambda: stream.to_json(*parameters)) if common.json_ else None, lambda: show(stream, *parameters)
    )
