"""`ouzel pmi`: what occurs together more than by chance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ouzel.cli import options
from ouzel.cli.commands import analysis
from ouzel.errors import DataError

if TYPE_CHECKING:
    from ouzel.analytics.pmi.corpus import Corpus


def pmi(
    files: options.Files,
    *,
    window: Annotated[int, typer.Option(help="Tokens in which both members of a pair must lie.")] = 6,
    budget: analysis.Budget = "1.4MB",
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
    heap_size: Annotated[int, typer.Option(help="Most pairs kept by name.")] = 4096,
    exact: Annotated[bool, typer.Option("--exact", help="Count exactly, too: true PMI, and the correlation.")] = False,
    format: Annotated[
        str | None, typer.Option(help="csv, tsv, parquet, arrow, jsonl or lines; told by the name.")
    ] = None,
    lines: options.Lines,
    common: analysis.Common,
) -> None:
    """Find the pairs of words, or of events, with the largest pointwise mutual information, within a byte budget.

    Example: ouzel pmi corpus.txt --window 6 --budget 1.4MB
    """
    common.check(top=top)
    from ouzel.analytics.pmi.corpus import Corpus
    from ouzel.analytics.pmi.streaming_pmi import StreamingPMI
    from ouzel.plotting.analyses import draw_pmi
    from ouzel.streams.sources.source import Source

    found = StreamingPMI(
        budget,
        window=window,
        negatives=negatives,
        sample_size=sample_size,
        heap_size=heap_size,
        tokens=tokens,
        events=events,
        **common.settings,
    )
    corpus = Corpus(found, exact)
    sources = [Source(file) for file in files]
    with analysis.watching(files[0], sources, lambda: f"{found.seen:,} tokens", common.json_) as progress:
        corpus.over(sources, format, column, common.reading(lines), progress)
    if not found.seen and not corpus.interrupted:
        raise DataError(f"{', '.join(files)}: there are no tokens in it; there is nothing to learn from")
    analysis.hand_over(found, common, corpus, draw_pmi, _print_table, analysis.titled(files), top)


def _print_table(corpus: Corpus, top: int) -> None:
    from ouzel.cli.ui.tables import console_for_tables, named_table
    from ouzel.evaluation.figures import size

    console = console_for_tables()
    rows = []
    for row in corpus.table(top):
        cells = [f"{row['pmi']:.3f}"]
        if corpus.exact:
            cells += [f"{row['exact_pmi']:.3f}", f"{row['count']:,}"]
        rows.append([*cells, f"{row['first']} {row['second']}"])
    console.print(named_table(["PMI", *(("exact", "count") if corpus.exact else ()), "pair"], rows))
    stopped = "stopped; " if corpus.interrupted else ""
    console.print(f"\n{stopped}{corpus.model.seen:,} tokens, in {size(corpus.model.bytes_used)}")
    if corpus.exact:
        retrieved, correlation, ranks = corpus.correlation()
        console.print(
            f"correlation of estimated and exact PMI over {retrieved:,} pairs above 0: {correlation:.3f}, "
            f"of ranks {ranks:.3f}"
        )
