"""`ouzel pmi`: what occurs together more than by chance."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ouzel.cli import options
from ouzel.errors import DataError, OuzelError

if TYPE_CHECKING:
    from ouzel.analytics.corpus import Corpus


def pmi(
    files: options.Files,
    window: Annotated[int, typer.Option(help="Tokens in which both members of a pair must lie.")] = 6,
    budget: options.Budget = "1.4MB",
    tokens: Annotated[
        str,
        typer.Option(metavar="HOW", help="word, punctuation, whitespace, a regular expression, or module:function."),
    ] = "word",
    events: Annotated[
        bool, typer.Option("--events", help="A line is the name of one event; windows go over lines.")
    ] = False,
    column: Annotated[str | None, typer.Option(help="Column of a table with the text, or the events.")] = None,
    top: Annotated[int, typer.Option(help="Pairs to show.")] = 20,
    negatives: Annotated[int, typer.Option(help="Pairs drawn by chance for each true one.")] = 5,
    sample_size: Annotated[int, typer.Option(help="Tokens in the reservoir they are drawn from.")] = 4000,
    heap_size: Annotated[int, typer.Option(help="Pairs kept by name.")] = 1024,
    exact: Annotated[bool, typer.Option("--exact", help="Count exactly, too: true PMI, and the correlation.")] = False,
    learning_rate: options.LearningRate = None,
    l2: options.L2 = None,
    model: Annotated[
        str | None, typer.Option("--model", "-m", metavar="OUT", help="Write what was learnt here.")
    ] = None,
    format: Annotated[
        str | None, typer.Option(help="csv, tsv, parquet, arrow, jsonl or lines; told by the name.")
    ] = None,
    columns: options.ColumnNames = None,
    skip_lines: options.SkipLines = None,
    delimiter: options.Delimiter = None,
    on_error: options.OnError = None,
    seed: options.Seed = None,
    plot: options.Plot = None,
    json_: options.Json = False,
) -> None:
    """Find the pairs of words, or of events, with the largest pointwise mutual information, within a byte budget.

    Example: ouzel pmi corpus.txt --window 6 --budget 1.4MB
    """
    reading = options.reading_options(
        columns=columns, skip_lines=skip_lines, delimiter=delimiter, on_error=on_error, seed=seed
    )
    settings = options.settings_given(None, learning_rate=learning_rate, l2=l2)
    if top < 0:
        raise OuzelError(f"--top is 0 or more; got {top}")
    from ouzel.analytics.corpus import Corpus
    from ouzel.analytics.pmi import StreamingPMI
    from ouzel.cli.screen import Screen
    from ouzel.cli.shown import count
    from ouzel.evaluation.plots import check_plot_path
    from ouzel.streams.options import make_options
    from ouzel.streams.sources import Source

    if plot is not None:
        check_plot_path(plot)
    numbers: dict[str, Any] = {name: options.number(name, value) for name, value in settings.items()}
    found = StreamingPMI(
        budget,
        window=window,
        negatives=negatives,
        sample_size=sample_size,
        heap_size=heap_size,
        tokens=tokens,
        events=events,
        seed=seed or 0,
        **numbers,
    )
    corpus = Corpus(found, exact)
    with Screen(files[0], quiet=json_) as screen:
        sources = [Source(file) for file in files]
        sized = [source for source in sources if source.size]

        def progress() -> None:
            done, total = sum(source.position for source in sized), sum(source.size or 0 for source in sized)
            screen.tell(f"{count(found.seen)} tokens", done, total or None)

        corpus.over(sources, format, column, make_options(reading), progress)
    if not found.seen and not corpus.interrupted:
        raise DataError(f"{', '.join(files)}: there are no tokens in it; there is nothing to learn from")
    if model is not None:
        found.save(model)
    if plot is not None:
        from ouzel.analytics.pictures import draw_pmi

        draw_pmi(corpus, plot)
    if json_:
        print(json.dumps(corpus.to_json(top)))
        return
    _print_table(corpus, top)
    for path, what in ((model, "model written to"), (plot, "picture drawn in")):
        if path is not None:
            print(f"{what} {path}")


def _print_table(corpus: Corpus, top: int) -> None:
    from ouzel.cli.shown import count, size
    from ouzel.cli.tables import console_for_tables, named_table

    console = console_for_tables()
    rows = []
    for row in corpus.table(top):
        cells = [f"{row['pmi']:.3f}"]
        if corpus.exact:
            cells += [f"{row['exact_pmi']:.3f}", count(row["count"])]
        rows.append([*cells, f"{row['first']} {row['second']}"])
    console.print(named_table(["PMI", *(("exact", "count") if corpus.exact else ()), "pair"], rows))
    stopped = "stopped; " if corpus.interrupted else ""
    console.print(f"\n{stopped}{count(corpus.model.seen)} tokens, in {size(corpus.model.bytes_used)}")
    if corpus.exact:
        retrieved, correlation = corpus.correlation()
        console.print(f"correlation of estimated and exact PMI over {count(retrieved)} pairs: {correlation:.3f}")
