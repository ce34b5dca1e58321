"""Linear discriminant analysis of several classes, online, over the members of the block.

Fisher (1936), "The Use of Multiple Measurements in Taxonomic Problems", Annals of Eugenics 7. Of each class k the mean
m_k of z and the sum n_k of importances are kept, of all together n = sum_k n_k and
    P = (3 I + the sum of (z - m)(z - m)', m of z's own class)^-1.
The score is that of normal distributions with one covariance,
    (n + 3) (V_k.z - q_k / 2) + log(n_k + 1/2),    V_k = P m_k,    q_k = m_k.V_k;
of a class without examples the first of the two is the mean of the others' by n_k / n.
An example z of weight w and class y changes, with t = z - m_y and f = w n_y / (n_y + w) before it,
    u = P t,  s = t.u,  a_k = V_k.t,  b = f / (1 + f s),  g = w / (n_y + w),
    P <- P - b u u',  V_k <- V_k - b a_k u,  q_k <- q_k - b a_k^2,
    q_y <- q_y + (2 g a_y + g^2 s) / (1 + f s),  V_y <- V_y + g u / (1 + f s),  m_y <- m_y + g t,  n_y <- n_y + w.
Like the block, it forgets: P, V and q are divided by 0.999, and n_k multiplied by it, as long as the diagonal of P lies
below 1/3.

From a few examples of a class a mean is known better than a weight is by following slopes (Ng & Jordan, 2002, "On
Discriminative vs. Generative Classifiers", NIPS 14): it is right sooner, and with more examples others are.
"""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ouzel.deferred import deferred
from ouzel.kernels.jit import force_inline, inline_source
from ouzel.layout import float64, require
from ouzel.learners.auto import newton_block
from ouzel.learners.auto.newton_block import EVERY, FURTHEST, KEPT, MEMBERS, MOST

if TYPE_CHECKING:
    from ouzel.learners import fading
else:
    fading = deferred("ouzel.learners.fading")  # with a half-life

PRIOR = 3.0  # the examples that the prior covariance, I, counts for
SMOOTHING = 0.5  # examples that each class has more
FURTHEST_MEAN = 8.0  # no z is as large


class Discriminant(NamedTuple):
    means: np.ndarray  # (128, K) float64  m_k, by place in the block; the constant has none
    weights: np.ndarray  # (128, K) float64  V_k
    norms: np.ndarray  # (K,) float64  q_k
    counts: np.ndarray  # (K,) float64  n_k
    inverse: np.ndarray  # (128, 128) float64  P; a member without a number of its own awaits the prior
    below: np.ndarray  # (1,) float64  whether the diagonal of P lies below the prior


def layout(classes: int) -> Any:
    """Layout of the discriminant for a number of classes."""
    most = MOST * FURTHEST_MEAN
    return Discriminant(
        means=float64(MOST, classes, least=-FURTHEST_MEAN, most=FURTHEST_MEAN),
        weights=float64(MOST, classes, least=-most, most=most),
        norms=float64(classes, least=-most * most, most=most * most),
        counts=float64(classes, least=0.0, most=FURTHEST),
        inverse=float64(MOST, MOST, least=-1.0, most=1.0),
        below=float64(1, least=0.0, most=1.0),
    )


def check(discriminant: Discriminant, members: float) -> None:
    """Refuse numbers of members that the block does not have."""
    size = int(members)
    outside = (discriminant.means[size:], discriminant.inverse[size:], discriminant.inverse[:, size:])
    require(not any(part.any() for part in outside), "the discriminant has members that the block has not")
    require((np.diagonal(discriminant.inverse) >= 0.0).all(), "the discriminant has variances below 0")


@inline_source
def score(discriminant, block, places, slots, values, centred, out):
    """Write the scores of an example to `out` (K,); they are 0 while the block rests, or nothing is learnt."""
    total = 0.0
    for c in range(len(out)):
        out[c] = 0.0
        total += discriminant.counts[c]
    if newton_block.worthwhile(block.totals) and total > 0.0:
        for k in range(len(slots)):
            place = np.int64(places[slots[k]]) - 1
            if place >= 0:
                for c in range(len(out)):
                    out[c] += discriminant.weights[place, c] * values[k]
        mean, norm = 0.0, 1.0 if centred else 0.0
        for c in range(len(out)):
            out[c] = (total + PRIOR) * (out[c] - 0.5 * norm * discriminant.norms[c])
            mean += discriminant.counts[c] / total * out[c]
        for c in range(len(out)):
            near = out[c] if discriminant.counts[c] > 0.0 else mean
            out[c] = near + norm * log(discriminant.counts[c] + SMOOTHING)


