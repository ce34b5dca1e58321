"""Effects of columns beyond a straight line: step functions of one column, and of pairs, learnt on what is left.

The linear models give each column of numbers one slope. Here every column is split at quantiles into 4, 8, 16 and 32
bins, finer ones as examples allow, and so are pairs of columns. A bin, or a pair of bins, has a weight w that
starts at 0: with the score m_0 of the linear models,
    m_1 = m_0 + sum of the w of the bins that the columns are in,    m_2 = m_1 + the same for pairs,
so m_1 is a generalised additive model and m_2 one with interactions (Lou, Caruana, Gehrke & Hooker, 2013, "Accurate
Intelligible Models with Pairwise Interactions", KDD), learnt in one pass: the weights of m_1 by the loss of m_1, those
of pairs by that of m_2. For F weights in a sum and the slope g of its loss (AdaGrad; Duchi et al., 2011, eq. (4)):
    s <- s + g^2,    w <- w - rate g / (F^0.75 sqrt(s + 0.03)).
A fourth score pools the three: u_0 m_0 + u_1 m_1 + u_2 m_2, with u by online Newton steps that forget (`mixing.py`), so
that effects count for more, or less, than they were learnt. The prediction is the mean of the four by the probabilities
they give, weighed by Fixed Share (`sharing.py`) from almost all on m_0: where the lines suffice, they are what is
believed. Numbers are learnt by any loss, in units of what m_0 leaves (`effect_slopes.py`), and pooled as differences
from m_0; their prediction is the mean of the four itself.

Edges are numbers that occurred, and values are only compared with them: no monotone change of a column matters. A
value that is absent is 0. Which columns and pairs there are, and where edges lie, `effect_columns.py` decides, by the
slopes of pairs (`effect_slopes.py`).
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
from ouzel.learners.auto.sharing import LEAST, MOST_IMPORTANCE, MOST_WEIGHT, logistic
from ouzel.sketches.hashing import finish_hash

BINS = np.array([4, 8, 16, 32])  # of a column at each level
LEVELS, MOST_BINS = len(BINS), 32
CELLS_OF_BINS = COLUMNS * np.cumsum([0, *BINS[:-1]])  # where those of each level begin
OF_PAIRS = np.cumsum([COLUMNS * BINS.sum(), *(PAIRS * BINS[:-1] ** 2)])
MOST_CELLS = 1 << 17
SAMPLE = 256  # examples of which numbers are kept
RATES, NUMBER_RATES = (0.35, 1.1), (0.3, 0.3)  # of bins, and of pairs
DAMPING = 0.03
SCORES = 3  # that of the linear models; with bins; with pairs
EXPERTS = SCORES + 1  # and the one that pools them
FIRST = (0.97, 0.01, 0.01, 0.01)  # what they are believed at first
SHARED = (0.4, 0.2, 0.2, 0.2)  # how what is shared is parted
END = 8.0  # scores are cut there to be pooled; of several classes so far below the best
ALPHA = 0.002
SMALLEST = 1e-3  # slope that moves a weight
MOST_STRIDE = 2.0**40  # rows
FURTHEST = 1e38  # a weight: of single precision
TWO, SEVERAL, NUMBERS = range(3)  # what is predicted
SEEN, COUNT, OFFERED, STRIDE, KEPT = range(5)  # places in `totals`, before those of numbers
OF_BINS, OF_TWO = range(2)  # places in `opened`


class Effects(NamedTuple):
    columns: np.ndarray  # (64,) uint32  slots of the columns
    column_of: np.ndarray  # (d,) uint8  which column a slot is, from 1; 0 for none
    edges: np.ndarray  # (4, 64, 31) float32  rising, infinite behind the last
    opened: np.ndarray  # (2, 4) int64  how many columns have bins, and how many pairs have cells, at each level
    sample: np.ndarray  # (256, 64) float32  values of the sampled rows
    cells: np.ndarray  # (N, 2, K) float32  weights and sums of squared slopes of each bin and pair of bins
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
        edges=float32(LEVELS, COLUMNS, MOST_BINS - 1, fill=inf, finite=False),
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
    require(
        count <= COLUMNS and effects.totals[KEPT] <= SAMPLE, "effects have more columns or samples than there can be"
    )
    stride = effects.totals[STRIDE]
    sound = stride == 0.0 or (1.0 <= stride <= MOST_STRIDE and np.frexp(stride)[0] == 0.5)
    require(sound, "the sampling stride of effects is not a power of two")
    fits = len(known) == count and np.array_equal(effects.column_of[effects.columns[:count]], np.arange(1, count + 1))
    require(fits, "columns of effects do not fit their slots")
    require((effects.cells[:, 1] >= 0.0).all(), "effects have sums of squares below 0")
    require((effects.opened[OF_BINS] <= count).all(), "effects have bins of columns that do not exist")
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
def _bin_of(edges, size, number):
    """How many of the edges are not above a number."""
    above = np.int32(0)
    for j in range(size):
        above = np.int32(above + np.int32(edges[j] <= number))  # several at a time
    return above


@force_inline
def _find(effects, x, bins, at):
    """Write the bins of a row to `bins` (4, 64), and their cells to `at`; return how many there are."""
    count, most = 0, len(effects.cells)
    for level in range(LEVELS):
        size = BINS[level]
        for c in range(effects.opened[OF_BINS, level]):
            if effects.pairs.two_valued[c] > 0:  # has one edge, the same at each level
                bins[level, c] = np.int64(x[c] >= effects.edges[level, c, 0])
                continue
            bins[level, c] = _bin_of(effects.edges[level, c], size - 1, x[c])
            at[count] = CELLS_OF_BINS[level] + c * size + bins[level, c]
            count += at[count] < most
    return count


@force_inline
def _find_pairs(effects, bins, at, count):
    """Write the cells of pairs behind the `count` of bins; return how many there are in all."""
    most = len(effects.cells)
    for level in range(LEVELS):
        size, before = BINS[level], OF_PAIRS[level]
        for pair in range(effects.opened[OF_TWO, level]):
            one, other = effects.pairs.columns[pair, 0], effects.pairs.columns[pair, 1]
            place = before + (pair * size + bins[level, one]) * size + bins[level, other]
            at[count] = place
            count += place < most and (
                level == 0 or effects.pairs.two_valued[one] + effects.pairs.two_valued[other] < 2
            )
    return count


@force_inline
def _add(cells, at, start, stop, before, scores):
    """Write the scores before and the weights of some cells to `scores` (K,)."""
    if len(scores) == 1:
        total = 0.0
        for k in range(start, stop):
            total += cells[at[k], 0, 0]
        scores[0] = before[0] + total
        return
    for c in range(len(scores)):
        scores[c] = before[c]
    for k in range(start, stop):
        weights = cells[at[k], 0]
        for c in range(len(scores)):
            scores[c] += weights[c]


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
def _predict_row(effects, kind, out, x, bins, at, room):
    """Replace the linear models' prediction in `out` by that of all; return how many cells it has, of bins and all."""
    scores, chances, believed = room.scores, room.chances, room.believed
    classes = scores.shape[1]
    bound = _find(effects, x, bins, at)
    end = _find_pairs(effects, bins, at, bound)
    for c in range(classes):
        scores[0, c] = out[1] - out[0] if kind == TWO else out[c]
    _add(effects.cells, at, 0, bound, scores[0], scores[1])
    _add(effects.cells, at, bound, end, scores[1], scores[2])
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
        return bound, end
    if kind == TWO:
        yes = no = 0.0
        for e in range(EXPERTS):
            chances[e, 0], rest = logistic(scores[e, 0])
            yes += believed[e] * chances[e, 0]
            no += believed[e] * rest
        out[0], out[1] = 0.0, log(max(yes, LEAST)) - log(max(no, LEAST))
        return bound, end
    for e in range(EXPERTS):
        softmax(scores[e], chances[e])
    for c in range(classes):
        share = 0.0
        for e in range(EXPERTS):
            share += believed[e] * chances[e, c]
        out[c] = log(max(share, LEAST))
    return bound, end


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
def _move(cells, at, start, stop, slopes, some, step):
    """A step of AdaGrad down the slopes (K,) float32 for the weights of some cells, and of the classes `some`."""
    damping = np.float32(DAMPING)
    for k in range(start, stop):
        weights, squares = cells[at[k], 0], cells[at[k], 1]
        for c in some:
            squares[c] += slopes[c] * slopes[c]
            weights[c] -= step * slopes[c] / np.sqrt(squares[c] + damping)


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
    """Sample one random row of every `stride` rows; double the stride when the sample is full.

    No generator's state need be kept for it, as that of a reservoir (`sketches/reservoir.py`) would.
    """
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
def _learn_row(effects, kind, loss, target, weight, unit, scale, bound, end, at, room, slopes, some):
    """A step of the beliefs, and of the weights of a row's cells: `bound` of bins, and those of pairs up to `end`."""
    scores, chances = room.scores, room.chances
    _believe(effects, kind, loss, room, target, min(weight, MOST_WEIGHT), unit, scale)
    _learn_pool(effects, kind, loss, room, target, min(weight, MOST_WEIGHT), unit, scale)
    for e in range(1, SCORES):
        first, last = (0, bound) if e == 1 else (bound, end)
        rate, many, count = (NUMBER_RATES if kind == NUMBERS else RATES)[e - 1], np.float64(max(last - first, 1)), 0
        step = rate * unit / sqrt(many * sqrt(many))
        for c in range(scores.shape[1]):
            if kind == NUMBERS:
                slope = slope_of(loss, scores[e, 0], target, scale)
            else:
                slope = chances[e, c] - (target == c if kind == SEVERAL else target > 0.0)
            slopes[c] = weight * slope
            some[count] = c
            count += abs(slope) > SMALLEST
        _move(effects.cells, at, first, last, slopes, some[:count], np.float32(step))


