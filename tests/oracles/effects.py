"""Effects of columns in plain Python: what `learners/auto/effects.py` says of columns, pairs and the mixture.

It is given dense rows without the constant, and what the linear models predict of each before it is learnt: the margin
of two classes, the scores of several, or a number.
"""

import itertools
import math

import numpy as np

from ouzel.learners.auto import effect_columns, effects

KNOTS, STEPS = (4, 8, 16, 32), (8, 8, 4, 2)


class Cell:
    """The weights of one knot, or of a pair of knots, by class."""

    def __init__(self, classes):
        self.w, self.s = [0.0] * classes, [0.0] * classes


class Effects:
    def __init__(self, kind, classes=1, loss=None, logarithms=False):
        """Of numbers by another loss than the squared one its value, slope and curvature at a score."""
        self.kind, self.classes, self.loss, self.logarithms = kind, classes, loss, logarithms
        self.seen, self.columns, self.history, self.sample = 0, [], [], []
        self.offered, self.stride = 0, 1
        self.edges, self.pairs = [{} for _ in KNOTS], [0] * 4  # of each level: edges by column; pairs that have cells
        self.categories_from = effect_columns.CATEGORIES_FROM
        self.listed, self.two_valued, self.means, self.counted = [], {}, {}, 0
        self.slopes, self.bends = {}, {}  # S by pair and bucket, V by pair
        self.cells, self.beliefs = {}, None
        self.u, self.curvature = [1 / 3] * 3, [[float(e == f) for f in range(3)] for e in range(3)]  # of the pool
        self.count = self.squares = self.slope_squares = 0.0
        self.scale = 1.0  # of slopes
        self.low, self.high = math.inf, -math.inf
        self.of_classes = [0.0, 0.0]  # importance

    def learn(self, row, line, target, weight=1.0):
        """What all predict of an example before it is learnt."""
        line = [line] if self.classes == 1 else list(line)
        notes = self.kind == "numbers" and weight > 0 and self.columns
        found, scores = line, []
        if self.beliefs:
            columns, pairs = self._places(row)
            additive = [m + self._sum(columns, c) for c, m in enumerate(line)]
            crossed = [m + self._sum(pairs, c) for c, m in enumerate(additive)]
            scores = [line, additive, crossed]
            if self.kind == "numbers":
                scores[1:] = [[min(max(score[0], self.low), self.high)] for score in scores[1:]]
            scores.append(self._pool(scores))
            found = self._mean(scores)
        unit = self._note(line[0], target, weight) if notes else 1.0
        if self.kind == "two" and weight > 0:
            self.of_classes[int(target)] += weight
            unit = max(1.0, abs(math.log((self.of_classes[1] + 1) / (self.of_classes[0] + 1))) / 2)
        if scores and weight > 0 and unit > 0 and self.scale > 0:
            self._believe(scores, target, min(weight, 10.0), unit)
            self._learn_pool(scores, target, min(weight, 10.0), unit)
            rates = effects.NUMBER_RATES if self.kind == "numbers" else effects.RATES
            self._step(columns, scores[1], target, weight, unit, rates[0])
            self._step(pairs, scores[2], target, weight, unit, rates[1])
            self._note_slopes(row, [weight * g for g in self._slopes(scores[2], target, unit)])
        if weight > 0:
            self._keep(row)
            self._look(row)
        return found[0] if self.classes == 1 else found

    def _note(self, line, target, weight):
        """The root mean square of what the lines leave; what is far off counts as 5 of it."""
        residual = self._cut(target - line, self.squares)
        if self.logarithms:
            residual = min(max(math.log(target) - line, -5), 5) if target > 0 else 0.0
        if self.loss:
            self.slope_squares += weight * self._cut(self.loss[1](line, target), self.slope_squares) ** 2
        self.count, self.squares = self.count + weight, self.squares + weight * (1 if self.logarithms else residual**2)
        reached = min(line + residual, 30) if self.logarithms else line + residual
        self.low, self.high = min(self.low, reached), max(self.high, reached)
        unit = math.sqrt(self.squares / self.count)
        self.scale = math.sqrt(self.slope_squares / self.count) if self.loss else unit
        return unit

    def _cut(self, number, squares):
        most = 5 * math.sqrt(squares / self.count) if self.count >= 16 and squares > 0 else math.inf
        return min(max(number, -most), most)

    def _sum(self, curves, c):
        return sum(part * self._cell(at).w[c] for curve in curves for at, part in curve)

    def _place(self, level, c, row):
        """Where a number of a row lies at a level: the knot behind it, and what part of the way to the next it is."""
        passed = sum(edge <= row[self.columns[c]] for edge in self.edges[level][c])
        return passed // STEPS[level], passed % STEPS[level] / STEPS[level]

    def _places(self, row):
        """The curves of columns, and of pairs, at a row: each a list of cells, and what part of each counts."""
        found = {(level, c): self._place(level, c, row) for level in range(4) for c in self.edges[level]}
        columns = [
            [((level, c, knot), 1 - share), ((level, c, knot + 1), share)]
            for (level, c), (knot, share) in found.items()
            if not self.two_valued[c]
        ]
        pairs = []
        for level, count in enumerate(self.pairs):
            for one, other in self.listed[:count]:
                if level == 1 or not (self.two_valued[one] and self.two_valued[other]):
                    (k, a), (m, b) = found[level, one], found[level, other]
                    corners = [(0, 0, (1 - a) * (1 - b)), (0, 1, (1 - a) * b), (1, 0, a * (1 - b)), (1, 1, a * b)]
                    pairs.append([((level, one, k + i, other, m + j), part) for i, j, part in corners])
        return [[[cell for cell in curve if cell[1] > 0] for curve in curves] for curves in (columns, pairs)]

    def _note_slopes(self, row, slopes):
        """S and V of every pair of columns; of more than four classes in four buckets."""
        self.counted += 1
        places = {c: sum(self._place(1, c, row)) for c in self.edges[1]}
        for c, number in places.items():
            self.means[c] = self.means.get(c, 0.0) + (number - self.means.get(c, 0.0)) / self.counted
        buckets = [0.0] * min(len(slopes), 4)
        for c, slope in enumerate(slopes):
            buckets[c % len(buckets)] += slope if c // len(buckets) % 2 == 0 else -slope
        for one in places:
            for other in range(one):
                product = (places[one] - self.means[one]) * (places[other] - self.means[other])
                sums = self.slopes.setdefault((one, other), [0.0] * len(buckets))
                self.slopes[one, other] = [s + g * product for s, g in zip(sums, buckets, strict=True)]
                bend = sum(g * g for g in buckets) * product**2
                self.bends[one, other] = self.bends.get((one, other), 0.0) + bend

    def _slopes(self, score, target, unit):
        if self.kind == "numbers":
            slope = self.loss[1](score[0], target) if self.loss else score[0] - target
            return [min(max(slope / self.scale, -5), 5)]
        if self.classes == 1:
            return [_chances(score)[1] - target]
        return [chance - (target == c) for c, chance in enumerate(_chances(score))]

    def _cell(self, at):
        return self.cells.setdefault(at, Cell(self.classes))

    def _mean(self, scores):
        if self.kind == "numbers":
            return [sum(b * score[0] for b, score in zip(self.beliefs, scores, strict=True))]
        shares = [
            sum(b * chance[c] for b, chance in zip(self.beliefs, map(_chances, scores), strict=True))
            for c in range(max(self.classes, 2))
        ]
        logs = [math.log(max(share, 1e-300)) for share in shares]
        return [logs[1] - logs[0]] if self.classes == 1 else logs

    def _parts(self, scores):
        """The three scores as they are pooled: differences of numbers, margins within 8, scores to 8 below the best."""
        if self.kind == "numbers":
            return [[score[0] - scores[0][0]] for score in scores[:3]]
        if self.classes == 1:
            return [[min(max(score[0], -8), 8)] for score in scores[:3]]
        return [[max(s - max(score), -8) for s in score] for score in scores[:3]]

    def _pool(self, scores):
        base = scores[0][0] if self.kind == "numbers" else 0.0
        parts = self._parts(scores)
        pooled = [base + sum(u * part[c] for u, part in zip(self.u, parts, strict=True)) for c in range(self.classes)]
        return [min(max(pooled[0], self.low), self.high)] if self.kind == "numbers" else pooled

    def _learn_pool(self, scores, target, weight, unit):
        """A Newton step: A <- I + 0.9995 (A - I) + weight H, u <- u - weight A^-1 g."""
        parts = np.array(self._parts(scores))
        if self.kind == "numbers":
            parts = np.clip(parts / unit, -8, 8)
            (along,) = self._slopes(scores[3], target, unit)
            bends = max(min(self.loss[2](scores[3][0], target) * unit / self.scale, 5), along**2) if self.loss else 1.0
            slope, bend = parts[:, 0] * along, max(weight * bends, 1e-3) * np.outer(parts, parts)
        elif self.classes == 1:
            p = _chances(scores[3])[1]
            slope = parts[:, 0] * (p - target)
            bend = max(weight * p * (1 - p), 1e-3) * np.outer(parts, parts)
        else:
            p = np.array(_chances(scores[3]))
            parts = parts - (parts @ p)[:, None]
            slope = -parts[:, int(target)]
            bend = sum(
                weight * max(p[c], 1e-3) * np.outer(parts[:, c], parts[:, c])
                for c in range(self.classes)
                if p[c] > 1e-4
            )
        eye = np.eye(3)
        self.curvature = eye + 0.9995 * (np.array(self.curvature) - eye) + bend
        self.u = list(np.array(self.u) - weight * np.linalg.solve(self.curvature, slope))

    def _believe(self, scores, target, weight, unit):
        """Bayes' rule, and a part of what is believed is shared."""
        if self.kind == "numbers" and self.loss:
            costs = [self.loss[0](score[0], target) - self.loss[0](scores[0][0], target) for score in scores]
            unit *= self.scale
            likely = [math.exp(-min(max(weight * cost / unit / 4, -50), 50)) for cost in costs]
        elif self.kind == "numbers":
            likely = [math.exp(-min(weight * ((score[0] - target) / unit) ** 2 / 8, 50)) for score in scores]
        else:
            likely = [max(_chances(score)[int(target)], 1e-9) ** weight for score in scores]
        after = [b * chance for b, chance in zip(self.beliefs, likely, strict=True)]
        shares, alpha = effects.SHARED, effects.ALPHA
        self.beliefs = [(1 - alpha) * b / sum(after) + alpha * share for b, share in zip(after, shares, strict=True)]

    def _step(self, curves, score, target, weight, unit, rate):
        """AdaGrad for F curves in a sum."""
        for c, g in enumerate(self._slopes(score, target, unit)):
            for at, part in [cell for curve in curves for cell in curve] if abs(g) > 1e-3 else ():
                cell, slope = self._cell(at), part * weight * g
                cell.s[c] += slope**2
                cell.w[c] -= rate * unit * slope / len(curves) ** 0.75 / math.sqrt(cell.s[c] + effects.DAMPING)

    def _keep(self, row):
        """One example at random of every `stride`, up to 256 of them; those of a longer stride are a subset."""
        if not self.columns:
            return
        if _is_sample(self.offered, self.stride) and len(self.sample) == 256:
            self.stride *= 2
            self.sample = [(n, kept) for n, kept in self.sample if _is_sample(n, self.stride)]
        if _is_sample(self.offered, self.stride):
            self.sample.append((self.offered, row))
        self.offered += 1

    def _look(self, row):
        self.seen += 1
        self.history.append(row)
        if self.seen in [2**k for k in range(4, 60)]:
            self._open()
            new = [c for c in range(len(row)) if c not in self.columns and self._varies(c)]
            new = sorted(new, key=lambda c: len({row[c] for row in self.history} - {0.0}) == 1)
            new = new[: 64 - len(self.columns)]
            if new and self.seen <= 1024:
                self.columns, self.sample, self.offered, self.stride = self.columns + new, [], 0, 1

    def _varies(self, c):
        values = [row[c] for row in self.history if row[c] != 0]  # 0 is absent
        differ = len(set(values)) > 1 or (len(values) < self.seen and self.seen >= self.categories_from)
        return len(values) >= max(self.seen / 16, 8) and differ

    def _open(self):
        if len(self.sample) < 8:
            return
        self.beliefs = self.beliefs or list(effects.FIRST)
        for c in range(len(self.columns)):
            two = len({row[self.columns[c]] for _, row in self.sample} - {0.0}) <= 1
            self.two_valued[c] = two and self.two_valued.get(c, True)
        self._list()
        for level, knots in enumerate(KNOTS):
            if self.seen >= effect_columns.FROM[level]:
                for c in range(len(self.edges[level]), len(self.columns)):
                    numbers = sorted(row[self.columns[c]] for _, row in self.sample)
                    self.edges[level][c] = _edges(numbers, knots, STEPS[level])
                self.pairs[level] = min(len(self.listed), (0, 276, 45, 0)[level])

    def _list(self):
        """Pairs of numbers first, neighbours first; others where S^2 / V is beyond chance, with a Newton step."""
        if self.seen < effect_columns.FROM[0]:
            return
        count, gains = len(self.columns), {}
        near = sorted(((one, other) for one in range(count) for other in range(one)), key=lambda p: (p[0] - p[1], p[0]))
        for pair in near:
            sums, bend = self.slopes.get(pair, [0.0]), self.bends.get(pair, 0.0)
            gain = len(sums) * sum(s * s for s in sums) / bend - 3 * (len(sums) - 1) if bend > 0 else 0.0
            gains[pair] = gain if gain >= 20 else 0.0
        new = [
            p
            for p in near
            if p not in self.listed and (gains[p] or not (self.two_valued[p[0]] or self.two_valued[p[1]]))
        ]
        new.sort(key=lambda pair: -gains[pair])
        known, room = len(self.listed), effect_columns.PAIRS - len(self.listed)
        worth = [self._worth(pair) for pair in self.listed]
        for pair in new[:room]:
            self.listed.append(pair)
            self._begin(pair, gains[pair])
        for place, pair in zip(sorted(range(known), key=worth.__getitem__), new[room:], strict=False):
            if gains[pair] <= 2 * worth[place]:
                break
            gone = self.listed[place]
            self.cells = {at: cell for at, cell in self.cells.items() if len(at) < 5 or (at[1], at[3]) != gone}
            self.listed[place] = pair
            self._begin(pair, gains[pair])
        self.slopes, self.bends = {}, {}

    def _unit(self):
        return math.sqrt(self.squares / self.count) if self.count and self.squares else 1.0

    def _worth(self, pair):
        cells = [cell for at, cell in self.cells.items() if len(at) == 5 and (at[1], at[3]) == pair]
        return sum(w * w * s for cell in cells for w, s in zip(cell.w, cell.s, strict=True)) / self._unit() ** 2

    def _begin(self, pair, gain):
        if gain and self.classes <= 4:
            sums, bend = self.slopes[pair], self.bends[pair] / self.classes
            products = {
                (one, other): (one - self.means[pair[0]]) * (other - self.means[pair[1]])
                for one in range(8)
                for other in range(8)
            }
            norm = max(sum(product**2 for product in products.values()), 1.0)
            for (one, other), product in products.items():
                cell = self._cell((1, pair[0], one, pair[1], other))
                cell.w = [-product * s / bend * self._unit() for s in sums]
                cell.s = [bend / norm] * self.classes


