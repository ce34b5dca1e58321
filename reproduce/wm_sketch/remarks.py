"""What is to be said beside the WM-Sketch paper's figures 3 to 7."""

from __future__ import annotations

from collections.abc import Mapping

from reproduce.writing import Band, listed, span

FIGURE_3 = """
Medians over ten random orders, each with hash functions of its own; the paper prints a figure without numbers, and says
of it that AWM-Sketch has the lowest error on all three sets, and (in the abstract) that on RCV1 it is 4 times better
than Space Saving and 10 times better than truncation at the same memory. The sets here are samples (20 newsgroups:
comp.* and sci.* against the rest; KDD Algebra: a fifth of the students of 2005-2006, and a tutor's log of 2006, with
students, problems and skills as categories, and pairs of them), where the paper has 677 thousand examples of RCV1, 2.4
million of URL and 8.4 million of KDD Algebra 2008-2009; on the shortest, few weights are above what truncation keeps,
so that it forgets little. The second table has recovery and online error of
one and the same run; the paper's Table 2 gives half of the budget to the active set. Feature hashing is asked for the
weights of all features seen.
"""

FIGURE_4 = """
Medians over ten random orders and hash functions, l2 = 1e-6, each method in the configuration that recovers best. The
paper says that AWM-Sketch has the lowest error at every budget and comes to 1 fastest.
"""

FIGURE_5 = """
The paper finds that a stronger penalty recovers better, as weights come nearer to 0. Our step sizes are those of the
authors' code, eta_0 / (1 + l2 eta_0 t): over a sample a penalty of 1e-4 or less changes the steps by a quarter at most
and shrinks weights as little, so that only 1e-3 can be told apart. Over the paper's 677 thousand and 2.4 million
examples the same penalties act far longer.
"""

FIGURE_6 = """
Medians over ten random orders and hash functions of the online error rate, each method in the configuration of lowest
error, and for each set the penalty at which the methods within a budget do best (at 8 KB), as in the paper. The last
row of a set is what AWM-Sketch gains over feature hashing, for which the paper prints ranges. The gain depends on the
split: half of the budget in the active set was best on the paper's long streams (figure 3's second table has the
others).
"""

FIGURE_7 = """
The least of ten passes each, on RCV1, in the configurations of Table 2; the base keeps its 128 heaviest weights in a
heap, as the paper's does. Feature hashing has no heap to keep, and a table of 8 KB stays in the nearest cache;
AWM-Sketch looks every feature up once and without branches. WM-Sketch hashes each feature once for every row of its
sketch, 30 of them from 16 KB on, whose tables no longer fit the nearest cache. A pass takes milliseconds on a machine
with other work: factors vary from run to run. `benchmarks/budgeted.py` measures a stream eight times as long, where the
active set changes less often.
"""


def lowest(panels: Mapping[str, Mapping[str, Band]]) -> str:
    """Who recovers best in each panel, at the largest K, and how far behind the others are."""
    said = []
    for title, lines in panels.items():
        excess = {name: band.middle[-1] - 1.0 for name, band in lines.items()}
        best = min(excess, key=lambda name: excess[name])
        factors = [
            f"{name} {value / excess[best]:.1f}"
            for name, value in sorted(excess.items(), key=lambda item: item[1])
            if name != best and excess[best] > 0.0
        ]
        said.append(f"{title}: {best} ({excess[best]:.3f}), times that {listed(factors)}")
    return f" The lowest error in excess of 1 at the largest K: {'; '.join(said)}."


def by_penalty(panels: Mapping[str, Mapping[str, Band]]) -> str:
    """The error in excess of 1 under each penalty."""
    said = [
        f"{title}: {listed([f'{band.middle[-1] - 1.0:.3f} ({name})' for name, band in lines.items()])}"
        for title, lines in panels.items()
    ]
    return f" In excess of 1, at the largest K: {'; '.join(said)}."


def gains(panels: Mapping[str, Mapping[str, Band]], reference: str) -> str:
    """What AWM-Sketch gains over feature hashing, and who errs less than the model without a budget."""
    said, ahead = [], []
    for title, lines in panels.items():
        gained = [rival - own for rival, own in zip(lines["hashing"].middle, lines["awm"].middle, strict=True)]
        said.append(f"{title} {span(gained, 4)}")
        free = min(lines[reference].middle)
        ahead += [f"{name} on {title}" for name, band in lines.items() if min(band.middle) < free and name != reference]
    return (
        f" AWM-Sketch gains, over the budgets: {'; '.join(said)}."
        f" At some budget below the error without one: {listed(ahead)}."
    )
