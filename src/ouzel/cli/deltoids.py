"""`ouzel deltoids`: what one stream has and another has not."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ouzel.cli import options
from ouzel.errors import DataError, OuzelError

if TYPE_CHECKING:
    from ouzel.analytics.two_streams import TwoStreams


def deltoids(
    first: Annotated[str, typer.Argument(metavar="FIRST", help="A file, a pipe, or - for standard input.")],
    second: Annotated[str, typer.Argument(metavar="SECOND", help="The other.")],
    column: Annotated[
        list[str] | None, typer.Option(help="Column of a table with the items; A+B joins columns; may be repeated.")
    ] = None,
    top: Annotated[int, typer.Option(help="Items to show.")] = 20,
    budget: options.Budget = "32KB",
    shares: Annotated[bool, typer.Option("--shares", help="Compare shares of the streams, not counts.")] = False,
    exact: Annotated[bool, typer.Option("--exact", help="Count exactly, too: true ratios, and recall.")] = False,
    compare: Annotated[
        bool, typer.Option("--compare", help="Recall of a pair of CountMin sketches, too, at 1x and 8x the memory.")
    ] = False,
    learning_rate: options.LearningRate = None,
    l2: options.L2 = None,
    model: Annotated[
        str | None, typer.Option("--model", "-m", metavar="OUT", help="Write what was learnt here.")
    ] = None,
    format: Annotated[
        str | None, typer.Option(help="csv, tsv, parquet, arrow, jsonl; svmlight or vw; lines. Told by the name.")
    ] = None,
    columns: options.ColumnNames = None,
    skip_lines: options.SkipLines = None,
    delimiter: options.Delimiter = None,
    on_error: options.OnError = None,
    seed: options.Seed = None,
    plot: options.Plot = None,
    json_: options.Json = False,
) -> None:
    """Find the items whose numbers in two streams differ by the largest factor, within a byte budget.

    Example: ouzel deltoids today.csv yesterday.csv --column source_ip
    """
    reading = options.reading_options(
        columns=columns, skip_lines=skip_lines, delimiter=delimiter, on_error=on_error, seed=seed
    )
    settings = options.settings_given(None, learning_rate=learning_rate, l2=l2)
    if top < 0:
        raise OuzelError(f"--top is 0 or more; got {top}")
    from ouzel.analytics.deltoids import RelativeDeltoids
    from ouzel.analytics.two_streams import TwoStreams, open_both
    from ouzel.cli.screen import Screen
    from ouzel.cli.shown import count
    from ouzel.evaluation.plots import check_plot_path
    from ouzel.streams.options import make_options

    if plot is not None:
        check_plot_path(plot)
    numbers: dict[str, Any] = {name: options.number(name, value) for name, value in settings.items()}
    found = RelativeDeltoids(budget, shares=shares, seed=seed or 0, **numbers)
    reader = TwoStreams.start(found, exact, compare)
    with Screen(f"{first} {second}", quiet=json_) as screen:
        sources, stream = open_both((first, second), column or (), format, make_options(reading))
        files = [source for source in sources if source.size]
        total = sum(source.size or 0 for source in files) or None

        def progress() -> None:
            screen.tell(f"{count(found.model.examples)} items", sum(source.position for source in files), total)

        reader.over(stream, progress)
    if not reader.interrupted and not found.seen.all():
        empty = (first, second)[int(found.seen[0] > 0)]
        raise DataError(f"{empty}: there are no items in it; there is nothing to compare")
    if model is not None:
        found.save(model)
    if plot is not None:
        from ouzel.analytics.pictures import draw_deltoids

        draw_deltoids(reader, plot)
    if json_:
        _print_json(reader, top)
        return
    _print_table(reader, top)
    for path, what in ((model, "model written to"), (plot, "picture drawn in")):
        if path is not None:
            print(f"{what} {path}")


def _print_json(reader: TwoStreams, top: int) -> None:
    seen = reader.model.seen.tolist()
    answer = {"items": reader.rows(top), "seen": seen, "bytes_used": reader.model.bytes_used}
    print(json.dumps(answer | ({"recall": reader.recalls()} if reader.exact else {})))


def _print_table(reader: TwoStreams, top: int) -> None:
    from ouzel.cli.shown import count, factor, size
    from ouzel.cli.tables import console_for_tables, named_table

    console = console_for_tables()
    rows = []
    for row in reader.rows(top):
        cells = [factor(row["ratio"]), f"{row['weight']:+.3f}"]
        if reader.exact:
            cells += [factor(row["true_ratio"]), count(row["first"]), count(row["second"])]
        rows.append([*cells, row["item"]])
    true = ("true ratio", "first", "second") if reader.exact else ()
    console.print(named_table(["ratio", "weight", *true, "item"], rows))
    if reader.exact:
        console.print()
        console.print(_recall_table(reader))
    first, second = reader.model.seen.tolist()
    stopped = "stopped; " if reader.interrupted else ""
    console.print(f"\n{stopped}{count(first)} items against {count(second)}, in {size(reader.model.bytes_used)}")


def _recall_table(reader: TwoStreams) -> Any:
    from rich.table import Table

    from ouzel.cli.shown import count

    table = Table(box=None, pad_edge=False, header_style="bold")
    rows = reader.recalls()
    for title in ("true ratio from", "items", *(f"recall {name}" for name in list(rows[0])[2:])):
        table.add_column(title, justify="right", no_wrap=True)
    for row in rows:
        if row["items"]:
            ratio, items, *shares = row.values()
            table.add_row(f"{ratio:g}", count(items), *(f"{share:.3f}" for share in shares))
    return table