def _edges(rising, knots, steps):
    """All numbers that differ, or quantiles of them, each behind the steps that lead there."""
    chosen = sorted(set(rising))
    if len(chosen) > knots:
        chosen = sorted({rising[k * len(rising) // (knots - 1)] for k in range(knots - 1)} | {rising[-1]})
    edges = []
    for low, high in itertools.pairwise(chosen):
        between = [x for x in rising if low <= x < high]
        for step in range(1, steps):
            x = between[step * len(between) // steps]
            edges.append(x if x > low else next((x for x in between if x > low), high))
        edges.append(high)
    return edges


def _is_sample(number, stride):
    """Whether the halves of the block that a number is in, and the halves of these, are the ones a coin chooses."""
    if stride == 1:
        return True
    block, half = number // stride, stride // 2
    middle = block * stride + half
    word = middle % 2**32 ^ middle >> 32
    word = (word ^ word >> 16) * 0x85EBCA6B % 2**32
    word = (word ^ word >> 13) * 0xC2B2AE35 % 2**32
    return number // half % 2 == (word ^ word >> 16) >> 31 and _is_sample(number, half)


def _chances(score):
    """The probabilities of classes with these scores; of one score, those of two classes."""
    score = [0.0, *score] if len(score) == 1 else score
    powers = [math.exp(s - max(score)) for s in score]
    return [power / sum(powers) for power in powers]
