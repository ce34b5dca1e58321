"""AdaGrad as Figures 1 and 2 of Duchi, Hazan & Singer (2011) print it: dense, every weight on every example."""

import itertools

import numpy as np


def soft(v, threshold):
    return np.sign(v) * np.maximum(np.abs(v) - threshold, 0.0)


class Eager:
    """Diagonal H, or H = sqrt(t) I if not `adaptive`; l1 |w| + l2 w^2 / 2 as penalty; a box as domain."""

    def __init__(self, dimension, rate, damping, l1=0.0, l2=0.0, dual=False, adaptive=True, box=None):
        self.w = np.zeros(dimension)
        self.G = np.zeros(dimension)
        self.squares = np.zeros(dimension)
        self.t = 0
        self.rate, self.damping, self.l1, self.l2 = rate, damping, l1, l2
        self.dual, self.adaptive, self.box = dual, adaptive, box

    def learn(self, x, derivative):
        """One example; `derivative(margin)` is that of its loss."""
        margin = self.w @ x
        g = derivative(margin) * x
        self.t += 1
        self.G += g
        self.squares += g**2
        h = self.damping + np.sqrt(self.squares) if self.adaptive else np.full(len(x), np.sqrt(self.t))
        u = self.rate * self.G if self.dual else self.rate * g - h * self.w
        strength = self.rate * self.t if self.dual else self.rate
        known = h > 0
        self.w[known] = soft(-u[known], strength * self.l1) / (h[known] + strength * self.l2)
        if self.box is not None:
            self.w = np.clip(self.w, *self.box)
        return margin


class Full:
    """H = delta I + G^1/2, within blocks of coordinates if given; l2 w^2 / 2 as penalty."""

    def __init__(self, dimension, rate, damping, l2=0.0, dual=False, blocks=None):
        self.w = np.zeros(dimension)
        self.gradients = np.empty((dimension, 0))  # g_1:t
        self.rate, self.damping, self.l2, self.dual = rate, damping, l2, dual
        self.blocks = np.zeros(dimension, int) if blocks is None else blocks

    def metric(self):
        H = self.damping * np.eye(len(self.w))
        for block in np.unique(self.blocks):
            here = np.flatnonzero(self.blocks == block)
            U, lengths, _ = np.linalg.svd(self.gradients[here], full_matrices=False)  # G = U lengths^2 U'
            H[np.ix_(here, here)] += U @ np.diag(lengths) @ U.T
        return H

    def learn(self, x, derivative):
        margin = self.w @ x
        g = derivative(margin) * x
        self.gradients = np.column_stack([self.gradients, g])
        H = self.metric()
        u = self.rate * self.gradients.sum(axis=1) if self.dual else self.rate * g - H @ self.w
        self.w = self.least(u, H, self.rate * (self.gradients.shape[1] if self.dual else 1.0))
        return margin

    def least(self, u, H, strength):
        """argmin <u, x> + strength r(x) + <x, H x> / 2"""
        ridge = strength * self.l2 * (np.diag(H) > 0)
        return np.linalg.pinv(H + np.diag(ridge), rcond=1e-8, hermitian=True) @ -u


class Penalised(Full):
    """The same in small blocks with l1 |w| + l2 w^2 / 2, or kept between `low` and `high`: every pattern is tried."""

    def __init__(self, *rest, l1=0.0, low=-np.inf, high=np.inf, **more):
        super().__init__(*rest, **more)
        self.l1, self.low, self.high = l1, low, high

    def least(self, u, H, strength):
        x = np.empty_like(self.w)
        for block in np.unique(self.blocks):
            here = np.flatnonzero(self.blocks == block)
            x[here] = self.least_of_all(u[here], H[np.ix_(here, here)], strength)
        return x

    def least_of_all(self, u, H, strength):
        """Each coordinate is positive, zero or negative; or at an end of the box, or between."""
        H, best, found = H + strength * self.l2 * np.eye(len(u)), np.inf, None
        for pattern in itertools.product([-1, 0, 1], repeat=len(u)):
            signs = np.array(pattern)
            free = signs != 0 if self.l1 else signs == 0
            x = np.where(free, 0.0, 0.0 if self.l1 else np.where(signs < 0, self.low, self.high))
            if not np.isfinite(x).all():
                continue
            pull = u + strength * self.l1 * signs + H @ x
            x[free] = -np.linalg.solve(H[np.ix_(free, free)], pull[free])
            if (self.l1 and (x * signs < 0).any()) or (x < self.low - 1e-12).any() or (x > self.high + 1e-12).any():
                continue
            cost = u @ x + strength * self.l1 * abs(x).sum() + 0.5 * x @ H @ x
            if cost < best:
                best, found = cost, x
        return found