@inline_source
def learn(discriminant, block, places, work, target, weight, a):
    """Learn an example whose z are in `work.z`, by place, which is used up; `a` (K,) is room to work in."""
    members, classes, constant = np.int64(block.totals[MEMBERS]), len(discriminant.counts), np.int64(places[0]) - 1
    inverse, means, weights, norms = discriminant.inverse, discriminant.means, discriminant.weights, discriminant.norms
    t, u, chosen = work.z, work.v, work.chosen
    if constant >= 0:
        t[constant] = 0.0
    for place in range(members):
        if t[place] != 0.0 and inverse[place, place] == 0.0:
            inverse[place, place] = 1.0 / PRIOR
        t[place] -= means[place, target]
        u[place], chosen[place] = 0.0, place
    newton_block.multiply(inverse, chosen[:members], t, u[:members])
    s = newton_block.form_of(inverse, t[:members], u[:members])
    if s < 0.0:
        _restart(discriminant)
        return
    for c in range(classes):
        a[c] = 0.0
    for place in range(members):
        for c in range(classes):
            a[c] += weights[place, c] * t[place]
    count = discriminant.counts[target]
    f, g = weight * count / (count + weight), weight / (count + weight)
    rest, factor = 1.0 / (1.0 + f * s), 1.0 / KEPT if discriminant.below[0] > 0.0 else 1.0
    most = newton_block.subtract(inverse, u[:members], factor, factor * f * rest)
    discriminant.below[0] = 1.0 if most < 1.0 / PRIOR else 0.0
    for c in range(classes):
        norms[c] = factor * (norms[c] - f * rest * a[c] * a[c])
        discriminant.counts[c] /= factor
    norms[target] += factor * rest * g * (2.0 * a[target] + g * s)
    discriminant.counts[target] += weight
    for place in range(members):
        step = f * rest * u[place]
        for c in range(classes):
            weights[place, c] = factor * (weights[place, c] - step * a[c])
        weights[place, target] += factor * rest * g * u[place]
        means[place, target] += g * t[place]
    if block.totals[newton_block.SEEN] % EVERY == 0.0:
        _refresh(discriminant, members)


@inline_source
def _restart(discriminant):
    """Know nothing any more."""
    for c in range(len(discriminant.counts)):
        discriminant.norms[c] = discriminant.counts[c] = 0.0
    for i in range(MOST):
        for j in range(MOST):
            discriminant.inverse[i, j] = 0.0
        for c in range(len(discriminant.counts)):
            discriminant.means[i, c] = discriminant.weights[i, c] = 0.0


@force_inline
def _refresh(discriminant, members):
    """P made symmetric, and V and q worked out anew, lest rounding adds up."""
    inverse, means, weights = discriminant.inverse, discriminant.means, discriminant.weights
    for i in range(members):
        for j in range(i):
            inverse[j, i] = inverse[i, j]
    for c in range(len(discriminant.counts)):
        discriminant.norms[c] = 0.0
    for i in range(members):
        for c in range(len(discriminant.counts)):
            weights[i, c] = 0.0
        for j in range(members):
            for c in range(len(discriminant.counts)):
                weights[i, c] += inverse[i, j] * means[j, c]
        for c in range(len(discriminant.counts)):
            discriminant.norms[c] += weights[i, c] * means[i, c]


def refresh(discriminant: Discriminant) -> None:
    """V and q of P and m."""
    discriminant.weights[:] = discriminant.inverse @ discriminant.means
    discriminant.norms[:] = (discriminant.weights * discriminant.means).sum(axis=0)


def forget(discriminant: Discriminant, members: np.ndarray) -> None:
    """Know nothing about members any more; of the others P is the inverse of what is left of the matrix."""
    known = np.diagonal(discriminant.inverse) > 0.0
    gone = np.zeros(MOST, bool)
    gone[members] = True
    gone &= known
    if gone.any():
        here, inverse = np.ix_(gone, known & ~gone), discriminant.inverse
        beside = inverse[here]
        inverse[np.ix_(known & ~gone, known & ~gone)] -= beside.T @ np.linalg.solve(inverse[np.ix_(gone, gone)], beside)
        inverse[gone], inverse[:, gone] = 0.0, 0.0
    discriminant.means[members] = 0.0
    refresh(discriminant)


def rescale(
    discriminant: Discriminant, places: np.ndarray, slots: np.ndarray, factor: np.ndarray, part: np.ndarray
) -> None:
    """Have the means follow members that turn (`newton_block.rescale`): z is z' factor + part. Their P begins anew."""
    inside = (places[slots] > 0) & (factor > 0.0)
    members = places[slots[inside]].astype(np.int64) - 1
    moved = (discriminant.means[members] - part[inside, None]) / factor[inside, None] * (discriminant.counts > 0.0)
    forget(discriminant, places[slots[places[slots] > 0]].astype(np.int64) - 1)
    discriminant.means[members] = np.clip(moved, -FURTHEST_MEAN, FURTHEST_MEAN)
    discriminant.inverse[members, members] = 1.0 / PRIOR
    refresh(discriminant)


def fade(discriminant: Discriminant, kept: float) -> None:
    """Decay counts, and what P is the inverse of towards the prior."""
    known = np.flatnonzero(np.diagonal(discriminant.inverse) > 0.0)
    if len(known):
        here = np.ix_(known, known)
        discriminant.inverse[here] = fading.faded_covariance(discriminant.inverse[here], kept, 1.0 / PRIOR)
    discriminant.counts[:] *= kept
    refresh(discriminant)


def weights_of(discriminant: Discriminant) -> tuple[np.ndarray, np.ndarray]:
    """What z of each member is multiplied by, (128, K), and the constant's (K,), less what is the same for all classes.

    That is the mean by n_k / n, which a class without examples has: where columns drift, it is most of what there is.
    """
    total, counts = discriminant.counts.sum(), discriminant.counts
    if not total > 0.0:
        return np.zeros_like(discriminant.weights), np.zeros_like(counts)
    scale, seen = total + PRIOR, counts > 0.0
    weights, constant = scale * discriminant.weights, -0.5 * scale * discriminant.norms
    weights = (weights - (weights @ counts / total)[:, None]) * seen
    return weights, (constant - constant @ counts / total) * seen + np.log(counts + SMOOTHING)
