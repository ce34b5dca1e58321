"""Second-order logistic regression, of two classes or several, over the most frequent features of a stream.

With p the softmax of the scores W'z (the logistic function, if there is one column), d_k = p_k - [k is true] and the
curvature h_k = max((p_k (1 - p_k) + d_k^2) / 2, 0.001 / K), h their sum, all classes share one covariance S:
    v = S z,  s = v.z,  b_k = B_k / H,    w_k <- w_k - d_k v / (b_k + h_k s),
    S <- S - h / (1 + h s) v v',    B_k <- B_k + h_k,  H <- H + h,
where b_k is the part of a class in the curvature so far. S forgets: it is divided by 0.999 as long as its diagonal lies
below the prior, 3 / the mean number of members in an example. This is the online Newton step (Hazan, Agarwal & Kale,
2007, "Logarithmic Regret Algorithms for Online Convex Optimization", Machine Learning 69) with the mean of Fisher's
curvature and the square of the gradient.

The block has at most 128 members: the constant, and slots that are found in 2 % of the examples or more. Where it is
full a slot that is twice as frequent as the least frequent member takes its place. Where members are few of the
features of the examples and rarely present, as with text, the block is `worthwhile` no more: it rests, and its scores
are 0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline, kernel
from ouzel.layout import float64, require, uint32
from ouzel.learners.auto.standardisation import COUNT

MOST = 128
FREQUENT = 0.02
MUCH, FULL = 0.4, 0.5  # parts of the features that are members, and of the members that are present: either will do
PRIOR = 3.0
KEPT = 0.999
LEAST_CURVATURE = 1e-3
FURTHEST = 1e100  # no number of a file goes further: sums of products stay finite
MEMBERS, CURVATURE, PRESENT, SEEN, LEAST, BELOW, ENTRIES = range(7)  # places of `totals`


class Block(NamedTuple):
    slots: np.ndarray  # (128,) uint32  members by place
    weights: np.ndarray  # (128, K) float64  W
    covariance: np.ndarray  # (128, 128) float64  S; a member without a number of its own awaits the prior
    shares: np.ndarray  # (K,) float64  B_k
    totals: np.ndarray  # (7,) float64  members, H, members present, examples, least count, is S below, features


def layout(columns: int, dimension: int) -> Any:
    """What the block of a model of so many scores is made of."""
    return Block(
        slots=uint32(MOST, most=dimension - 1),
        weights=float64(MOST, columns, least=-FURTHEST, most=FURTHEST),
        covariance=float64(MOST, MOST, least=-FURTHEST, most=FURTHEST),
        shares=float64(columns, fill=1.0 / columns, least=0.0),
        totals=float64(7, least=0.0, most=(MOST, *(np.inf,) * 6)),
    )


def check(block: Block, places: np.ndarray) -> None:
    """Refuse members that the places (d,) of slots do not name, each once."""
    members = np.flatnonzero(places)
    require(len(members) == block.totals[MEMBERS], "places do not number the members of the block")
    order = places[members].astype(np.int64) - 1
    require(np.array_equal(np.sort(order), np.arange(len(members))), "places name a member of the block twice")
    require((block.slots[order] == members).all(), "the block's slots do not fit their places")


@force_inline
def worthwhile(block):
    """Whether the block holds much of the examples; what follows from it is known before the next one is seen."""
    totals = block.totals
    return totals[PRESENT] >= MUCH * totals[ENTRIES] or totals[PRESENT] >= FULL * totals[MEMBERS] * totals[SEEN]


@force_inline
def count_members(block, places, slots):
    """Note how many of an example's features are members; their number."""
    present = 0
    for k in range(len(slots)):
        present += places[slots[k]] > 0
    block.totals[PRESENT] += present
    block.totals[ENTRIES] += len(slots)
    block.totals[SEEN] += 1.0
    return present


@force_inline
def admit(block, places, slots, moments, seen):
    """Let the frequent slots of an example join while there is room; their weights are 0, and predictions the same."""
    for k in range(len(slots)):
        slot = slots[k]
        if places[slot] == 0 and block.totals[MEMBERS] < MOST and moments[slot, COUNT] >= FREQUENT * seen:
            place = np.int64(block.totals[MEMBERS])
            block.slots[place] = slot
            block.totals[MEMBERS] += 1.0
            places[slot] = place + 1


@force_inline
def replace(block, places, slots, moments):
    """Where the block is full, let slots take the place of members half as frequent."""
    if block.totals[MEMBERS] < MOST:
        return
    for k in range(len(slots)):
        count = moments[slots[k], COUNT]
        if count <= 2.0 * block.totals[LEAST] or places[slots[k]] != 0:
            continue
        rarest = 0
        for place in range(MOST):
            if moments[block.slots[place], COUNT] < moments[block.slots[rarest], COUNT]:
                rarest = place
        block.totals[LEAST] = moments[block.slots[rarest], COUNT]
        if count > 2.0 * block.totals[LEAST]:
            places[block.slots[rarest]] = 0
            places[slots[k]] = rarest + 1
            block.slots[rarest] = slots[k]
            for c in range(block.weights.shape[1]):
                block.weights[rarest, c] = 0.0
            forget(block, rarest)


@force_inline
def forget(block, place):
    """Know nothing about a member any more: it gets the prior when it is next seen."""
    for other in range(np.int64(block.totals[MEMBERS])):
        block.covariance[place, other] = 0.0
        block.covariance[other, place] = 0.0


