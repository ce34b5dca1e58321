"""Learning to rank with any binary learner: pairs of a group, the better one first.

Duchi, Hazan & Singer (2011), section 6.2: on examples z1 above z2 the loss is [1 - <x, z1 - z2>]_+, which is the hinge
loss of the difference z1 - z2 with target +1. So a group of examples becomes rows of differences, drawn with a seed,
and any learner of the catalogue learns those, one of several classes as one of two; the logistic loss works as well.
The constant feature cancels.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ouzel.errors import OuzelError
from ouzel.learners.binary import binary
from ouzel.learners.protocol import Multiclass, Settings, State
from ouzel.learners.rows import Rows
from ouzel.model.answers import Answers
from ouzel.model.tasks.task import Host, Module, Outcome, Task, losses_against, numbers_of
from ouzel.streams.block import Block


class Ranking(Task):
    """Labels are grades: within a group, an example of a higher one shall have the higher score."""

    name = "ranking"
    groups = True

    def __init__(self, loss: Any, pairs: int = 0) -> None:
        super().__init__(loss)
        self.pairs = pairs

    def functions(self, learner: Module) -> Module:
        """A learner's functions for targets -1 and +1."""
        of_classes: Any = isinstance(learner, Multiclass)
        return binary(learner) if of_classes else learner

    def learn(self, model: Host, block: Block, losses: bool = True) -> Outcome:
        """Learn pairs of examples of a group, the one of higher label first; its margin should be above 0."""

        grades = numbers_of(block)
        ((_, rows),) = model.pieces(block)

        def learn_pairs(part: Rows, grades: np.ndarray, start: int) -> np.ndarray:
            drawn = {"pairs": self.pairs, "seed": model.seed, "group": model.examples + start}
            return learn_group(model.module, model.states[0], part, grades, model.settings, **drawn)

        return self._by_group(model, block, rows, grades, learn_pairs)

    def evaluate(self, model: Host, block: Block) -> Outcome:
        """Predict all pairs of each group without learning them."""

        def predict_pairs(part: Rows, grades: np.ndarray, start: int) -> np.ndarray:
            return self.margins(model, pair_rows(part, draw_pairs(grades, 0, np.random.default_rng(0))))

        return self._by_group(model, block, model.rows(block), numbers_of(block), predict_pairs)

    def learn_one(
        self, model: Host, slots: np.ndarray, values: np.ndarray, label: Any, importance: np.float32
    ) -> list[float]:
        """Refused: one example has no other to be ranked against."""
        raise OuzelError("a ranking learns groups of examples, not single ones; learn blocks of whole groups")

    def answers(self, model: Host, margins: np.ndarray) -> Answers:
        """Scores (n,), and no labels."""
        return Answers(None, margins[:, None], None, [])

    def answer_one(self, model: Host, margins: list[float]) -> float:
        """The score of one example."""
        return margins[0]

    def _by_group(
        self,
        model: Host,
        block: Block,
        rows: Rows,
        grades: np.ndarray,
        of: Callable[[Rows, np.ndarray, int], np.ndarray],
    ) -> Outcome:
        """The margins of pairs `of` the rows and grades of each group, and where in the block it starts."""
        found, groups = [np.empty(0)], []
        for here in groups_of(np.zeros(block.rows) if block.groups is None else block.groups):
            part = Rows(rows.offsets[here.start : here.stop + 1], rows.indices, rows.values)
            groups.append((self.margins(model, part), grades[here]))
            found.append(of(part, grades[here], here.start))
        margins = np.concatenate(found)
        ones = np.ones(len(margins))
        losses = losses_against(self.loss, margins, ones)
        return Outcome(margins, ones.astype(np.int64), ones.astype(np.float32), losses, groups)


def draw_pairs(relevance: np.ndarray, count: int, generator: np.random.Generator) -> np.ndarray:
    """Positions (m, 2) of pairs of a group with relevance (n,), in each of which the first is the more relevant.

    With `count` 0 all pairs, shuffled; else `count` of them, drawn evenly with repetition. None if all are equal.

    >>> draw_pairs(np.array([0.0, 2.0, 0.0]), 0, np.random.default_rng(0)).tolist()
    [[1, 0], [1, 2]]
    """
    order = np.argsort(-relevance, kind="stable")
    sorted_relevance = relevance[order]
    below = np.searchsorted(-sorted_relevance, -sorted_relevance, side="right")  # first place of lower relevance
    ends = np.cumsum(len(order) - below)  # each example is above so many others: number the pairs through
    total = int(ends[-1]) if len(ends) else 0
    numbers = generator.integers(total, size=count) if count and total else generator.permutation(total)
    first = np.searchsorted(ends, numbers, side="right")
    second = len(order) - (ends[first] - numbers)
    return np.column_stack([order[first], order[second]])


def pair_rows(rows: Rows, pairs: np.ndarray) -> Rows:
    """Rows of the differences: row `pairs[k, 0]` minus row `pairs[k, 1]`, for each k."""
    import scipy.sparse as sparse

    here = slice(int(rows.offsets[0]), int(rows.offsets[-1]))
    offsets, slots = rows.offsets.astype(np.int64) - here.start, rows.indices[here].astype(np.int64)
    shape = (len(offsets) - 1, int(slots.max(initial=0)) + 1)
    matrix = sparse.csr_array((rows.values[here], slots, offsets), shape=shape)
    with np.errstate(over="ignore"):
        difference = (matrix[pairs[:, 0]] - matrix[pairs[:, 1]]).tocsr()
    values = np.nan_to_num(difference.data.astype(np.float32))
    return Rows(difference.indptr.astype(np.uint64), difference.indices.astype(np.uint32), values)


def groups_of(groups: np.ndarray) -> Iterator[slice]:
    """Where each run of equal group numbers (n,) lies."""
    cuts = np.flatnonzero(np.diff(groups)) + 1
    edges = [0, *cuts.tolist(), len(groups)]
    for start, stop in itertools.pairwise(edges):
        if start < stop:
            yield slice(start, stop)


def learn_group(
    module: Module,
    state: State,
    rows: Rows,
    relevance: np.ndarray,
    settings: Settings,
    *,
    pairs: int,
    seed: int,
    group: int,
) -> np.ndarray:
    """Learn one group in place; return the margins <x, z1 - z2> (m,) of its pairs, each before it was learnt.

    `module` is that of a binary learner, with its `state` and `settings`; `rows` are the group's examples over the
    learner's slots and `relevance` (n,) their grades. `pairs` are drawn, or all taken if it is 0. What is drawn depends
    on `seed` and the number of the `group` in the stream alone, so that no random state need be kept or saved.
    """
    chosen = draw_pairs(relevance, pairs, np.random.default_rng([seed, group]))
    margins = np.empty(len(chosen))
    ones = np.ones(len(chosen))
    module.learn_rows(state, pair_rows(rows, chosen), ones, ones.astype(np.float32), settings, margins)
    return margins
