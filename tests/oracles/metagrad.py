"""MetaGrad (van Erven, Koolen & van der Hoeven 2021), dense, without a limit of experts.

Diagonal, a copy for every coordinate, and full, on weights that predict within [-C, C].
"""

from math import ceil, floor

import numpy as np


class Coordinate:
    def __init__(self, radius):
        self.radius, self.experts = radius, {}  # exponent of eta -> [u, 1/v, p]
        self.largest, self.total, self.start, self.parts = 0.0, 0.0, 0.0, 0.0  # B, S, B at the last start, sum of b / B
        self.weight = 0.0

    def grid(self):
        if self.largest == 0.0:
            return []
        low = ceil(np.log2(1.0 / (2.0 * (self.total + self.largest))))
        return range(low, floor(np.log2(1.0 / (2.0 * self.largest))) + 1)

    def losses(self, gradient):
        """The surrogate loss of every expert."""
        regrets = {i: 2.0**i * (self.weight - u) * gradient for i, (u, _, _) in self.experts.items()}
        assert all(abs(regret) <= 0.5 for regret in regrets.values())
        return {i: regret**2 - regret for i, regret in regrets.items()}

    def learn(self, gradient):
        size = 2.0 * self.radius * abs(gradient)
        former, self.largest = self.largest, max(self.largest, size)
        if self.largest == 0.0:
            return
        mass = sum(p for _, _, p in self.experts.values())
        for i, loss in self.losses(gradient * former / self.largest).items():
            self.experts[i][2] *= np.exp(-loss)
        after = sum(p for _, _, p in self.experts.values())
        for i, expert in self.experts.items():
            eta, (u, _, _) = 2.0**i, expert
            expert[2] *= mass / after
            expert[1] += 2.0 * eta**2 * gradient**2
            slope = eta * gradient + 2.0 * eta**2 * gradient**2 * (u - self.weight)
            expert[0] = np.clip(u - slope / expert[1], -self.radius, self.radius)
        self.total += min(size, former)
        self.parts += size / self.largest
        if self.start == 0.0 or self.largest / self.start > self.parts:
            self.start = self.largest
            for expert in self.experts.values():
                expert[2] = 1.0
        new = {i: [0.0, 1.0 / (self.radius / 3.0) ** 2, 1.0] for i in self.grid()}
        self.experts = {i: self.experts.get(i, fresh) for i, fresh in new.items()}
        weighed = [(2.0**i * p, u) for i, (u, _, p) in self.experts.items()]
        self.weight = sum(part * u for part, u in weighed) / sum(part for part, _ in weighed) if weighed else 0.0


class MetaGrad:
    def __init__(self, dimension, radius):
        self.coordinates = [Coordinate(radius) for _ in range(dimension)]

    def weights(self):
        return np.array([coordinate.weight for coordinate in self.coordinates])

    def learn(self, x, derivative):
        margin = x @ self.weights()
        for coordinate, gradient in zip(self.coordinates, derivative(margin) * x, strict=True):
            coordinate.learn(gradient)
        return margin


class Expert:
    def __init__(self, dimension, power, variance):
        self.eta, self.share = 2.0**power, 1.0
        self.u, self.precision = np.zeros(dimension), np.eye(dimension) / variance

    def project(self, x, largest):
        beyond = self.u @ x - np.clip(self.u @ x, -largest, largest)
        if beyond != 0.0:
            direction = np.linalg.solve(self.precision, x)
            self.u = self.u - beyond / (x @ direction) * direction

    def move(self, gradient, w):
        self.precision = self.precision + 2.0 * self.eta**2 * np.outer(gradient, gradient)
        slope = self.eta * gradient + 2.0 * self.eta**2 * gradient * (gradient @ (self.u - w))
        self.u = self.u - np.linalg.solve(self.precision, slope)


class FullMetaGrad:
    def __init__(self, dimension, radius, largest):
        self.dimension, self.variance, self.largest = dimension, (radius / 3.0) ** 2, largest
        self.experts = {}  # by the exponent of eta
        self.B, self.total, self.start, self.parts = 0.0, 0.0, 0.0, 0.0

    def weights(self, x=None):
        """w; with an x, after every expert has been projected for it."""
        for expert in self.experts.values() if x is not None else ():
            expert.project(x, self.largest)
        parts = [expert.eta * expert.share for expert in self.experts.values()]
        if not parts:
            return np.zeros(self.dimension)
        return sum(p * expert.u for p, expert in zip(parts, self.experts.values(), strict=True)) / sum(parts)

    def learn(self, x, derivative):
        w = self.weights(x)
        slope = derivative(w @ x)
        gradient, former = slope * x, self.B
        b = (self.largest * abs(slope) if x.any() else 0.0) + abs(w @ gradient)
        self.B = max(former, b)
        if self.B == 0.0:
            return w @ x
        mass = sum(expert.share for expert in self.experts.values())
        for expert in self.experts.values():
            regret = expert.eta * (w - expert.u) @ gradient * former / self.B
            assert abs(regret) <= 0.5
            expert.share *= np.exp(regret - regret**2)
        after = sum(expert.share for expert in self.experts.values())
        for expert in self.experts.values():
            expert.share *= mass / after
            expert.move(gradient, w)
        self.total += min(b, former)
        self.parts += b / self.B
        if self.start == 0.0 or self.B / self.start > self.parts:
            self.start = self.B
            for expert in self.experts.values():
                expert.share = 1.0
        low, high = ceil(-np.log2(2.0 * (self.total + self.B))), floor(-np.log2(2.0 * self.B))
        fresh = {i: Expert(self.dimension, i, self.variance) for i in range(low, high + 1)}
        self.experts = {i: self.experts.get(i, expert) for i, expert in fresh.items()}
        return w @ x
