"""Effects of columns beyond a straight line: curves of one column, and of pairs, learnt on what is left.

The linear models give each column of numbers one slope. Here every column has knots at quantiles: 4, 8, 16 and 32 of
them, finer ones as examples allow. Each knot has a weight w that starts at 0. Between two knots what counts goes evenly
by rank from one weight to the other (hat functions, or linear B-splines; de Boor, 1978, "A Practical Guide to
Splines"), in steps: a number that has passed r of the S steps from knot k to the next adds (1 - r / S) w_k + r / S
w_{k+1}. Pairs of columns have a weight for each pair of 8 knots, the first 45 also of 16, between which it goes
bilinearly. With the score m_0 of the linear models,
    m_1 = m_0 + sum of what columns add,    m_2 = m_1 + the same for pairs,
so m_1 is a generalised additive model and m_2 one with interactions (Lou, Caruana, Gehrke & Hooker, 2013, "Accurate
Intelligible Models with Pairwise Interactions", KDD), learnt in one pass: the weights of m_1 by the loss of m_1, those
of pairs by that of m_2. For F curves in a sum, the slope g of its loss and the part p of a weight that counts
(AdaGrad; Duchi et al., 2011, eq. (4)):
    s <- s + (p g)^2,    w <- w - rate p g / (F^0.75 sqrt(s + 0.03)).
A fourth score pools the three: u_0 m_0 + u_1 m_1 + u_2 m_2, with u by online Newton steps that forget (`mixing.py`), so
that effects count for more, or less, than they were learnt. The prediction is the mean of the four by the probabilities
they give, weighed by Fixed Share (`sharing.py`) from almost all on m_0: where the lines suffice, they are what is
believed. Numbers are learnt by any loss, in units of what m_0 leaves (`effect_slopes.py`), and pooled as differences
from m_0; their prediction is the mean of the four itself. To the rarer of two classes, with n_0 and n_1 the importance
of each so far, steps are max(1, |log((n_1 + 1) / (n_0 + 1))| / 2) times as long.

Knots and steps are numbers that occurred, and values are only compared with them: no increasing change of a column
matters. A value that is absent is 0. Which columns and pairs there are, and where knots lie, `effect_columns.py`
decides, by the slopes of pairs (`effect_slopes.py`).
"""

from __future__ import annotations

from math import exp, inf, log, sqrt
from typing import Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline, kernel
from ouzel.layout import float32, float64, int64, require, uint8, uint32
from ouzel.learners.auto import effect_slopes, mixing
from ouzel.learners.auto.effect_slopes import (
    BUCKETS,
    COLUMNS,
    HIGH,
    LOW,
    PAIRS,
    RESIDUALS,
    SLOPES,
    SQUARES,
    Pairs,
    bend_of,
    cost_of,
    note_number,
    note_slopes,
    slope_of,
)
from ouzel.learners.auto.mixing import Mixture, learn_joint_mixture, learn_mixture, softmax
from ouzel.learners.auto.sharing import LEAST, MOST_IMPORTANCE, MOST_WEIGHT, imbalance, logistic
from ouzel.learners.auto.simd import move_weights, sum_weights
from ouzel.sketches.hashing import finish_hash

KNOTS, STEPS = np.array([4, 8, 16, 32]), np.array([8, 8, 4, 2])  # of a column at each level; from one to the next
SHIFTS = np.log2(STEPS).astype(np.int64)  # a shift divides faster
LEVELS, MOST_EDGES = len(KNOTS), int(((KNOTS - 1) * STEPS).max())
CELLS_OF_COLUMNS = COLUMNS * np.cumsum([0, *KNOTS[:-1]])  # where those of each level begin
OF_PAIRS = np.cumsum([COLUMNS * KNOTS.sum(), *(PAIRS * KNOTS[:-1] ** 2)])
PAIRS_OF_LEVELS = np.array([0, PAIRS, 45, 0])  # pairs with cells at each level; 45 are all pairs of 10 columns
PAIRED = 1  # the first such level, and that of the slopes by which pairs are chosen
MOST_CELLS = 1 << 17
SAMPLE = 256  # examples of which numbers are kept
RATES, NUMBER_RATES = (0.35, 1.1), (0.3, 0.5)  # of columns, and of pairs
DAMPING = 0.03
BALANCED = 2.0  # log odds of two classes, up to which steps are as long as they are between classes of equal size
SCORES = 3  # that of the linear models; with columns; with pairs
EXPERTS = SCORES + 1  # and the one that pools them
FIRST = (0.97, 0.01, 0.01, 0.01)  # what they are believed at first
SHARED = (0.4, 0.2, 0.2, 0.2)  # how what is shared is parted
END = 8.0  # scores are cut there to be pooled; of several classes so far below the best
ALPHA = 0.002
SMALLEST = 1e-3  # slope that moves a weight
MOST_STRIDE = 2.0**40  # rows
FURTHEST = 1e38  # a weight: of single precision
TWO, SEVERAL, NUMBERS = range(3)  # what is predicted
NO_COUNTS = (0.0, 0.0)  # of two classes, where others are predicted
SEEN, COUNT, OFFERED, STRIDE, KEPT = range(5)  # places in `totals`, before those of numbers
OF_ONE, OF_TWO = range(2)  # places in `opened`


