"""MISSION of Aghazadeh et al. (2018) and BEAR of Aghazadeh et al. (2022): dictionaries, and the matrix of BFGS."""

import numpy as np

from tests.oracles.weight_median import Sketch, inverse_time, logistic_slope


class Mission(Sketch):
    """MISSION; `heap` has the estimate of each of its features from when that was last moved."""

    def __init__(self, size, width, depth, tables, rate=0.1, l2=1e-6):
        super().__init__(width, depth, tables)
        self.size, self.rate, self.l2, self.t, self.heap = size, rate, l2, 0, {}

    def weight(self, slot):
        return self.query(slot) if slot in self.heap else 0.0

    def margin(self, slots, values):
        return sum(x * self.weight(i) for i, x in zip(slots, values, strict=True))

    def decay(self):
        step = inverse_time(self.rate, self.l2, self.t)
        self.t += 1
        self.z *= 1.0 - self.l2 * step
        self.heap = {i: (1.0 - self.l2 * step) * weight for i, weight in self.heap.items()}
        return step

    def follow(self, slot):
        weight = self.query(slot)
        if slot not in self.heap and len(self.heap) == self.size:
            least = min(self.heap, key=lambda i: abs(self.heap[i]))
            if abs(weight) <= abs(self.heap[least]):
                return
            del self.heap[least]
        self.heap[slot] = weight

    def learn(self, slots, values, label):
        margin = self.margin(slots, values)
        step = self.decay()
        for i, x in zip(slots, values, strict=True):
            self.update(i, -step * logistic_slope(margin, label) * x)
            self.follow(i)
        return margin


def inverse_hessian(pairs, dots, first):
    """The matrix of BFGS after pairs (s, r), oldest first, whose s'r are given, begun with `first` times I."""
    inverse = first * np.eye(len(pairs[0][0]))
    for (s, r), dot in zip(pairs, dots, strict=True):
        turned = np.eye(len(s)) - np.outer(r, s) / dot
        inverse = turned.T @ inverse @ turned + np.outer(s, s) / dot
    return inverse


class Bear(Mission):
    """BEAR of one example a step, where pairs have room for `room` features; `pairs` are dictionaries by slot."""

    def __init__(self, *sizes, history=5, room=100, damping=1.0, **rest):
        super().__init__(*sizes, **rest)
        self.history, self.room, self.damping, self.pairs = history, room, damping, []

    def direction(self, slots, gradient):
        """H times the gradient in the features of the row, by what the last pairs say of these."""
        recent = self.pairs[-self.history :]
        if not recent:
            return gradient
        dots = [sum(s * r for s, r in pair.values()) for pair in recent]
        squares = [sum(r * r for _, r in pair.values()) for pair in recent]
        here = [np.array([pair.get(i, (0.0, 0.0)) for i in slots]).T for pair in recent]
        return inverse_hessian(here, dots, np.mean(np.array(dots) / np.array(squares))) @ gradient

    def learn(self, slots, values, label):
        x = np.array(values)
        margin = self.margin(slots, values)
        step = self.decay()
        z = self.direction(slots, logistic_slope(margin, label) * x)
        before = np.array([self.weight(i) for i in slots])
        for i, along in zip(slots, z, strict=True):
            self.update(i, -step * along)
        after = np.array([self.weight(i) for i in slots])
        s = after - before
        r = (logistic_slope(after @ x, label) - logistic_slope(before @ x, label)) * x + self.damping * s
        kept = sorted(range(len(slots)), key=lambda k: slots[k] not in self.heap)[: self.room]
        if s[kept] @ r[kept] > 1e-30:
            self.pairs.append({slots[k]: (s[k], r[k]) for k in kept})
        for i in slots:
            self.follow(i)
        return margin