@force_inline
def rescale(block, places, slot, factor, part):
    """Multiply a member's weights as its feature turns; the constant takes up a part of the old ones."""
    place, home = np.int64(places[slot]) - 1, np.int64(places[0]) - 1
    if place < 0:
        return
    for c in range(block.weights.shape[1]):
        if home >= 0:
            block.weights[home, c] += part * block.weights[place, c]
        block.weights[place, c] *= factor
    forget(block, place)


@force_inline
def gather(block, work, places, slots, values):
    """Write z of all members, 0 for those not present, to `work.z`; the places of those present to `work.chosen`."""
    present = 0
    for place in range(np.int64(block.totals[MEMBERS])):
        work.z[place] = 0.0
    for k in range(len(slots)):
        place = np.int64(places[slots[k]])
        if place > 0:
            work.z[place - 1] = values[k]
            work.chosen[present] = place - 1
            present += 1


@force_inline
def prior_of(block, places, slots, variance):
    """The prior, a variance over the mean number of members present; members of the example that have none get it."""
    prior = variance * block.totals[SEEN] / block.totals[PRESENT]
    for k in range(len(slots)):
        place = np.int64(places[slots[k]]) - 1
        if place >= 0 and not block.covariance[place, place] > 0.0:
            block.covariance[place, place] = prior
    return prior


@force_inline
def direct(block, work, present):
    """v = S z, to `work.v`, of so many members present; s = v.z"""
    members = np.int64(block.totals[MEMBERS])
    _multiply(block.covariance, work.chosen[:present], work.z, work.v[:members])
    s = 0.0
    for j in range(members):
        s += work.v[j] * work.z[j]
    return max(s, 0.0)  # below only by rounding


@force_inline
def shrink(block, work, curvature, s, prior):
    """S <- S - h / (1 + h s) v v', divided by 0.999 if it lies below the prior."""
    factor = 1.0 / KEPT if block.totals[BELOW] > 0.0 else 1.0
    ratio = factor * curvature / (1.0 + curvature * s)
    most = _subtract(block.covariance, work.v[: np.int64(block.totals[MEMBERS])], factor, ratio)
    block.totals[BELOW] = 1.0 if most < prior else 0.0


@kernel
def _multiply(matrix, chosen, z, v):
    """v = matrix z, from the rows in which z is not 0, four at a time."""
    for j in range(len(v)):
        v[j] = 0.0
    k = 0
    while k + 4 <= len(chosen):
        a, b, c, d = matrix[chosen[k]], matrix[chosen[k + 1]], matrix[chosen[k + 2]], matrix[chosen[k + 3]]
        one, two, three, four = z[chosen[k]], z[chosen[k + 1]], z[chosen[k + 2]], z[chosen[k + 3]]
        for j in range(len(v)):
            v[j] += one * a[j] + two * b[j] + three * c[j] + four * d[j]
        k += 4
    while k < len(chosen):
        factor, row = z[chosen[k]], matrix[chosen[k]]
        for j in range(len(v)):
            v[j] += factor * row[j]
        k += 1


@kernel
def _subtract(matrix, v, factor, ratio):
    """matrix <- factor matrix - ratio v v'; the largest number on its diagonal."""
    most = 0.0
    for i in range(len(v)):
        row, step = matrix[i], ratio * v[i]
        for j in range(len(v)):
            row[j] = factor * row[j] - step * v[j]
        most = max(most, row[i])
    return most


def merged(
    parts: list[Block], places: list[np.ndarray], counts: np.ndarray, share: np.ndarray, variance: float = PRIOR
) -> Block:
    """The block of the most frequent of all workers' members; weights are averaged by share, precisions add up.

    Weights are in the units of the merged moments already; `counts` (d,) are those of all workers.
    """
    whole = Block(*(array.copy() for array in parts[0]))
    members = np.unique(np.concatenate([np.flatnonzero(place) for place in places]))
    members = np.sort(members[np.argsort(-counts[members], kind="stable")[:MOST]])
    whole.weights[:], whole.covariance[:], whole.slots[:] = 0.0, 0.0, 0
    whole.slots[: len(members)] = members
    precision = np.zeros((len(members), len(members)))
    for part, place, weight in zip(parts, places, share, strict=True):
        mine = place[members].astype(np.int64) - 1
        there = mine >= 0
        whole.weights[: len(members)][there] += weight * part.weights[mine[there]]
        if part.totals[PRESENT] > 0.0:
            prior = variance * part.totals[SEEN] / part.totals[PRESENT]
            known = there & (part.covariance[mine, mine] > 0.0)
            covariance = np.diag(np.where(known, 0.0, prior))
            covariance[np.ix_(known, known)] = part.covariance[np.ix_(mine[known], mine[known])]
            precision += np.linalg.pinv(covariance, hermitian=True)
    if precision.any():
        whole.covariance[: len(members), : len(members)] = np.linalg.pinv(precision, hermitian=True)
    whole.shares[:] = np.sum([part.shares for part in parts], axis=0)
    whole.totals[:] = np.sum([part.totals for part in parts], axis=0)
    whole.totals[MEMBERS] = len(members)
    whole.totals[LEAST] = counts[members].min() if len(members) == MOST else 0.0
    whole.totals[BELOW] = max(part.totals[BELOW] for part in parts)
    return whole