class Room(NamedTuple):
    """Room to work in, for one example."""

    scores: np.ndarray  # (4, K) float64
    chances: np.ndarray  # (4, K) float64
    margins: np.ndarray  # (3, K) float64  scores as they are pooled
    believed: np.ndarray  # (4,) float64
    direction: np.ndarray  # (3,) float64  slope of the pool's loss
    step: np.ndarray  # (3,) float64  of the pool
    root: np.ndarray  # (3, 3) float64  of the pool's curvature
    deviations: np.ndarray  # (64,) float32  of bins from their means
    buckets: np.ndarray  # (4,) float32  slopes of classes


@kernel
def _room(effects):
    """Room to work in: numbers of columns, their bins, cells; scores and probabilities."""
    classes, cells = effects.cells.shape[2], LEVELS * (COLUMNS + PAIRS) + 1
    bins, at, numbers = np.zeros((LEVELS, COLUMNS), np.int64), np.zeros(cells, np.int64), np.zeros((6, EXPERTS))
    scores, chances, margins = (np.zeros((EXPERTS, classes)), np.zeros((EXPERTS, classes)), np.zeros((SCORES, classes)))
    direction, step, root = numbers[1, :SCORES], numbers[2, :SCORES], numbers[3 : 3 + SCORES, :SCORES]
    deviations, buckets = np.zeros(COLUMNS, np.float32), np.zeros(BUCKETS, np.float32)
    room = Room(scores, chances, margins, numbers[0], direction, step, root, deviations, buckets)
    return np.zeros(COLUMNS, np.float32), bins, at, room


