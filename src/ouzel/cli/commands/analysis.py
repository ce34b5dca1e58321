"""What `explain`, `deltoids` and `pmi` share: options, the sight of a reading, and what becomes of its outcome."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ouzel.cli import options
from ouzel.cli.ui import outcome

if TYPE_CHECKING:
    from ouzel.analytics.sketch import Analysis
    from ouzel.streams.sources.source import Source

Budget = Annotated[str, typer.Option(help="Bytes a learner may keep, such as 8KB.")]
ModelFile = Annotated[str | None, typer.Option("--model", "-m", metavar="OUT", help="Write what was learnt here.")]


def numbers(learning_rate: str | None, l2: str | None) -> dict[str, Any]:
    """Step size and penalty, those that were given."""
    return options.settings_given(None, learning_rate=learning_rate, l2=l2)


def check(plot: str | None, **counts: int) -> None:
    """Refuse, before anything is read, numbers below 0 and a picture that could not be drawn."""
    from ouzel.plotting.axes import check_plot_path

    options.check_counts(**counts)
    if plot is not None:
        check_plot_path(plot)


@contextmanager
def watching(
    title: str, sources: Sequence[Source], standing: Callable[[], str], quiet: bool
) -> Iterator[Callable[[], None]]:
    """A live line while sources are read; what is to be called for it to move on."""
    from ouzel.cli.ui.progress import Screen

    files = [source for source in sources if source.size]
    total = sum(source.size or 0 for source in files) or None
    with Screen(title, quiet=quiet) as screen:
        yield lambda: screen.tell(standing(), sum(source.position for source in files), total)


def hand_over(
    found: Analysis,
    model: str | None,
    plot: str | None,
    draw: Callable[[str], None],
    answer: Callable[[], dict[str, Any]] | None,
    show: Callable[[], None],
) -> None:
    """Save and draw what was found if asked to; then print it as JSON if there is an `answer`, else show it."""
    outcome.hand_over([(model, "model written to", found.save), (plot, "picture drawn in", draw)], answer, show)
