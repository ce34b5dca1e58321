"""Sketched online Newton, dense: Luo et al. (2016), Algorithms 1, 3 and 6.

Of section 5.2 the authors' own reading: x is predicted with D of the gradients before, learnt with the current one too.
"""

import numpy as np


class DenseOja:
    """V starts as unit vectors of the features first seen (by id within an example, 0 last): that alone is ours."""

    def __init__(self, dimension, m, alpha, curvature, largest, project=False, diagonal=False):
        self.u = np.zeros(dimension)
        self.V = np.zeros((m, dimension))
        self.eigenvalues = np.zeros(m)
        self.D = np.zeros(dimension)
        self.seen = []
        self.t = 0
        self.m, self.alpha, self.curvature, self.largest = m, alpha, curvature, largest
        self.project, self.diagonal = project, diagonal

    def inverse(self):
        """A^-1 from the sketch: (I - V' diag(t L / (alpha + t L)) V) / alpha."""
        mass = self.t * self.eigenvalues
        return (np.eye(len(self.u)) - self.V.T @ np.diag(mass / (self.alpha + mass)) @ self.V) / self.alpha

    def learn(self, slots, raw, derivative):
        for slot in sorted(slots, key=lambda slot: (slot == 0, slot)):
            if slot not in self.seen:
                if len(self.seen) < self.m:
                    self.V[len(self.seen), slot] = 1.0
                self.seen.append(slot)
                self.D[slot] = 0.1
        scale = 1 / np.sqrt(np.where(self.D > 0, self.D, 1.0)) if self.diagonal else np.ones(len(self.u))
        x = raw * scale
        margin = np.clip(self.u @ x, -self.largest, self.largest)
        w = self.u
        if self.project and abs(self.u @ x) > self.largest:
            Ainv = self.inverse()
            w = self.u - (self.u @ x - margin) / (x @ Ainv @ x) * (Ainv @ x)
        slope = derivative(margin)
        self.D += (slope * raw) ** 2
        x = raw / np.sqrt(np.where(self.D > 0, self.D, 1.0)) if self.diagonal else raw
        g = slope * x
        self.t += 1
        sketched = np.sqrt(self.curvature) * g
        gamma = 1 / self.t
        along = self.V @ sketched
        self.eigenvalues = (1 - gamma) * self.eigenvalues + gamma * along**2
        V = self.V + gamma * np.outer(along, sketched)
        live = np.linalg.norm(V, axis=1) > 0
        L = np.linalg.cholesky(V[live] @ V[live].T)
        V[live] = np.linalg.solve(L, V[live])
        self.V = V
        self.u = w - self.inverse() @ g
        return margin


class DenseFrequentDirections:
    """Algorithms 1 and 6 with every matrix in full: [D V; G] is decomposed when there are m new vectors.

    A gradient of zero takes no place among them: that alone is ours.
    """

    def __init__(self, dimension, m, alpha, curvature, largest, project=False, diagonal=False):
        self.u, self.D = np.zeros(dimension), np.full(dimension, 0.1)
        self.top, self.recent = np.zeros((m, dimension)), np.zeros((0, dimension))
        self.m, self.alpha, self.curvature, self.largest = m, alpha, curvature, largest
        self.project, self.diagonal = project, diagonal

    def inverse(self):
        """A^-1 of A = alpha I + S'S."""
        S = np.vstack([self.top, self.recent])
        return np.linalg.inv(self.alpha * np.eye(len(self.u)) + S.T @ S)

    def learn(self, slots, raw, derivative):
        x = raw / np.sqrt(self.D) if self.diagonal else raw
        margin = np.clip(self.u @ x, -self.largest, self.largest)
        w = self.u
        if self.project and abs(self.u @ x) > self.largest:
            Ainv = self.inverse()
            w = self.u - (self.u @ x - margin) / (x @ Ainv @ x) * (Ainv @ x)
        slope = derivative(margin)
        self.D = self.D + (slope * raw) ** 2
        x = raw / np.sqrt(self.D) if self.diagonal else raw
        if self.m > 0 and slope != 0.0 and x.any():
            self.recent = np.vstack([self.recent, np.sqrt(self.curvature) * slope * x])
            if len(self.recent) == self.m:
                _, roots, V = np.linalg.svd(np.vstack([self.top, self.recent]), full_matrices=False)
                squares = np.zeros(2 * self.m)
                squares[: len(roots)] = roots**2
                kept = min(self.m, len(roots))
                self.top[:kept] = np.sqrt(squares[:kept] - squares[self.m - 1])[:, None] * V[:kept]
                self.recent = self.recent[:0]
        self.u = w - self.inverse() @ (slope * x)
        return margin
