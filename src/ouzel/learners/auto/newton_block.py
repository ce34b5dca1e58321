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

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ouzel.deferred import deferred
from ouzel.kernels.jit import force_inline, inline_source
from ouzel.layout import float64, require, uint32
from ouzel.learners.auto.mixing import MOST_MEMBERS
from ouzel.learners.auto.simd import rank_one_update
from ouzel.learners.auto.standardisation import COUNT

if TYPE_CHECKING:
    from ouzel.learners import fading
else:
    fading = deferred("ouzel.learners.fading")  # with a half-life

MOST = MOST_MEMBERS
FREQUENT = 0.02
MUCH, FULL = 0.4, 0.5  # parts of the features that are members, and of the members that are present: either will do
PRIOR = 3.0
KEPT = 0.999
LEAST_CURVATURE = 1e-3
FURTHEST = 1e100  # no number of a file goes further: sums of products stay finite
ROUNDING = 1e-9  # of v.z, as a part of what it would be without correlations
SLACK = 1.0 + 1e-6
EVERY = 64  # examples
RESTING = 8  # examples, one of which is looked at while the block rests
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


def is_worthwhile(totals: Any) -> Any:
    """Whether the block holds much of the examples; what follows from it is known before the next one is seen."""
    return totals[PRESENT] >= MUCH * totals[ENTRIES] or totals[PRESENT] >= FULL * totals[MEMBERS] * totals[SEEN]


worthwhile = inline_source(is_worthwhile)


@inline_source
def admit(block, places, slots, moments, seen):
    """Let the frequent slots of an example join while there is room; their weights are 0, and predictions the same.

    Return how many of its features are members, and whether one more should be in the place of another (`replace`).
    """
    present, crowded, frequent = 0, False, FREQUENT * seen
    for k in range(len(slots)):
        slot = slots[k]
        if moments[slot, COUNT] >= frequent and places[slot] == 0:
            if block.totals[MEMBERS] < MOST:
                place = np.int64(block.totals[MEMBERS])
                block.slots[place] = slot
                block.totals[MEMBERS] += 1.0
                places[slot] = place + 1
            elif moments[slot, COUNT] > 2.0 * block.totals[LEAST]:  # as it was when last looked at
                block.totals[LEAST] = moments[block.slots[0], COUNT]
                for place in range(1, MOST):
                    block.totals[LEAST] = min(block.totals[LEAST], moments[block.slots[place], COUNT])
                crowded |= moments[slot, COUNT] > 2.0 * block.totals[LEAST]
        present += places[slot] > 0
    block.totals[PRESENT] += present
    block.totals[ENTRIES] += len(slots)
    block.totals[SEEN] += 1.0
    return present, crowded


def replace(block: Block, places: np.ndarray, slots: np.ndarray, moments: np.ndarray) -> None:
    """Where the block is full, let slots take the place of members half as frequent."""
    outside = np.unique(slots[places[slots] == 0])
    while block.totals[MEMBERS] >= MOST and len(outside):
        rarest = int(np.argmin(moments[block.slots, COUNT]))
        block.totals[LEAST] = moments[block.slots[rarest], COUNT]
        often = outside[moments[outside, COUNT] > 2.0 * block.totals[LEAST]]
        if not len(often):
            return
        places[block.slots[rarest]], places[often[0]], block.slots[rarest] = 0, rarest + 1, often[0]
        block.weights[rarest] = 0.0
        forget(block, [rarest])
        outside = often[1:]


def forget(block: Block, members: Any) -> None:
    """Know nothing about members any more: they get the prior when they are next seen."""
    block.covariance[members] = 0.0
    block.covariance[:, members] = 0.0


def rescale(block: Block, places: np.ndarray, slots: np.ndarray, factor: np.ndarray, part: np.ndarray) -> None:
    """Multiply the weights of the members among the slots that turn; the constant takes up a part of the old ones."""
    inside = places[slots] > 0
    members = places[slots[inside]].astype(np.int64) - 1
    if places[0]:
        block.weights[int(places[0]) - 1] += part[inside] @ block.weights[members]
    block.weights[members] *= factor[inside, None]
    forget(block, members)


