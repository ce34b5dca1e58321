"""Lists of pairs with intervals of their mutual information, and the counts from which the list is complete.

A pair's PMI is log(c N^2 / (P n_u n_v)), of c occurrences among P pairs, and of N tokens n_u and n_v times its members.
The count of a pair lies between two known ones (see `rare_pairs`), or at least above one; those of tokens come from a
Count-Min sketch, which never says too little, and too much by what it says of a token that never occurred: the 95 %
quantile of that is the margin of error taken here.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, log
from typing import Any, NamedTuple

import numpy as np

from ouzel.analytics.pmi import rare_pairs
from ouzel.analytics.pmi.token_pairs import counts_of_tokens
from ouzel.sketches import count_min

PROBES = 1024  # tokens that never occurred, by which collisions are measured
SURE = 0.95  # of them say no more than the margin of error
MISSED = 0.75  # of the most that may have been missed, taken to have been: measured on text


class Stream(NamedTuple):
    """Totals of a stream: N tokens, P pairs, the reach of the window, and the counts of tokens."""

    tokens: int
    pairs: int
    reach: int
    often: count_min.State

    def counts_of(self, tokens: np.ndarray) -> np.ndarray:
        """Return upper bounds of the counts of tokens (n,) uint32."""
        out = np.empty(len(tokens), np.int64)
        counts_of_tokens(self.often, tokens, out)
        return out

    @property
    def margin(self) -> int:
        """Largest error of the counts of tokens, with a probability of 95 %."""
        random = np.random.Generator(np.random.PCG64(PROBES))
        strangers = random.integers(1, 2**32, PROBES, np.uint32)
        return int(np.quantile(self.counts_of(strangers), SURE, method="higher"))

    def pmi(self, counts: np.ndarray, alone: np.ndarray) -> np.ndarray:
        """Return the PMI (n,) of counts (n,) of pairs and counts (n, 2) of their members."""
        share = np.maximum(counts, 1) / max(self.pairs, 1)
        return np.asarray(np.log(share) - np.log(np.maximum(alone, 1) / max(self.tokens, 1)).sum(axis=1))

    def pmi_above(self, count: int) -> float:
        """Return the largest PMI of pairs with a token of more occurrences, each of which makes `reach` pairs."""
        if count < 1 or not self.pairs:
            return inf
        return log(self.reach * self.tokens**2 / (self.pairs * count))


class Association(NamedTuple):
    """A pair of `StreamingPMI.top`."""

    first: str
    second: str
    pmi: float  # estimated, in natural units (nats)


class Estimate(NamedTuple):
    """A pair of `StreamingPMI.estimates`."""

    first: str
    second: str
    pmi: float  # estimated, in natural units (nats)
    pmi_low: float  # the true one lies between this
    pmi_high: float  # and this, if counts of tokens are right within their margin of error
    count_low: int  # it occurred so often at least
    count_high: int  # and so often at most


class Estimates(NamedTuple):
    """Pairs with counts, bounds and weights."""

    members: np.ndarray  # (n, 2) uint32
    counts: np.ndarray  # (n,) int64  counted
    most: np.ndarray  # (n,) int64  occurrences at most
    likely: np.ndarray  # (n,) float64  occurrences by estimate
    weights: np.ndarray  # (n,) float64  by which a pair is ranked that was not counted at all
    rare: np.ndarray  # (n,) bool  whether both members are rare

    @classmethod
    def joined(cls, counted: Estimates, found: Estimates, least: int) -> Estimates:
        """Join counted pairs and those of the sketch, of `least` occurrences or more, each once.

        A pair is taken from the sketch if all of it was counted there. A pair of rare tokens that was not, and is not
        in the table either, has fewer occurrences.
        """
        exact = found.counts == found.most
        if least:
            wanted = (found.likely >= least) & (exact | ~found.rare)
            found, exact, counted = found.where(wanted), exact[wanted], counted.where(counted.most >= least)
        counted = counted.where(~np.isin(counted.keys, found.keys[exact]))
        found = found.where(~np.isin(found.keys, counted.keys))
        return cls(*(np.concatenate(parts) for parts in zip(counted, found, strict=True)))

    @property
    def keys(self) -> np.ndarray:
        """Keys (n,) uint64 of the pairs."""
        members = self.members.astype(np.uint64)
        return np.asarray(members[:, 0] << np.uint64(32) | members[:, 1])

    def where(self, wanted: np.ndarray) -> Estimates:
        """Select pairs by position or mask."""
        return Estimates(*(part[wanted] for part in self))

    def pmi(self, stream: Stream) -> np.ndarray:
        """Return the estimated PMI (n,): the weight where nothing was counted."""
        alone = np.stack([stream.counts_of(self.members[:, side]) for side in (0, 1)], axis=1)
        return np.where(self.likely > 0, stream.pmi(self.likely, alone), self.weights)

    def named(self, pmi: np.ndarray, stream: Stream, name_of: Callable[[int], str], k: int) -> list[Estimate]:
        """Return the first k pairs by name, with PMI (n,) and its interval."""
        low, high = self.interval(stream)
        return [
            Estimate(
                first=name_of(self.members[i, 0]),
                second=name_of(self.members[i, 1]),
                pmi=float(pmi[i]),
                pmi_low=float(min(low[i], pmi[i])),
                pmi_high=float(max(high[i], pmi[i])),
                count_low=int(self.counts[i]),
                count_high=int(self.most[i]),
            )
            for i in range(min(max(k, 0), len(pmi)))
        ]

    def interval(self, stream: Stream) -> tuple[np.ndarray, np.ndarray]:
        """Return bounds (n,) and (n,) of the PMI, if counts of tokens are within their margin of error."""
        alone = np.stack([stream.counts_of(self.members[:, side]) for side in (0, 1)], axis=1)
        least = np.maximum(alone - stream.margin, -(-self.counts // stream.reach)[:, None])
        return stream.pmi(self.counts, alone), stream.pmi(self.most, least)


def of_rare(rare: rare_pairs.State, stream: Stream, ceiling: int) -> Estimates:
    """Return the pairs in the table whose tokens are both still rare."""
    taken = int(rare.table.taken[0])
    members, most = rare.members[:taken], rare.table.weights[:taken].astype(np.int64)
    missed = rare.missed[:taken].astype(np.int64)
    alone = np.stack([stream.counts_of(members[:, side]) for side in (0, 1)], axis=1)
    counts = np.maximum(most - missed, 0)
    most = np.maximum(np.minimum(most, stream.reach * alone.min(axis=1)), counts)
    listed = (alone.max(axis=1) <= ceiling) & (counts > 0)
    found = Estimates(
        members, counts, most, counts + MISSED * (most - counts), np.zeros(taken), np.ones(taken, np.bool_)
    )
    return found.where(listed)


def of_active(entries: Any, weights: np.ndarray, stream: Stream, ceiling: int) -> Estimates:
    """Return the pairs in the active set of the sketch, with weights (n,)."""
    taken = len(weights)
    members, counts = entries.members[:taken], entries.counts[:taken].astype(np.int64)
    known = counts - np.minimum(entries.uncounted[:taken], counts)
    alone = np.stack([stream.counts_of(members[:, side]) for side in (0, 1)], axis=1)
    exact = entries.uncounted[:taken] == 0
    most = np.where(exact, counts, np.maximum(stream.reach * alone.min(axis=1), counts))
    return Estimates(members, known, most, counts.astype(np.float64), weights, alone.max(axis=1) <= ceiling)
