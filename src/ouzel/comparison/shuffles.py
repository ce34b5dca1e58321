"""Comparison of learners over random orders of examples in memory: the table of LIBOL.

Hoi, Wang & Zhao (2014), "LIBOL: A Library for Online Learning Algorithms", JMLR 15: rate of mistakes, number of updates
and seconds, each mean and standard deviation over random orders, and how the three grow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from ouzel.comparison.contestant import entered
from ouzel.comparison.grid import Candidate
from ouzel.comparison.one_pass import Entry, entries_of, that_fit, warm_up
from ouzel.model.tasks.task import Task
from ouzel.streams.block import Block
from ouzel.streams.labels import labels_in

POINTS = 40  # of each cumulative line


class Summary(NamedTuple):
    """Results of a candidate over all orders; arrays have a row for each order."""

    candidate: Candidate
    examples: np.ndarray  # (points,) examples behind each column below
    mistakes: np.ndarray  # (orders, points) weighted, so far
    updates: np.ndarray  # (orders, points)
    seconds: np.ndarray  # (orders, points)
    weight: float  # of all examples
    task: Task

    @property
    def rates_of_orders(self) -> np.ndarray:
        """Rate of mistakes so far (orders, points); for numbers the root mean squared error."""
        seen: np.ndarray = self.examples * (self.weight / self.examples[-1])
        rates: np.ndarray = self.mistakes / seen
        return rates

    @property
    def rates(self) -> np.ndarray:
        """The mean of these over orders (points,)."""
        rates: np.ndarray = self.rates_of_orders.mean(axis=0)
        return rates

    @property
    def last(self) -> dict[str, np.ndarray]:
        """The rate of mistakes, the updates and the seconds (orders,) of whole orders."""
        return {
            "error": self.mistakes[:, -1] / self.weight,
            "updates": self.updates[:, -1],
            "seconds": self.seconds[:, -1],
        }

    def row(self) -> dict[str, tuple[float, float]]:
        """Mean and standard deviation (by one less than the orders; 0 of one order) of each of these."""
        spare = min(1, len(self.mistakes) - 1)
        return {name: (float(values.mean()), float(values.std(ddof=spare))) for name, values in self.last.items()}

    def to_json(self) -> dict[str, Any]:
        """Settings and results as JSON values: mean, standard deviation, and the values of each order."""
        found = self.row()
        results = {
            name: {"mean": found[name][0], "sd": found[name][1], "values": values.tolist()}
            for name, values in self.last.items()
        }
        return {**self.candidate._asdict(), "orders": len(self.mistakes), "examples": int(self.examples[-1]), **results}


def join(blocks: Iterable[Block]) -> Block:
    """All blocks as one; labels that are names get one list of names."""
    parts = list(blocks)
    place: dict[Any, int] = {}
    labels = []
    for part in parts:
        if part.label_names is None:
            labels.append(part.labels)
            continue
        codes = np.array([place.setdefault(name, len(place)) for name in part.label_names], np.float64)
        missing = np.isnan(part.labels)
        labels.append(np.where(missing, np.nan, codes[np.where(missing, 0, part.labels).astype(np.intp)]))
    lengths = np.concatenate([np.diff(part.offsets.astype(np.int64)) for part in parts])
    inside = [slice(int(part.offsets[0]), int(part.offsets[-1])) for part in parts]
    return Block(
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.uint64),
        np.concatenate([part.indices[here] for part, here in zip(parts, inside, strict=True)]),
        np.concatenate([part.values[here] for part, here in zip(parts, inside, strict=True)]),
        np.concatenate(labels),
        np.concatenate([part.weights for part in parts]),
        label_names=list(place) if place else None,
    )


def compare_orders(
    candidates: Sequence[Candidate],
    block: Block,
    orders: int,
    *,
    jobs: int = 1,
    on_progress: Callable[[int], None] | None = None,
    on_refusal: Callable[[str], None] | None = None,
    seed: int = 0,
    **options: Any,
) -> list[Summary]:
    """Let every candidate learn the block in `orders` random orders, the same orders for all.

    Candidates that cannot hold its features are left out, and `on_refusal` is told why.
    """
    block = block.select(np.flatnonzero(~np.isnan(block.labels)))
    options = {**options, "seed": seed}
    known = list(dict.fromkeys(labels_in(block)))  # for learners that must know them at the beginning
    entries = that_fit(entries_of(candidates, **options), block, on_refusal)
    candidates = [entry.candidate for entry in entries]
    warm_up(candidates, block, options)
    ends = np.unique(np.linspace(0, block.rows, min(POINTS, block.rows) + 1).astype(np.int64)[1:])
    traces: list[list[np.ndarray]] = [[] for _ in candidates]
    with ThreadPoolExecutor(max(1, jobs)) as pool, threadpool_limits(1 if jobs > 1 else None):
        for order in range(orders):
            shuffled = block.select(np.random.default_rng([seed, order]).permutation(block.rows))
            entries = [
                Entry(candidate, **(options | ({"classes": known} if entered(candidate.learner) else {})))
                for candidate in candidates
            ]
            for kept, trace in zip(traces, pool.map(lambda c, b=shuffled: _trace(c, b, ends), entries), strict=True):
                kept.append(trace)
            if on_progress is not None:
                on_progress(order + 1)
    weight = float(block.weights.sum(dtype=np.float64))
    found = []
    for candidate, kept in zip(candidates, traces, strict=True):
        mistakes, updates, seconds = np.stack(kept, axis=1)
        found.append(Summary(candidate, ends, mistakes, updates, seconds, weight, entries[0].model.task))
    return found


def _trace(entry: Entry, block: Block, ends: np.ndarray) -> np.ndarray:
    """Mistakes, updates and seconds (3, points) as the entry learns the block."""
    trace = np.empty((3, len(ends)))
    start = 0
    for k, stop in enumerate(ends):
        entry.learn(block.slice(start, int(stop)))
        trace[:, k] = entry.figure * entry.scores.sums[0], entry.updates, entry.seconds
        start = int(stop)
    return trace
