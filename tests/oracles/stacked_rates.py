"""Normalised AdaGrad (Ross, Mineiro & Langford, 2013, Algorithm 2) at several rates, stacked: dense, plain algebra."""

import numpy as np


def arrived(derivative, prediction, target, push, parts=2000):
    """Where a prediction ends that goes a push's length down its loss in small steps."""
    for _ in range(parts):
        prediction -= push / parts * derivative(prediction, target)
    return prediction


class Models:
    """Models of one target: each a loss's derivative, a rate, and whether safe; the stack sees margins up to `end`."""

    def __init__(self, dimension, derivatives, rates, safe, end=4.0):
        self.derivatives, self.rates, self.safe, self.end = derivatives, rates, safe, end
        self.largest = np.zeros(dimension)
        self.w = np.zeros((len(rates), dimension))
        self.squares = np.zeros((len(rates), dimension))
        self.t, self.N = 0, 0.0

    def margins(self, x):
        return self.w @ x

    def learn(self, x, target):
        """One example with a target of -1 or 1; the clipped margins before it."""
        larger = np.maximum(self.largest, np.abs(x))
        seen = larger > 0
        self.w[:, seen] *= self.largest[seen] / larger[seen]
        self.largest = larger
        z = np.where(seen, x / np.where(seen, larger, 1.0), 0.0)
        self.t += 1
        self.N += z @ z
        before = self.margins(x)
        for e, derivative in enumerate(self.derivatives):
            slope = derivative(before[e], target)
            g = slope * z
            self.squares[e] += g**2
            moved = g != 0
            root = np.sqrt(self.squares[e, moved])
            rate = self.rates[e] * np.sqrt(self.t / self.N)
            if self.safe[e] and moved.any():
                push = rate * np.sum(z[moved] ** 2 / root)
                rate *= (before[e] - arrived(derivative, before[e], target, push)) / (push * slope)
            self.w[e, moved] -= rate * g[moved] / (larger[moved] * root)
        return np.clip(before, -self.end, self.end) if self.t > 1 else np.zeros(len(self.rates))


class Stack:
    """u, by Newton steps with the whole matrix A = I + the sum of Hessians."""

    def __init__(self, models):
        self.u = np.full(models, 1 / models)
        self.A = np.eye(models)

    def learn_two(self, m, target):
        """The logistic loss of u.m; the margin before."""
        f = self.u @ m
        share = 1 / (1 + np.exp(-f))
        self.A += max(share * (1 - share), 1e-3) * np.outer(m, m)
        self.u -= np.linalg.solve(self.A, (share - (target > 0)) * m)
        return f
