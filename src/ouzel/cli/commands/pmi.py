"""`ouzel pmi`: pairs of words, or events, that occur together more often than by chance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from ouzel.cli import options
from ouzel.cli.commands import analysis
from ouzel.cli.parameters import COLUMN, Kind, choice, only, option
from ouzel.cli.ui.outputs import titled
from ouzel.errors import DataError
from ouzel.streams.read import open_source

if TYPE_CHECKING:
    from ouzel.analytics.pmi.corpus import Corpus

TOKENS = Kind("HOW", words=lambda: ("word", "punctuation", "whitespace"))
FORMATS = "csv", "tsv", "parquet", "arrow", "jsonl", "lines"


def pmi(
    files: options.Files,
    *,
    window: Annotated[int, option("Window in tokens that holds both members of a pair.")] = 6,
    budget: analysis.Budget = "1.4MB",
    tokens: Annotated[
        str,
        option("word, punctuation, whitespace, a regular expression, or module:function.", takes=TOKENS),
    ] = "word",
    events: Annotated[bool, option("Each line is the name of one event; windows span lines.")] = False,
    column: Annotated[
        str | None, option("Column of a table with the text, or the events.", takes=COLUMN, panel="Columns")
    ] = None,
    top: Annotated[int, option("Number of pairs to show.", panel="Report")] = 20,
    min_count: Annotated[
        int, option("Minimum count of a pair that is shown; higher where fewer could be missed.")
    ] = 25,
    rare: Annotated[
        int, option("Count up to which a token is rare; pairs of rare tokens are counted (0: none).")
    ] = 600,
    negatives: Annotated[int, option("Negative pairs sampled for each pair of the text.")] = 5,
    sample_size: Annotated[
        int, option("Size of the reservoir that negative pairs are sampled from, in tokens.")
    ] = 4000,
    heap_size: Annotated[int, option("Maximum number of pairs whose names are stored.")] = 4096,
    exact: Annotated[bool, option("Also count exactly, for true PMI and recall.")] = False,
    format: Annotated[
        str | None,
        option(
            f"{', '.join(FORMATS)}; by default detected from the file name.",
            takes=choice(*FORMATS, name="FORMAT", checked=False),
            panel="Files",
        ),
    ] = None,
    columns: Annotated[options.Reading, only(options.Lines)],
    learning: analysis.Learning,
    common: analysis.Common,
) -> None:
    """Find the pairs of words, or of events, with the largest pointwise mutual information, within a byte budget.

    Example: ouzel pmi corpus.txt --window 6 --budget 1.4MB
    """
    common.check(top=top, min_count=min_count)
    from ouzel.analytics.plots import draw_pmi
    from ouzel.analytics.pmi.corpus import Corpus
    from ouzel.analytics.pmi.streaming_pmi import StreamingPMI

    found = StreamingPMI(
        budget,
        window=window,
        negatives=negatives,
        sample_size=sample_size,
        heap_size=heap_size,
        rare=rare,
        tokens=tokens,
        events=events,
        **common.settings(learning),
    )
    corpus = Corpus(found, exact)
    sources = [open_source(file) for file in files]
    with analysis.watching(files[0], sources, lambda: f"{found.seen:,} tokens", common.json_) as progress:
        corpus.over(sources, format, column, common.reading(columns), progress)
    if not found.seen and not corpus.interrupted:
        raise DataError(f"{', '.join(files)}: there are no tokens in it; there is nothing to learn from")
    analysis.report(found, common, corpus, draw_pmi, print_table, titled(files), top, max(min_count, 1))


def print_table(corpus: Corpus, top: int, least: int) -> None:
    from ouzel.cli.ui.tables import console_for_tables, show_named
    from ouzel.evaluation.formatting import size

    console, model = console_for_tables(), corpus.model
    rows = []
    for row in corpus.table(top, least):
        exact = row["count_low"] == row["count_high"]
        counted = f"{row['count_low']:,}" if exact else f"{row['count_low']:,} to {row['count_high']:,}"
        cells = [f"{row['pmi']:.3f}", f"{row['pmi_low']:.3f} to {row['pmi_high']:.3f}", counted]
        if corpus.exact:
            cells += [f"{row['exact_pmi']:.3f}", f"{row['count']:,}"]
        rows.append([*cells, f"{row['first']} {row['second']}"])
    show_named(console, ["PMI", "interval", "counted", *(("exact", "count") if corpus.exact else ()), "pair"], rows)
    if corpus.exact:
        console.print()
        titles = ["true PMI from", "pairs", "recall"]
        console.print(analysis.recall_table(titles, [list(row.values()) for row in corpus.recalls(least)]))
    stopped = "stopped; " if corpus.interrupted else ""
    console.print(f"\n{stopped}{model.seen:,} tokens, in {size(model.bytes_used)}")
    console.print(f"shown are pairs of {model.least_count(least):,} occurrences or more{_missing(corpus)}")
    if corpus.exact:
        retrieved, correlation, ranks = corpus.correlation(least=least)
        console.print(
            f"correlation of estimated and exact PMI over {retrieved:,} pairs above 0: {correlation:.3f}, "
            f"of ranks {ranks:.3f}"
        )


def _missing(corpus: Corpus) -> str:
    """Return the end of a sentence: which of the listed pairs may be missing."""
    above = corpus.model.complete_above
    if corpus.model.complete:
        return "; none is missing"
    if above == float("inf"):
        return ", as far as is known; any of them may be missing"
    return f", as far as is known; none with a PMI above {above:.2f} is missing, below it some may be"
