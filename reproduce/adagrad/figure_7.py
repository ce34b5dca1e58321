"""Figure 7 of the AdaGrad paper: test error against the share of non-zero weights on RCV1, with AROW's line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ouzel.plotting.axes import draw_panels
from reproduce.adagrad.rcv1 import TOPICS, documents_of
from reproduce.adagrad.single_pass import best_pass, hold_out
from reproduce.provenance import DataFolder
from reproduce.writing import markdown_table, span, write_report

NAME = "adagrad-figure-7"
SHOWN_FROM = 1e-3  # share of non-zeros
DENSE = 0.1  # share from which errors are compared
STRENGTHS = [10.0 ** (k / 2) for k in range(-16, -1)]  # 1e-8 to 1e-1


def run(data: DataFolder, output: Path, quick: bool = False, paths: Sequence[Path] = ()) -> None:
    """Write the table and draw the four panels."""
    rows, panels, dense, words = [], {}, [], []
    for topic in TOPICS[:1] if quick else TOPICS:
        documents = documents_of(data, topic)
        if quick:
            documents = documents.select(np.arange(4000))
        splits = [hold_out(documents, 0.25, seed) for seed in range(1 if quick else 4)]
        words.append(len(np.unique(splits[0][0].indices)))
        arow = float(np.mean([best_pass("arow", *split).test_error for split in splits]))
        errors, shares = [], []
        for l1 in STRENGTHS[::5] if quick else STRENGTHS:
            outcomes = [best_pass("adagrad-rda", *split, l1=l1) for split in splits]
            error, share = np.mean([(outcome.test_error, outcome.nonzero) for outcome in outcomes], axis=0)
            errors.append(float(error))
            shares.append(float(share))
            dense += [float(error) - arow] if share >= DENSE else []
            rows.append([topic, f"{l1:.1e}", f"{share:.4f}", f"{error:.4f}", f"{error - arow:+.4f}"])
        drawn = [(share, error) for share, error in zip(shares, errors, strict=True) if share >= SHOWN_FROM]
        ends = [min(share for share, _ in drawn), max(share for share, _ in drawn)]
        panels[topic] = {
            "adagrad-rda": ([share for share, _ in drawn], [error for _, error in drawn]),
            "arow": (ends, [arow, arow]),
        }
    table = markdown_table(["category", "l1", "share of non-zeros", "test error", "above AROW's"], rows)
    ours = f"""
Here the share is of the {min(words):,} words or more that were met in training. Where a tenth of the weights or more
are not zero, AdaGrad's error less AROW's is {span(dense, 4)}, over {len(dense)} strengths and categories.
"""
    title = "AdaGrad, figure 7: test error against sparsity on RCV1"
    write_report(output, NAME, title, table, REMARKS + ours, COMMAND)
    draw_panels(panels, str(output / f"{NAME}.png"), x="share of non-zeros", y="test error", log_x=True)


COMMAND = f"ouzel reproduce {NAME}"
REMARKS = """
The figure is published without numbers, so there is no column of differences; its claim is that with more than 1 % of
the weights non-zero AdaGrad's error is that of AROW, and beyond that below it. The protocol is that of table 1, on the
sample with single weighted words where the paper has some 800,000 documents and two million word pairs, so that 1 % are
a few hundred words. The figure leaves out shares under a thousandth.
"""