@kernel
def learn_effects(effects, rows, start, last, targets, importances, kind, loss, out):
    """Learn rows `start` to `last`, or to the end; `out` (n, K) has what the lines predicted, and takes what all do.

    The loss is that of numbers; classes learn by the logistic, or the multinomial loss, whatever it says.
    """
    totals = effects.totals
    if totals[COUNT] == 0.0:
        return
    x, bins, at, room = _room(effects)
    classes = effects.cells.shape[2]
    slopes, some = np.zeros(classes, np.float32), np.zeros(classes + 1, np.int64)
    for i in range(start, min(last + 1, len(out))):
        here = slice(rows.offsets[i], rows.offsets[i + 1])
        _read(effects, rows.indices[here], rows.values[here], x)
        target, weight, line = np.float64(targets[i]), min(np.float64(importances[i]), MOST_IMPORTANCE), out[i, 0]
        unit = scale = 1.0
        if kind == NUMBERS and weight > 0.0:
            unit, scale = note_number(totals, loss, line, target, weight)
        if effects.opened[OF_BINS, 0] > 0:
            bound, end = _predict_row(effects, kind, out[i], x, bins, at, room)
            if weight > 0.0 and unit > 0.0 and scale > 0.0:
                _learn_row(effects, kind, loss, target, weight, unit, scale, bound, end, at, room, slopes, some)
                columns = effects.opened[OF_BINS, 0]
                note_slopes(effects.pairs, bins[0], columns, slopes, totals[SEEN], room.deviations, room.buckets)
        if weight > 0.0:
            _sample(effects, x)


@kernel
def predict_effects(effects, rows, kind, out):
    """Replace what the linear models predict of rows, in `out` (n, K), by what all do."""
    if effects.opened[OF_BINS, 0] == 0:
        return
    x, bins, at, room = _room(effects)
    for i in range(len(out)):
        here = slice(rows.offsets[i], rows.offsets[i + 1])
        _read(effects, rows.indices[here], rows.values[here], x)
        _predict_row(effects, kind, out[i], x, bins, at, room)
