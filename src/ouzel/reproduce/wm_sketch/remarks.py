"""What is to be said beside the WM-Sketch paper's figures 3 to 7."""

FIGURE_3 = """
Medians over ten random orders, each with hash functions of its own; the paper prints a figure without numbers, and
says of it that AWM-Sketch has the lowest error on all three sets, and (in the abstract) that on RCV1 it is 4 times
better than Space Saving and 10 times better than truncation at the same memory. Here, on samples of 24 (RCV1), 11 and
16 (20 newsgroups, comp.* and sci.* against the rest) and 6 thousand examples (URL) where the paper has 677 thousand
and 2.4 million, the error in excess of 1 at K = 128 is on RCV1 some 40 times smaller than Space Saving's and 14 times
smaller than truncation's. AWM-Sketch is lowest on the three text sets, at every K; on the URL sample simple
truncation is a little lower from K = 128: 5,700 examples leave few weights above its 1,024, so that it forgets
little. That Space Saving is competitive on RCV1 is not found on the sample: its 682 counters hold too few of the
28,000 words, among which many weigh something after so short a stream. The second table has recovery and online error
of one and the same run. With half of the budget in the active set, the configuration of the paper's Table 2, AWM-
Sketch errs less often than feature hashing on RCV1 and URL but not on 20 newsgroups, in either form; with a quarter
it does on all sets, and still recovers best on the text sets. Feature hashing is asked for the weights of all
features seen.
"""

FIGURE_4 = """
Medians over ten random orders and hash functions, l2 = 1e-6, each method in the configuration that recovers best. As
published, AWM-Sketch has the lowest error at every budget and comes to 1 fastest; WM-Sketch needs 16 KB and more, and
feature hashing never separates what collides. What differs from the paper's picture is the order of the rest: on this
sample of 23,750 documents truncation and probabilistic truncation are ahead of Space Saving up to 8 KB, and
truncation at every budget.
"""

FIGURE_5 = """
The paper finds that a stronger penalty recovers better, as weights come nearer to 0. Our step sizes are those of the
authors' code, eta_0 / (1 + l2 eta_0 t): over 24 thousand examples a penalty of 1e-4 or less changes the steps by a
quarter at most and shrinks weights as little, so that only 1e-3 can be told apart: on RCV1 its excess error is half
that of the others, on the URL sample and the newsgroups the difference is within the range over seeds. Over the
paper's 677 thousand and 2.4 million examples the same penalties act 30 to 400 times longer.
"""

FIGURE_6 = """
Medians over ten random orders and hash functions of the online error rate, each method in the configuration of lowest
error, and for each set the penalty at which the methods within a budget do best (at 8 KB), as in the paper. The last
row of a set is what AWM-Sketch gains over feature hashing, for which the paper prints ranges: it gains at every
budget on every set, on RCV1 and URL more at smaller budgets, and within or near the published ranges; on RCV1 the
largest gain is 1 point, not 3.7, and the least falls below theirs at 32 KB, where both are within 0.6 points of
having no budget. The gain depends on the split: with half of the budget in the active set, which was best on the
paper's long streams, feature hashing stays ahead on 20 newsgroups (figure 3's second table); on such short and flat
streams a quarter or an eighth is better. On the URL sample the truncations are ahead of everything, the model without
a budget included: forgetting acts as a penalty there.
"""

FIGURE_7 = """
The least of ten passes each, on RCV1, in the configurations of Table 2; the base keeps its 128 heaviest weights in a
heap, as the paper's does. Feature hashing is faster than the base here, because it has no heap to keep, and a table
of 8 KB stays in the nearest cache; AWM-Sketch looks every feature up once and without branches: about half of the
published factor. WM-Sketch hashes each feature once for every row of its sketch, 30 of them from 16 KB on, whose
tables no longer fit the nearest cache. Passes of some twenty milliseconds on a machine with other work: factors vary
by a fifth from run to run. `benchmarks/budgeted.py` measures a stream eight times as long, where the active set
changes less often.
"""
