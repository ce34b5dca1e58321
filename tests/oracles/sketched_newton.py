"""Sketched online Newton, dense: Luo et al. (2016), Algorithms 1, 3 and 6, with every matrix in full.

Of section 5.2 the authors' own reading: x is predicted with D of the gradients before, learnt with the current one too.
Slots that are not seen yet have no part in a prediction: that is ours.
"""

import numpy as np


class View:
    """x as it is, D^-1/2 x, or c D^-1/4 x / n: see `ouzel.learners.newton.scaled_features`."""

    def __init__(self, dimension, diagonal=False, normalised=False, first_square=0.1, earlier=False):
        self.diagonal, self.normalised, self.earlier = diagonal, diagonal and normalised, earlier
        self.D = np.full(dimension, first_square)
        self.n = np.zeros(dimension)
        self.t, self.N = 0, 0.0

    def of(self, raw):
        if not self.diagonal:
            return raw
        if not self.normalised:
            return raw / np.sqrt(self.D)
        n = np.where(self.n > 0, self.n, 1.0)
        c = (self.t / self.N) ** 0.25 if self.N > 0 else 1.0
        return c * np.clip(raw, -self.n, self.n) / n / self.D**0.25

    def measure(self, raw):
        self.n = np.maximum(self.n, abs(raw))
        self.t += 1
        self.N += np.sum((raw / np.where(self.n > 0, self.n, 1.0)) ** 2)

    def step(self, raw, slope):
        before = self.of(raw)
        self.D = self.D + (slope * raw / (np.where(self.n > 0, self.n, 1.0) if self.normalised else 1.0)) ** 2
        return before if self.earlier else self.of(raw)


class DenseNewton:
    """Algorithm 1 with A^-1 of a sketch: `inverse()` and `sketch(g)` are those of a class below."""

    def __init__(self, dimension, m, alpha, curvature, largest, project=False, diagonal=False, **view):
        self.u = np.zeros(dimension)
        self.view = View(dimension, diagonal, **view)
        self.seen = np.zeros(dimension, bool)
        self.t = 0
        self.m, self.alpha, self.curvature, self.largest, self.project = m, alpha, curvature, largest, project

    def learn(self, slots, raw, derivative):
        margin = np.clip(self.u @ np.where(self.seen, self.view.of(raw), 0.0), -self.largest, self.largest)
        self.welcome([slot for slot in sorted(slots, key=lambda slot: (slot == 0, slot)) if not self.seen[slot]])
        self.view.measure(raw)
        self.t += 1
        x = self.view.of(raw)
        w = self.u
        if self.project and abs(self.u @ x) > self.largest:
            Ainv = self.inverse()
            beyond = self.u @ x - np.clip(self.u @ x, -self.largest, self.largest)
            w = self.u - beyond / (x @ Ainv @ x) * (Ainv @ x)
        slope = derivative(margin)
        g = slope * self.view.step(raw, slope)
        self.sketch(np.sqrt(self.curvature) * g)
        self.step(w, g)
        return margin

    def step(self, w, g):
        self.u = w - self.inverse() @ g

    def welcome(self, slots):
        self.seen[slots] = True


class DenseOja(DenseNewton):
    """V starts as unit vectors of the features first seen (by id within an example, 0 last), or as it is given."""

    def __init__(self, dimension, m, *rest, start=None, gamma=1.0, by_mass=False, **more):
        super().__init__(dimension, m, *rest, **more)
        self.first = start is None
        self.V = np.zeros((m, dimension)) if start is None else start
        self.mass = np.zeros(m)
        self.gamma, self.by_mass = gamma, by_mass

    def inverse(self):
        """(I - V' diag(P / (alpha + P)) V) / alpha."""
        return (np.eye(len(self.u)) - self.V.T @ np.diag(self.mass / (self.alpha + self.mass)) @ self.V) / self.alpha

    def welcome(self, slots):
        for slot in slots:
            if self.first and self.seen.sum() < self.m:
                self.V[self.seen.sum(), slot] = 1.0
            self.seen[slot] = True

    def sketch(self, g):
        along = self.V @ g
        self.mass += along**2
        self.V = self.orthonormalised(self.V + np.outer(self.steps(self.mass, g) * along, g))

    def steps(self, mass, g):
        """The diagonal of Gamma."""
        if self.by_mass and g.any():
            return self.gamma / np.maximum(mass, g @ g / 1024)
        return np.full(self.m, self.gamma / self.t)

    def orthonormalised(self, V):
        live = np.linalg.norm(V, axis=1) > 0
        L = np.linalg.cholesky(V[live] @ V[live].T)
        V[live] = np.linalg.solve(L, V[live])
        return V


class DenseBlockOja(DenseOja):
    """The directions are turned once for so many gradients, by the sum of what each would do alone."""

    def __init__(self, *rest, every, **more):
        super().__init__(*rest, **more)
        self.every, self.block = every, []

    def sketch(self, g):
        if self.m == 0 or not g.any():
            return
        mass = self.mass + sum((self.V @ h) ** 2 for h, _ in self.block) + (self.V @ g) ** 2
        self.block.append((g, self.steps(mass, g)))
        if len(self.block) == self.every:
            turned = self.V + sum(np.outer(steps * (self.V @ h), h) for h, steps in self.block)
            self.mass, self.block = mass, []
            self.V = self.orthonormalised(turned)