class Effects(NamedTuple):
    columns: np.ndarray  # (64,) uint32  slots of the columns
    column_of: np.ndarray  # (d,) uint8  which column a slot is, from 1; 0 for none
    edges: np.ndarray  # (4, 64, 62) float32  steps from knot to knot, rising, infinite behind the last
    opened: np.ndarray  # (2, 4) int64  how many columns, and how many pairs, have cells at each level
    sample: np.ndarray  # (256, 64) float32  values of the sampled rows
    cells: np.ndarray  # (N, 2, K) float32  weights and sums of squared slopes of each knot and pair of knots
    beliefs: np.ndarray  # (3,) float64
    pooled: np.ndarray  # (1,) float64  how far the pool of the three is believed
    pool: Mixture  # of the three
    pairs: Pairs
    totals: np.ndarray  # (9,) float64  rows learnt; columns; rows offered to the sample, its stride, rows in it; of
    # numbers to predict the importance and squares of what the lines leave, the smallest, the largest; by another loss
    # than the squared one (10,), the last the squares of its slopes


def layout(dimension: int, classes: int, budget: float, totals: int = 9) -> Any:
    """The layout of effects of columns: `dimension` slots, and cells for `classes` in at most `budget` bytes.

    There are 9 `totals`, or 10 where numbers are predicted by another loss than the squared one.
    """
    cells = min(MOST_CELLS, int(budget) // (8 * classes))
    return Effects(
        columns=uint32(COLUMNS, most=max(dimension - 1, 0)),
        column_of=uint8(dimension, most=COLUMNS),
        edges=float32(LEVELS, COLUMNS, MOST_EDGES, fill=inf, finite=False),
        opened=int64(2, LEVELS, most=PAIRS),
        sample=float32(SAMPLE, COLUMNS),
        cells=float32(cells, 2, classes),
        beliefs=float64(SCORES, fill=1.0 / SCORES, least=0.0, most=1.0),
        pooled=float64(1, least=0.0, most=1.0),
        pool=mixing.layout(SCORES),
        pairs=effect_slopes.layout(),
        totals=float64(totals, least=(*(0.0,) * 7, -inf, -inf, 0.0)[:totals]),
    )


def check(effects: Effects) -> None:
    """Refuse effects whose parts do not fit each other."""
    count, known = int(effects.totals[COUNT]), np.flatnonzero(effects.column_of)
    require(count <= COLUMNS and effects.totals[KEPT] <= SAMPLE, "effects have more columns or samples than fit")
    stride = effects.totals[STRIDE]
    sound = stride == 0.0 or (1.0 <= stride <= MOST_STRIDE and np.frexp(stride)[0] == 0.5)
    require(sound, "the sampling stride of effects is not a power of two")
    fits = len(known) == count and np.array_equal(effects.column_of[effects.columns[:count]], np.arange(1, count + 1))
    require(fits, "columns of effects do not fit their slots")
    require((effects.cells[:, 1] >= 0.0).all(), "effects have sums of squares below 0")
    require((effects.opened[OF_ONE] <= count).all(), "effects have cells of columns that do not exist")
    effect_slopes.check(effects.pairs, int(effects.opened[OF_TWO].max()), count)
    mixing.check(effects.pool)


def fade(effects: Effects, kept: float) -> None:
    """Decay the sums of squares."""
    effects.cells[:, 1] *= np.float32(kept)
    effects.totals[[RESIDUALS, SQUARES]] *= kept
    effects.totals[SLOPES:] *= kept
    effect_slopes.fade(effects.pairs, kept)


@force_inline
def is_due(seen):
    """Whether columns and edges are looked at behind so many examples: 16, 32, 64 and so on."""
    whole = np.int64(seen)
    return whole >= 16 and (whole & (whole - 1)) == 0


@force_inline
def note_example(effects):
    """Count an example that is learnt; return whether columns and edges are to be looked at behind it."""
    effects.totals[SEEN] += 1.0
    return len(effects.cells) > 0 and is_due(effects.totals[SEEN])


@force_inline
def _read(effects, indices, values, x):
    """Write the numbers of the columns in a row to `x` (64,), 0 where it has none."""
    for c in range(np.int64(effects.totals[COUNT])):
        x[c] = 0.0
    for k in range(len(indices)):
        column = effects.column_of[indices[k]]
        if column > 0:
            x[column - 1] = values[k]


@force_inline
def _passed(edges, size, number):
    """How many of the edges are not above a number."""
    above = np.int32(0)
    for j in range(size):
        above = np.int32(above + np.int32(edges[j] <= number))  # several at a time
    return np.int64(above)


@force_inline
def _put(room, count, most, place, first, second):
    """Write two neighbouring cells, and what parts of their weights count, behind `count` others; return how many."""
    room.at[count], room.parts[count, 0], room.parts[count, 1] = place, first, second
    return count + np.int64(place + 1 < most)


@force_inline
def _find(effects, room):
    """Write where the numbers of a row lie among knots, and the cells of those, to `room`."""
    count, most, one = 0, len(effects.cells), np.float32(1.0)
    room.counts[:] = 0
    for level in range(LEVELS):
        size, shift = KNOTS[level], SHIFTS[level]
        step = one / np.float32(1 << shift)
        for c in range(effects.opened[OF_ONE, level]):
            if effects.pairs.two_valued[c] > 0:  # the second is the one knot behind the first, at each level
                room.knots[level, c] = np.int64(room.x[c] >= effects.edges[level, c, 0])
                room.shares[level, c] = 0.0
                continue
            passed = _passed(effects.edges[level, c], (size - 1) << shift, room.x[c])
            knot = min(passed >> shift, size - 2)
            share = np.float32(passed - (knot << shift)) * step
            room.knots[level, c], room.shares[level, c] = knot, share
            count = _put(room, count, most, CELLS_OF_COLUMNS[level] + c * size + knot, one - share, share)
            room.counts[OF_ONE] += 1
    room.ends[OF_ONE] = count
    for level in range(LEVELS):
        size = KNOTS[level]
        for pair in range(effects.opened[OF_TWO, level]):
            first, second = effects.pairs.columns[pair, 0], effects.pairs.columns[pair, 1]
            if level > PAIRED and effects.pairs.two_valued[first] + effects.pairs.two_valued[second] == 2:
                continue
            place = OF_PAIRS[level] + (pair * size + room.knots[level, first]) * size + room.knots[level, second]
            a, b = room.shares[level, first], room.shares[level, second]
            count = _put(room, count, most, place, (one - a) * (one - b), (one - a) * b)
            count = _put(room, count, most, place + size, a * (one - b), a * b)
            room.counts[OF_TWO] += 1
    room.ends[OF_TWO] = count


@force_inline
def _add(cells, at, parts, before, scores):
    """Write the scores before and the weights of some cells, as far as they count, to `scores` (K,)."""
    if len(scores) == 1:
        scores[0] = before[0] + sum_weights(cells, at, parts)
        return
    for c in range(len(scores)):
        scores[c] = before[c]
    for k in range(len(at)):
        for side in range(2):
            part, weights = parts[k, side], cells[at[k] + side, 0]
            for c in range(len(scores) if part > 0.0 else 0):
                scores[c] += part * weights[c]


@force_inline
def _pool(effects, kind, scores, margins):
    """Write the score that pools the others behind them; `margins` (3, K) take the scores as they are pooled."""
    for e in range(SCORES):
        best = scores[e, 0]
        for c in range(scores.shape[1]):
            best = max(best, scores[e, c])
        for c in range(scores.shape[1]):
            if kind == NUMBERS:
                margins[e, c] = scores[e, c] - scores[0, c]
            elif kind == TWO:
                margins[e, c] = min(max(scores[e, c], -END), END)
            else:
                margins[e, c] = max(scores[e, c] - best, -END)
    for c in range(scores.shape[1]):
        total = scores[0, c] if kind == NUMBERS else 0.0
        for e in range(SCORES):
            total += effects.pool.weights[e] * margins[e, c]
        scores[SCORES, c] = total


@force_inline
def _predict_row(effects, kind, out, room):
    """Replace the linear models' prediction in `out` by that of all."""
    scores, chances, believed = room.scores, room.chances, room.believed
    classes = scores.shape[1]
    _find(effects, room)
    bound, end = room.ends
    for c in range(classes):
        scores[0, c] = out[1] - out[0] if kind == TWO else out[c]
    _add(effects.cells, room.at[:bound], room.parts[:bound], scores[0], scores[1])
    _add(effects.cells, room.at[bound:end], room.parts[bound:end], scores[1], scores[2])
    for e in range(SCORES):
        believed[e] = effects.beliefs[e]
    believed[SCORES] = effects.pooled[0]
    if kind == NUMBERS:
        for e in range(1, SCORES):
            scores[e, 0] = min(max(scores[e, 0], effects.totals[LOW]), effects.totals[HIGH])
    _pool(effects, kind, scores, room.margins)
    if kind == NUMBERS:
        scores[SCORES, 0] = min(max(scores[SCORES, 0], effects.totals[LOW]), effects.totals[HIGH])
        out[0] = 0.0
        for e in range(EXPERTS):
            out[0] += believed[e] * scores[e, 0]
        return
    if kind == TWO:
        yes = no = 0.0
        for e in range(EXPERTS):
            chances[e, 0], rest = logistic(scores[e, 0])
            yes += believed[e] * chances[e, 0]
            no += believed[e] * rest
        out[0], out[1] = 0.0, log(max(yes, LEAST)) - log(max(no, LEAST))
        return
    for e in range(EXPERTS):
        softmax(scores[e], chances[e])
    for c in range(classes):
        share = 0.0
        for e in range(EXPERTS):
            share += believed[e] * chances[e, c]
        out[c] = log(max(share, LEAST))


@force_inline
def _believe(effects, kind, loss, room, target, weight, unit, scale):
    """Have the beliefs learn who gave what came the larger probability."""
    scores, chances, believed, total = room.scores, room.chances, room.believed, 0.0
    for e in range(EXPERTS):
        if kind == NUMBERS:
            cost = 0.25 * weight * cost_of(loss, scores[e, 0], scores[0, 0], target, unit, scale)
            likely = exp(-min(max(cost, -50.0), 50.0))
        else:
            chance = chances[e, 0 if kind == TWO else np.int64(target)]
            if kind == TWO and not target > 0.0:
                _, chance = logistic(scores[e, 0])
            likely = max(chance, 1e-9) ** weight
        believed[e] *= likely
        total += believed[e]
    for e in range(EXPERTS):
        believed[e] = (1.0 - ALPHA) * believed[e] / total + ALPHA * SHARED[e]
    for e in range(SCORES):
        effects.beliefs[e] = believed[e]
    effects.pooled[0] = believed[SCORES]


@force_inline
def _learn_pool(effects, kind, loss, room, target, weight, unit, scale):
    """A Newton step of the pool: of the loss of numbers in units, the logistic or the multinomial loss."""
    pool, margins, root, step = effects.pool, room.margins, room.root, room.step
    if kind == SEVERAL:
        learn_joint_mixture(pool, margins, root, step, room.direction, room.chances[SCORES], np.int64(target), weight)
        return
    if kind == NUMBERS:
        for e in range(SCORES):
            margins[e, 0] = min(max(margins[e, 0] / unit, -END), END)
        score = room.scores[SCORES, 0]
        slope, bend = slope_of(loss, score, target, scale), bend_of(loss, score, target, unit, scale)
    else:
        yes, no = logistic(room.scores[SCORES, 0])
        slope, bend = yes - (target > 0.0), yes * no
    learn_mixture(pool, margins[:, 0], root, step, weight * slope, weight * bend)


@force_inline
def _move(cells, at, parts, slopes, some, step):
    """A step of AdaGrad down the slopes (K,) float32 for the weights of some cells, and of the classes `some`."""
    damping = np.float32(DAMPING)
    if cells.shape[2] == 1:
        move_weights(cells, at[: len(at) if len(some) else 0], parts, slopes[0], step, damping)
        return
    for k in range(len(at)):
        for side in range(2):
            part, weights, squares = parts[k, side], cells[at[k] + side, 0], cells[at[k] + side, 1]
            for c in some[: len(some) if part > 0.0 else 0]:
                slope = part * slopes[c]
                squares[c] += slope * slope
                weights[c] -= step * slope / np.sqrt(squares[c] + damping)


@force_inline
def _is_second(block, size):
    """Return 1 if the sampled row of a block of rows lies in its second half: a hash bit of the block's midpoint."""
    middle = block * size + size // 2
    return np.int64(finish_hash(np.uint32(middle & 0xFFFFFFFF), 0, middle >> 32) >> np.uint32(31))


@force_inline
def _is_sample(number, stride):
    """Whether a row is sampled: one in each block of `stride` rows. Rows of a longer stride are rows of a shorter."""
    size = stride
    while size > 1:
        half = size // 2
        if number // half % 2 != _is_second(number // size, size):
            return False
        size = half
    return True


@force_inline
def _sample(effects, x):
    """Sample one random row of every `stride` rows; double the stride when the sample is full."""
    totals, sample, columns = effects.totals, effects.sample, np.int64(effects.totals[COUNT])
    number, stride = np.int64(totals[OFFERED]), max(np.int64(totals[STRIDE]), 1)
    if totals[KEPT] >= SAMPLE and _is_sample(number, stride):
        stride *= 2
        for i in range(SAMPLE // 2):
            kept = 2 * i + _is_second(i, stride)
            for c in range(columns):
                sample[i, c] = sample[kept, c]
        totals[KEPT], totals[STRIDE] = SAMPLE // 2, stride
    if _is_sample(number, stride):
        for c in range(columns):
            sample[np.int64(totals[KEPT]), c] = x[c]
        totals[KEPT] += 1.0
    totals[OFFERED] += 1.0


@force_inline
def rescale(effects, unit, low, high):
    """Multiply weights and residuals by new unit / old unit, and set the range of labels."""
    for place in range(len(effects.cells)):
        weight = effects.cells[place, 0, 0] * unit
        effects.cells[place, 0, 0] = np.float32(min(max(weight, -FURTHEST), FURTHEST))
    effects.totals[SQUARES] *= unit * unit
    effects.totals[LOW], effects.totals[HIGH] = low, high


@force_inline
def _learn_row(effects, kind, loss, target, weight, unit, scale, room, slopes, some):
    """A step of the beliefs, and of the weights of a row's cells."""
    scores, chances, first = room.scores, room.chances, 0
    _believe(effects, kind, loss, room, target, min(weight, MOST_WEIGHT), unit, scale)
    _learn_pool(effects, kind, loss, room, target, min(weight, MOST_WEIGHT), unit, scale)
    for e in range(1, SCORES):
        rate, last, count = (NUMBER_RATES if kind == NUMBERS else RATES)[e - 1], room.ends[e - 1], 0
        many = np.float64(max(room.counts[e - 1], 1))
        step = rate * unit / sqrt(many * sqrt(many))
        for c in range(scores.shape[1]):
            if kind == NUMBERS:
                slope = slope_of(loss, scores[e, 0], target, scale)
            else:
                slope = chances[e, c] - (target == c if kind == SEVERAL else target > 0.0)
            slopes[c] = weight * slope
            some[count] = c
            count += abs(slope) > SMALLEST
        _move(effects.cells, room.at[first:last], room.parts[first:last], slopes, some[:count], np.float32(step))
        first = last


class Room(NamedTuple):
    """Room to work in, for one example."""

    x: np.ndarray  # (64,) float32  numbers of columns
    knots: np.ndarray  # (4, 64) int64  which knots they have reached
    shares: np.ndarray  # (4, 64) float32  how far they are on the way to the next
    at: np.ndarray  # (n,) int64  cells, each with the next one
    parts: np.ndarray  # (n, 2) float32  of the weights of these that count
    counts: np.ndarray  # (2,) int64  columns, and pairs, with cells, at all levels
    ends: np.ndarray  # (2,) int64  where the cells of columns end, and those of pairs
    scores: np.ndarray  # (4, K) float64
    chances: np.ndarray  # (4, K) float64
    margins: np.ndarray  # (3, K) float64  scores as they are pooled
    believed: np.ndarray  # (4,) float64
    direction: np.ndarray  # (3,) float64  slope of the pool's loss
    step: np.ndarray  # (3,) float64  of the pool
    root: np.ndarray  # (3, 3) float64  of the pool's curvature
    deviations: np.ndarray  # (64,) float32  of columns from their means
    buckets: np.ndarray  # (4,) float32  slopes of classes


@kernel
def _room(effects):
    classes, cells, numbers = effects.cells.shape[2], LEVELS * (COLUMNS + 2 * PAIRS) + 1, np.zeros((6, EXPERTS))
    x, deviations = np.zeros((2, COLUMNS), np.float32)
    scores, chances, margins = np.zeros((3, EXPERTS, classes))
    knots, shares = np.zeros((LEVELS, COLUMNS), np.int64), np.zeros((LEVELS, COLUMNS), np.float32)
    at, parts, (counts, ends) = np.zeros(cells, np.int64), np.zeros((cells, 2), np.float32), np.zeros((2, 2), np.int64)
    direction, step, root = numbers[1, :SCORES], numbers[2, :SCORES], numbers[3 : 3 + SCORES, :SCORES]
    pooled = numbers[0], direction, step, root, deviations, np.zeros(BUCKETS, np.float32)
    return Room(x, knots, shares, at, parts, counts, ends, scores, chances, margins[:SCORES], *pooled)


@kernel
def learn_effects(effects, rows, start, last, targets, importances, kind, loss, out, counts):
    """Learn rows `start` to `last`, or to the end; `out` (n, K) has what the lines predicted, and takes what all do.

    The loss is that of numbers; classes learn by the logistic, or the multinomial loss, whatever it says. `counts` are
    the importance of the examples of each of two classes before.
    """
    totals, (first, second) = effects.totals, counts
    if totals[COUNT] == 0.0:
        return
    room, classes = _room(effects), effects.cells.shape[2]
    slopes, some = np.zeros(classes, np.float32), np.zeros(classes + 1, np.int64)
    for i in range(start, min(last + 1, len(out))):
        here = slice(rows.offsets[i], rows.offsets[i + 1])
        _read(effects, rows.indices[here], rows.values[here], room.x)
        target, weight, line = np.float64(targets[i]), min(np.float64(importances[i]), MOST_IMPORTANCE), out[i, 0]
        unit, scale, is_open = 1.0, 1.0, effects.opened[OF_ONE, 0] > 0
        if is_open:
            _predict_row(effects, kind, out[i], room)
        if kind == NUMBERS and weight > 0.0:
            unit, scale = note_number(totals, loss, line, target, weight)
        if kind == TWO and weight > 0.0:
            first, second = (first, second + weight) if target > 0.0 else (first + weight, second)
            unit = imbalance(first, second, BALANCED)
        if is_open and weight > 0.0 and unit > 0.0 and scale > 0.0:
            _learn_row(effects, kind, loss, target, weight, unit, scale, room, slopes, some)
            count, knots, shares = effects.opened[OF_ONE, PAIRED], room.knots[PAIRED], room.shares[PAIRED]
            note_slopes(effects.pairs, knots, shares, count, slopes, room.deviations, room.buckets)
        if weight > 0.0:
            _sample(effects, room.x)


@kernel
def predict_effects(effects, rows, kind, out):
    """Replace what the linear models predict of rows, in `out` (n, K), by what all do."""
    if effects.opened[OF_ONE, 0] == 0:
        return
    room = _room(effects)
    for i in range(len(out)):
        here = slice(rows.offsets[i], rows.offsets[i + 1])
        _read(effects, rows.indices[here], rows.values[here], room.x)
        _predict_row(effects, kind, out[i], room)
