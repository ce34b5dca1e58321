"""`ouzel deltoids`: items that are far more frequent in one stream than in another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from ouzel.cli import options
from ouzel.cli.commands import analysis
from ouzel.cli.parameters import COLUMN, argument, choice, only, option
from ouzel.cli.ui.outputs import titled
from ouzel.errors import DataError
from ouzel.streams.formats.catalogue import FORMATS

if TYPE_CHECKING:
    from ouzel.analytics.deltoids.two_streams import TwoStreams

AT_LEAST, AT_MOST = "≥ ", "≤ "  # of ratios


def deltoids(
    first: Annotated[str, argument("A file, a pipe, or - for standard input.", "FIRST")],
    second: Annotated[str, argument("The file to compare it with.", "SECOND")],
    *,
    column: Annotated[
        list[str] | None,
        option("Column of a table with the items; A+B joins columns; may be repeated.", takes=COLUMN, panel="Columns"),
    ] = None,
    top: Annotated[int, option("Number of items to show.", panel="Report")] = 20,
    budget: analysis.Budget = "32KB",
    format: Annotated[
        str | None,
        option(
            f"{', '.join(FORMATS)}, or lines of text; by default detected from the file name.",
            takes=choice(*FORMATS, "lines", name="FORMAT", checked=False),
            panel="Files",
        ),
    ] = None,
    shares: Annotated[bool, option("Compare relative frequencies, not counts.")] = False,
    exact: Annotated[bool, option("Also count exactly, for true ratios and recall.")] = False,
    compare: Annotated[
        bool, option("Also show the recall of a pair of Count-Min sketches, with 1x and 8x the memory.")
    ] = False,
    columns: Annotated[options.Reading, only(options.Lines)],
    learning: analysis.Learning,
    common: analysis.Common,
) -> None:
    """Find the items whose counts in two streams differ by the largest ratio, within a byte budget.

    Example: ouzel deltoids today.csv yesterday.csv --column source_ip
    """
    common.check(top=top)
    from ouzel.analytics.deltoids.relative_deltoids import RelativeDeltoids
    from ouzel.analytics.deltoids.two_streams import TwoStreams, open_both
    from ouzel.analytics.plots import draw_deltoids

    found = RelativeDeltoids(budget, shares=shares, **common.settings(learning))
    reader = TwoStreams.start(found, exact, compare)
    sources, stream = open_both((first, second), column or (), format, common.reading(columns))
    with analysis.watching(
        f"{first} {second}", sources, lambda: f"{found.model.examples:,} items", common.json_
    ) as progress:
        reader.over(stream, progress)
    if not reader.interrupted and not found.seen.all():
        empty = (first, second)[int(found.seen[0] > 0)]
        raise DataError(f"{empty}: there are no items in it; there is nothing to compare")
    analysis.report(found, common, reader, draw_deltoids, _print_table, titled((first, second), " against "), top)


def _print_table(reader: TwoStreams, top: int) -> None:
    from ouzel.cli.ui.tables import console_for_tables, named_table
    from ouzel.evaluation.formatting import factor, size

    def bounded(ratio: float, in_first: bool, in_second: bool) -> str:
        """Format a ratio, or its bound where an item is absent from a stream."""
        return f"{'' if in_first == in_second else AT_LEAST if in_first else AT_MOST}{factor(ratio)}"

    console = console_for_tables()
    rows = []
    for row in reader.rows(top):
        low, high = row["low"], row["high"]
        interval = f"above {factor(low)}" if high is None else f"{factor(low)} to {factor(high)}"
        ratio = bounded(row["ratio"], low > 0.0, high is not None)
        cells = [ratio, interval if low else f"below {factor(high)}", f"{row['weight']:+.3f}"]
        if reader.exact:
            true_ratio = bounded(row["true_ratio"], row["first"] > 0, row["second"] > 0)
            cells += [true_ratio, f"{row['first']:,}", f"{row['second']:,}"]
        rows.append([*cells, row["item"]])
    true = ("true ratio", "first", "second") if reader.exact else ()
    console.print(named_table(["ratio", "95 %", "weight", *true, "item"], rows))
    if any(cell.startswith((AT_LEAST, AT_MOST)) for row in rows for cell in row[:-1]):
        console.print(f"\n{AT_LEAST}and {AT_MOST}mark items that one stream lacks; the ratio takes its count as 1")
    if reader.exact:
        console.print()
        recalls = reader.recalls()
        titles = ["true ratio from", "items", *(f"recall {name}" for name in list(recalls[0])[2:])]
        console.print(analysis.recall_table(titles, [list(row.values()) for row in recalls]))
    first, second = reader.model.seen.tolist()
    stopped = "stopped; " if reader.interrupted else ""
    console.print(f"\n{stopped}{first:,} items against {second:,}, in {size(reader.model.bytes_used)}")
