"""Common parts of `explain`, `deltoids` and `pmi`: options, progress and output of results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from ouzel.cli import model_options, options
from ouzel.cli.parameters import BYTES, only, option
from ouzel.cli.ui import outputs

if TYPE_CHECKING:
    from ouzel.analytics.sketch import Analysis
    from ouzel.streams.options import Options
    from ouzel.streams.sources.source import Source

Budget = Annotated[str, option("Memory budget in bytes, such as 8KB.", takes=BYTES, panel="Learner")]
Learning = Annotated[model_options.Learning, only("learning_rate", "l2")]


@dataclass(frozen=True)
class Common:
    """Options of all three commands."""

    panel: ClassVar = "Report"
    model: Annotated[
        str | None, option("Write the sketch to this file.", "-m", takes="OUT", panel="Saving and resuming")
    ] = None
    seed: Annotated[int | None, option("Seed of hashes and of random numbers (0).", panel="Features")] = None
    plot: options.Plot = None
    json_: options.Json = False

    def check(self, **counts: int) -> None:
        """Refuse counts below 0 and a plot that could not be drawn, before anything is read."""
        options.check_counts(**counts)
        options.check_plot(self.plot)

    def settings(self, learning: model_options.Learning) -> dict[str, Any]:
        """Settings of the sketch: step size and penalty if given, and the seed."""
        return {**learning.settings, "seed": self.seed or 0}

    def reading(self, columns: options.Reading) -> Options:
        """Return the reading options of the stream."""
        from ouzel.streams.options import make_options

        return make_options(replace(columns, seed=self.seed).keywords())


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