@inline_source
def direct(block, work, places, slots, values, prior):
    """v = S z and s = v.z; s below 0 says that S is not a covariance, and nothing can be learnt by it.

    `work` takes z and v, by place. Members of the example that know nothing get the prior.
    """
    covariance, members, present = block.covariance, np.int64(block.totals[MEMBERS]), 0
    z, v, chosen = work.z, work.v, work.chosen
    for place in range(members):
        z[place] = v[place] = 0.0
    for k in range(len(slots)):
        place = np.int64(places[slots[k]]) - 1
        if place >= 0:
            z[place] = values[k]
            chosen[present] = place
            present += 1
            if not covariance[place, place] > 0.0:
                covariance[place, place] = prior
    multiply(covariance, chosen[:present], z, v[:members])
    return form_of(covariance, z[:members], v[:members])


@inline_source
def form_of(matrix, z, v):
    """z.v of v = matrix z; below 0 if they show that the matrix is not a covariance."""
    s = scale = 0.0
    for place in range(len(z)):
        s += v[place] * z[place]
        scale += matrix[place, place] * z[place] * z[place]
    slack = ROUNDING * scale
    sound = s >= -slack
    for place in range(len(z)):  # |v_i|^2 <= S_ii s, by Cauchy and Schwarz
        sound &= v[place] * v[place] <= matrix[place, place] * (s + slack) * SLACK
    return max(s, 0.0) if sound else -1.0


@inline_source
def shrink(block, v, curvature, s, prior):
    """S <- S - h / (1 + h s) v v', divided by 0.999 if it lies below the prior.

    What rounding makes of one triangle and of the other may differ, and forgetting would let the difference grow
    without end (Verhaegen, 1989, "Round-off Error Propagation in Four Generally-Applicable, Recursive, Least-Squares
    Estimation Schemes", Automatica 25): now and then the one is copied to the other.
    """
    covariance, members = block.covariance, np.int64(block.totals[MEMBERS])
    factor = 1.0 / KEPT if block.totals[BELOW] > 0.0 else 1.0
    most = subtract(covariance, v[:members], factor, factor * curvature / (1.0 + curvature * s))
    block.totals[BELOW] = 1.0 if most < prior else 0.0
    if block.totals[SEEN] % EVERY == 0.0:
        for i in range(members):
            for j in range(i):
                covariance[j, i] = covariance[i, j]


def fade(block: Block, kept: float, variance: float, counted: float) -> None:
    """Decay precisions towards the prior's; members' counts have become a part of what they were."""
    block.totals[LEAST] *= counted
    known = np.flatnonzero(np.diagonal(block.covariance) > 0.0)
    if len(known) and block.totals[PRESENT] > 0.0:
        here = np.ix_(known, known)
        prior = variance * block.totals[SEEN] / block.totals[PRESENT]
        block.covariance[here] = fading.faded_covariance(block.covariance[here], kept, prior)
    block.shares[...] *= kept
    block.totals[CURVATURE] *= kept


@inline_source
def restart(block):
    """Know nothing about any member."""
    for i in range(MOST):
        for j in range(MOST):
            block.covariance[i, j] = 0.0


@force_inline
def multiply(matrix, chosen, z, v):
    """v += matrix z, from the rows in which z is not 0, four at a time."""
    whole = len(chosen) // 4 * 4
    for k in range(0, whole, 4):
        i, j, m, n = chosen[k], chosen[k + 1], chosen[k + 2], chosen[k + 3]
        a, b, c, d = matrix[i], matrix[j], matrix[m], matrix[n]
        for place in range(len(v)):
            v[place] += z[i] * a[place] + z[j] * b[place] + z[m] * c[place] + z[n] * d[place]
    for k in range(whole, len(chosen)):
        i = chosen[k]
        for place in range(len(v)):
            v[place] += z[i] * matrix[i, place]


@force_inline
def subtract(matrix, v, factor, ratio):
    """matrix <- factor matrix - ratio v v'; the largest number on its diagonal."""
    most = 0.0
    rank_one_update(matrix, v, factor, ratio)
    for i in range(len(v)):
        most = max(most, matrix[i, i])
    return most
