"""Algorithms 3 and 4 of Tai, Sharan, Bailis & Valiant (2018), appendix C, as printed: plain dictionaries."""

import numpy as np

from tests.oracles.weight_median import inverse_time, logistic_slope


class Truncation:
    """Algorithm 3, simple truncation; `cut` says which entries stay."""

    def __init__(self, size, rate=0.1, l2=1e-6):
        self.size, self.rate, self.l2, self.t, self.S = size, rate, l2, 0, {}

    def learn(self, slots, values, label):
        margin = sum(self.S.get(i, 0.0) * x for i, x in zip(slots, values, strict=True))
        step = inverse_time(self.rate, self.l2, self.t)
        self.t += 1
        before = dict(self.S)
        for i in self.S:
            self.S[i] *= 1.0 - self.l2 * step
        for i, x in zip(slots, values, strict=True):
            self.S[i] = self.S.get(i, 0.0) - step * logistic_slope(margin, label) * x
        self.cut(before)
        return margin

    def cut(self, before):
        self.keep({i: abs(w) for i, w in self.S.items()})

    def keep(self, order):
        """Keep the entries that are highest in an order."""
        for i in sorted(order, key=lambda i: -order[i])[self.size :]:
            del self.S[i]


class ProbabilisticTruncation(Truncation):
    """Algorithm 4, by the logarithms of its keys W, lest they round to 1; r is drawn by splitmix64."""

    def __init__(self, size, seed=0, **rest):
        super().__init__(size, **rest)
        self.W, self.word = {}, 2 * seed + 1

    def uniform(self):
        mask = 2**64 - 1
        self.word = (self.word + 0x9E3779B97F4A7C15) & mask
        word = ((self.word ^ (self.word >> 30)) * 0xBF58476D1CE4E5B9) & mask
        word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & mask
        return (((word ^ (word >> 31)) >> 11) + 0.5) / 2**53

    def cut(self, before):
        for i, w in self.S.items():
            if i not in before:
                self.W[i] = np.log(self.uniform()) / abs(w)  # W[i] <- r^(1 / |S_t+1[i]|)
            else:
                self.W[i] *= abs(before[i] / w)  # W[i] <- W[i]^|S_t[i] / S_t+1[i]|
        self.keep({i: self.W[i] for i in self.S})