class DenseFrequentDirections(DenseNewton):
    """[D V; G] is decomposed when there are m new vectors; a gradient of zero is not one: that is ours."""

    def __init__(self, dimension, m, *rest, **more):
        super().__init__(dimension, m, *rest, **more)
        self.top, self.recent = np.zeros((m, dimension)), np.zeros((0, dimension))

    def inverse(self):
        """A^-1 of A = alpha I + S'S."""
        S = np.vstack([self.top, self.recent])
        return np.linalg.inv(self.alpha * np.eye(len(self.u)) + S.T @ S)

    def sketch(self, g):
        if self.m == 0 or not g.any():
            return
        self.recent = np.vstack([self.recent, g])
        if len(self.recent) == self.m:
            _, roots, V = np.linalg.svd(np.vstack([self.top, self.recent]), full_matrices=False)
            squares = np.zeros(2 * self.m)
            squares[: len(roots)] = roots**2
            kept = min(self.m, len(roots))
            self.top[:kept] = np.sqrt(squares[:kept] - squares[self.m - 1])[:, None] * V[:kept]
            self.recent = self.recent[:0]


class DenseRobustDirections(DenseFrequentDirections):
    """Luo et al. (2019), RFD-SON: half of the eigenvalue that an epoch's end takes off goes to alpha."""

    def sketch(self, g):
        ends = self.m > 0 and g.any() and len(self.recent) == self.m - 1
        if ends:
            squares = np.linalg.svd(np.vstack([self.top, self.recent, g]), compute_uv=False) ** 2
        super().sketch(g)
        if ends:
            self.alpha += squares[self.m - 1] / 2


class DenseSketchedAdaGrad(DenseRobustDirections):
    """Feinberg et al. (2023), Algorithm 2, decomposed once an epoch: (V' P V + rho I)^(1/2); `alpha` is rho.

    Vectors of the epoch under way count along each of V, and as escaped beyond: that is ours.
    """

    def __init__(self, dimension, m, rho, rate, *rest, **more):
        super().__init__(dimension, m, rho, *rest, **more)
        self.rate = rate

    def inverse(self):
        masses, V = np.linalg.eigh(self.top.T @ self.top)
        live = masses > 1e-9 * max(masses.max(), 1e-300)
        V, masses = V[:, live], masses[live]
        along = (self.recent @ V) ** 2
        rho = self.alpha + np.sum(self.recent**2) - along.sum()
        inside = (masses + along.sum(axis=0) + rho) ** -0.5 - rho**-0.5
        return self.rate * (V @ np.diag(inside) @ V.T + rho**-0.5 * np.eye(len(self.u)))

    def sketch(self, g):
        before = self.alpha
        super().sketch(g)
        self.alpha = before + 2.0 * (self.alpha - before)  # all of the eigenvalue


class DenseSketchyLeader(DenseSketchedAdaGrad):
    """Yang et al. (2025): u = -rate H^-1 (sum of g), H = delta I + (V' P V + rho I)^(1/2), likewise by epochs.

    A projection moves the sum of gradients along x: that is ours.
    """

    def __init__(self, dimension, m, delta, rate, *rest, **more):
        super().__init__(dimension, m, 0.0, rate, *rest, **more)
        self.delta, self.dual = delta, np.zeros(dimension)

    def inverse(self):
        """H^-1."""
        masses, V = np.linalg.eigh(self.top.T @ self.top)
        live = masses > 1e-9 * max(masses.max(), 1e-300)
        V, masses = V[:, live], masses[live]
        along = (self.recent @ V) ** 2
        rho = max(self.alpha + np.sum(self.recent**2) - along.sum(), 0.0)
        inside, outside = (self.delta + np.sqrt(root) for root in (masses + along.sum(axis=0) + rho, rho))
        return V @ np.diag(1.0 / inside - 1.0 / outside) @ V.T + np.eye(len(self.u)) / outside

    def sketch(self, g):
        self.before = self.inverse()
        super().sketch(g)

    def step(self, w, g):
        self.dual = np.linalg.solve(self.before, w) - self.rate * g
        self.u = self.inverse() @ self.dual


class DenseRandomProjection(DenseNewton):
    """S gains r g', r the signs drawn (the bits of splitmix64, lowest first) over the root of m; m below 65."""

    def __init__(self, dimension, m, *rest, **more):
        super().__init__(dimension, m, *rest, **more)
        self.S, self.state = np.zeros((m, dimension)), 1

    def inverse(self):
        """A^-1 of A = alpha I + S'S."""
        return np.linalg.inv(self.alpha * np.eye(len(self.u)) + self.S.T @ self.S)

    def sketch(self, g):
        if self.m == 0 or not g.any():
            return
        word = self.word()
        signs = [1.0 if word >> i & 1 else -1.0 for i in range(self.m)]
        self.S += np.outer(signs, g) / np.sqrt(self.m)

    def word(self):
        """Splitmix64."""
        mask = 2**64 - 1
        self.state = self.state + 0x9E3779B97F4A7C15 & mask
        word = self.state
        word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 & mask
        word = (word ^ word >> 27) * 0x94D049BB133111EB & mask
        return word ^ word >> 31
