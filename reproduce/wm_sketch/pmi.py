"""Table 3 and Figure 11 of the WM-Sketch paper: pairs of words by pointwise mutual information, on Reuters-21578."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ouzel.analytics.exact import ExactCounts
from ouzel.analytics.plots import draw_pmi
from ouzel.analytics.pmi.corpus import Corpus, texts_of
from ouzel.analytics.pmi.streaming_pmi import StreamingPMI
from ouzel.analytics.sketch import slots_of_items
from ouzel.plotting.axes import Line, draw_panels
from ouzel.streams.options import Options
from ouzel.streams.sources.source import Source
from reproduce.provenance import DataFolder
from reproduce.writing import markdown_table, signed, write_report

FILE = "reuters21578.tsv.xz"
WIDTH = 1 << 16
FOUND = {  # pairs of the paper's table, with PMI by exact counts and by the model
    ("prime", "minister"): (6.339, 7.609),
    ("los", "angeles"): (7.197, 7.047),
    ("http", "/"): (6.734, 7.001),
    ("human", "rights"): (6.079, 6.721),
}
COMMON = {(",", "the"): 0.044, ("the", ","): -0.082, ("the", "of"): 0.611, ("the", "."): 0.057}
WIDTHS = tuple(1 << k for k in (10, 12, 14, 16, 18))
STRENGTHS = (1e-7, 1e-8, 1e-9)


def corpus_of(path: Path, quick: bool) -> list[list[str]]:
    """The texts by blocks."""
    column = "text" if ".tsv" in path.name else None
    blocks = list(texts_of(Source(path), None, column, Options()))
    return [blocks[0][:2000]] if quick else blocks


def learnt(texts: list[list[str]], exact: Corpus | None = None, **settings: object) -> Corpus:
    """A corpus learnt by the sketch alone; exact counts are those of another reading if there was one."""
    model = StreamingPMI("4MB", tokens="punctuation", rare=0, **settings)  # type: ignore[arg-type]
    corpus = Corpus(model, exact=exact is None)
    for block in texts:
        corpus.learn(block)
    if exact is not None:
        corpus.tokens, corpus.pairs, corpus.true_pairs = exact.tokens, exact.pairs, exact.true_pairs
    return corpus


def slots_of(corpus: Corpus, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
    """Slots (n, 2) of pairs of words."""
    return slots_of_items([word for pair in pairs for word in pair], corpus.model.seed).reshape(-1, 2)


def table_3(data: DataFolder, output: Path, quick: bool = False, paths: Sequence[Path] = ()) -> None:
    """Write the tables of pairs, and draw estimates against exact values."""
    corpus = learnt(corpus_of(paths[0] if paths else data / FILE, quick), width=WIDTH)
    rows = []
    for pair, (exact_there, estimated_there) in FOUND.items():
        exact, counts = corpus.exact_pmi(slots_of(corpus, [pair])) if _occurs(corpus, pair) else ([np.nan], [0])
        ours = corpus.model.pmi(*pair)
        rows.append(
            [" ".join(pair), f"{exact_there:.3f}", f"{estimated_there:.3f}", *_cells(exact[0], counts[0], ours)]
        )
    for pair, exact_there in COMMON.items():
        exact, counts = corpus.exact_pmi(slots_of(corpus, [pair]))
        rows.append([" ".join(pair), f"{exact_there:.3f}", "", *_cells(exact[0], counts[0], corpus.model.pmi(*pair))])
    for row in corpus.table(12):
        cells = _cells(row["exact_pmi"], row["count"], row["pmi"])
        rows.append([f"{row['first']} {row['second']}", "", "", *cells])
    head = [
        "pair",
        "published PMI",
        "published estimate",
        "PMI",
        "occurrences",
        "estimate",
        "estimate \N{MINUS SIGN} PMI",
    ]
    retrieved, correlation, ranks = corpus.correlation()
    figures = (
        f"{corpus.model.seen:,} tokens, {len(corpus.tokens.slots):,} different ones and "  # type: ignore[union-attr]
        f"{len(corpus.pairs.slots):,} different pairs; {corpus.model.bytes_used:,} bytes. "  # type: ignore[union-attr]
        f"Correlation of estimate and PMI over the {retrieved:,} pairs retrieved above 0: {correlation:.3f}, "
        f"of ranks {ranks:.3f}."
    )
    title = "WM-Sketch, table 3: pairs of words by pointwise mutual information"
    table = markdown_table(head, rows) + "\n\n" + figures
    write_report(output, "wm-table-3", title, table, REMARKS_3, "ouzel reproduce wm-table-3")
    draw_pmi(corpus, str(output / "wm-table-3.png"))


def _occurs(corpus: Corpus, pair: tuple[str, str]) -> bool:
    counts: ExactCounts | None = corpus.tokens
    return counts is not None and bool((counts.of(slots_of(corpus, [pair])[0])[:, 0] > 0).all())


def _cells(exact: float, count: int, estimated: float) -> list[str]:
    if count == 0:
        return ["\N{EN DASH}", "0", "\N{EN DASH}", "\N{EN DASH}"]
    return [f"{exact:.3f}", f"{count:,}", f"{estimated:.3f}", signed(estimated - exact)]


def figure_11(data: DataFolder, output: Path, quick: bool = False, paths: Sequence[Path] = ()) -> None:
    """Write the table of medians and draw them against the width."""
    texts = corpus_of(paths[0] if paths else data / FILE, quick)
    exact: Corpus | None = None
    rows = []
    panels: dict[str, dict[str, Line]] = {"median occurrences": {}, "median exact PMI": {}}
    for l2 in STRENGTHS:
        medians: list[tuple[float, float]] = []
        for width in WIDTHS[:: 4 if quick else 1]:
            corpus = learnt(texts, exact, width=width, l2=l2)
            exact = exact or corpus
            members, estimated = corpus.model.pairs(settled=False)
            true, counts = corpus.exact_pmi(members[estimated > 0])
            medians.append((float(np.median(counts)), float(np.median(true))))
            settled, over_settled, _ = corpus.correlation()
            rows.append(
                [
                    f"{l2:g}",
                    f"2^{width.bit_length() - 1}",
                    f"{len(true):,}",
                    f"{medians[-1][0]:,.0f}",
                    f"{medians[-1][1]:.2f}",
                    f"{settled:,}",
                    f"{over_settled:.3f}",
                ]
            )
        widths = [float(width) for width in WIDTHS[:: 4 if quick else 1]]
        for number, panel in enumerate(panels.values()):
            panel[f"l2 = {l2:g}"] = (widths, [pair[number] for pair in medians])
    ends = {name.removeprefix("l2 = "): (ys[0], ys[-1]) for name, (_, ys) in panels["median exact PMI"].items()}
    said = "; ".join(f"{l2}: {first:.2f} and {last:.2f}" for l2, (first, last) in ends.items())
    remarks = f"{REMARKS_11} Median PMI with the fewest and the most counters, by l2: {said}."
    head = ["l2", "counters", "pairs above 0", "median occurrences", "median PMI", "settled pairs", "correlation"]
    title = "WM-Sketch, figure 11: pairs retrieved by width and regularisation"
    write_report(output, "wm-figure-11", title, markdown_table(head, rows), remarks, "ouzel reproduce wm-figure-11")
    draw_panels(panels, str(output / "wm-figure-11.png"), x="counters of the sketch", log_x=True)


REMARKS_3 = """
The first four pairs are the paper's examples of what it retrieved, the next four its most common pairs, and the rest
the twelve that lead here. The paper's corpus is a newswire of 77.7 million tokens; this is Reuters-21578, 23 times
smaller and of 1987, without any "http". Estimates are those of counts for pairs in the active set, where the paper has
weights; the sketch alone gives the estimate of a pair outside of it, such as one that is too rare. Here negative
examples count a fifth, pairs in the active set learn faster than others, at steps that fall with the information about
them, and the reservoir of 4,000 tokens renews itself, as so few tokens that hardly change say nothing of most words'
frequencies. "Retrieved" are the pairs of the active set that were counted 25 times.
"""

REMARKS_11 = """
The figure is published without numbers; its claims are that with few counters noisy pairs of low PMI are retrieved,
that with more they are rarer and their PMI higher, and that weaker regularisation favours rarer pairs. Retrieved here
are all pairs of the active set with a positive weight. With few counters collisions bring rare pairs in, so that the
median of occurrences is low there. The paper's corpus makes 23 times as many examples, for which strengths mean other
things: a weight shrinks with every example, whether its pair is in it or not. The last columns are of settled pairs
above 0, counted 25 times.
"""
