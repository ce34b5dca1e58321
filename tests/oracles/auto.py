"""The default learner in dense, plain algebra: features standardised as they come, models on them, and a mixture."""

import numpy as np

from tests.oracles.stacked_rates import arrived


class View:
    """What models see of dense rows (d,), the constant first; `models` are told by `turn` where a feature turns."""

    def __init__(self, dimension):
        self.rows = np.zeros((0, dimension))
        self.dense = np.zeros(dimension, bool)
        self.size = np.zeros(dimension)  # unit of the rare features
        self.N = 0.0

    @property
    def t(self):
        return len(self.rows)

    def moments(self):
        """Mean and spread of every feature, 0 for constants."""
        mean, spread = self.rows.mean(axis=0), self.rows.std(axis=0)
        return mean, np.where(spread**2 > 1e-10 * mean**2, spread, 0.0)

    def units(self, t):
        """By what rare features are divided, after t examples: their root mean square, or the largest by the reach."""
        count = np.count_nonzero(self.rows[:t], axis=0)
        reach = np.sqrt(min(1 + t / 10, 49, 1 + count.sum() / max(np.count_nonzero(count), 1)))
        return np.maximum(np.sqrt(np.mean(self.rows**2, axis=0)), self.size / reach)

    def see(self, x):
        self.rows = np.vstack([self.rows, x])
        self.size = np.where(self.dense, 0.0, np.maximum(self.size, np.abs(x)))
        mean, spread = self.moments()
        unit = self.units(self.t - 1)
        rare = np.divide(x, unit, out=np.zeros(len(x)), where=unit > 0)
        standard = np.clip(np.divide(x - mean, spread, out=np.zeros(len(x)), where=spread > 0), -3, 3)
        z = np.where(self.dense, standard, rare)
        self.N += z @ z
        return z

    def turns(self):
        """(slot, factor of its weight, part of it that the constant takes), one after the other."""
        count = np.count_nonzero(self.rows, axis=0)
        mean, spread = self.moments()
        for j in range(1, len(self.dense)):
            enough = self.t >= 2 and count[j] >= max(self.t / 2, min(self.t, 3))
            if not self.dense[j] and self.rows[-1, j] != 0 and enough:
                unit = self.units(self.t)[j]
                yield j, min(spread[j] / unit, 1.0), np.clip(mean[j] / unit, -1.0, 1.0)
                self.dense[j], self.size[j] = True, 0.0
        for j in np.flatnonzero(self.dense & (count < self.t / 4)):
            self.dense[j], self.size[j] = False, np.sqrt(np.sum(self.rows[:, j] ** 2) / count[j])
            yield (
                j,
                self.units(self.t)[j] / spread[j] if spread[j] > 0 else 0.0,
                -mean[j] / spread[j] if spread[j] > 0 else 0.0,
            )


class AdaGrad:
    """Normalised AdaGrad of one column of scores for each target."""

    def __init__(self, dimension, derivative, rate, safe=True):
        self.derivative, self.rate, self.safe = derivative, rate, safe
        self.w, self.squares = np.zeros(dimension), np.zeros(dimension)

    def score(self, z):
        return self.w @ z

    def learn(self, z, target, unit):
        f = self.score(z)
        g = self.derivative(f, target) * z
        self.squares += g**2
        moved, root = g != 0, np.sqrt(np.where(self.squares > 0, self.squares, 1.0))
        rate = self.rate * unit
        if self.safe and moved.any():
            push = rate * np.sum((z**2 / root)[self.squares > 0])
            rate *= (f - arrived(self.derivative, f, target, push)) / (push * self.derivative(f, target))
        self.w -= rate * g / root

    def turn(self, j, factor, part):
        self.w[0] += part * self.w[j]
        self.w[j] *= factor


class Softmax:
    """Normalised AdaGrad of the multinomial loss; its step goes as far as many small ones."""

    def __init__(self, dimension, classes, rate):
        self.rate, self.w, self.squares = rate, np.zeros((dimension, classes)), np.zeros((dimension, classes))

    def score(self, z):
        return z @ self.w

    def learn(self, z, y, unit):
        f = self.score(z)
        p = np.exp(f - f.max())
        p /= p.sum()
        d = p - (np.arange(len(p)) == y)
        self.squares += np.outer(z, d) ** 2
        root = np.sqrt(np.where(self.squares > 0, self.squares, 1.0))
        pushes = self.rate * unit * np.sum(z[:, None] ** 2 / root * (self.squares > 0), axis=0)
        weight = p / (1 - p[y])
        weight[y] = 1.0
        push, margin = pushes @ weight**2, np.log(p[y] / (1 - p[y]))

        def logistic(m, target):
            return -1 / (1 + np.exp(m))

        share = (margin - arrived(logistic, margin, 1, push)) / (push * logistic(margin, 1))
        self.w -= share * self.rate * unit * np.outer(z, d) / root

    def turn(self, j, factor, part):
        self.w[0] += part * self.w[j]
        self.w[j] *= factor


class Bold:
    """Normalised AdaGrad for the true class and against the best wrong one, whole steps of the hinge loss."""

    def __init__(self, dimension, classes, rate):
        self.rate, self.w, self.squares = rate, np.zeros((dimension, classes)), np.zeros((dimension, classes))

    def score(self, z):
        return z @ self.w

    def learn(self, z, y, unit):
        f = self.score(z)
        wrong = f.copy()
        wrong[y] = -np.inf
        for c, sign in ((y, 1.0), (int(wrong.argmax()), -1.0)) if f[y] - wrong.max() < 1 else ():
            self.squares[:, c] += z**2
            self.w[:, c] += sign * self.rate * unit * z / np.sqrt(np.where(z != 0, self.squares[:, c], 1.0))

    def turn(self, j, factor, part):
        self.w[0] += part * self.w[j]
        self.w[j] *= factor


class Arow:
    """Diagonal AROW of two classes or several: the true one against the best wrong one."""

    def __init__(self, dimension, classes):
        self.mean, self.variance = np.zeros((dimension, classes)), np.zeros((dimension, classes))

    def score(self, z):
        return z @ self.mean

    def learn(self, z, y, prior, targets=None):
        f, seen = self.score(z), z != 0 if targets is None else targets
        if len(f) == 1:
            chosen, signs = [0], np.array([2.0 * y - 1])
        else:
            wrong = f.copy()
            wrong[y] = -np.inf
            chosen, signs = [y, int(wrong.argmax())], np.array([1.0, -1.0])
        gap = 1 - signs @ f[chosen]
        fresh = seen[:, None] & (self.variance[:, chosen] == 0)
        if gap > 0:
            self.variance[:, chosen] = np.where(fresh, prior, self.variance[:, chosen])
            change = self.variance[:, chosen] * z[:, None]
            beta = 1 / (np.sum(change * z[:, None]) + 1)
            self.mean[:, chosen] += gap * beta * signs * change
            self.variance[:, chosen] -= beta * change**2

    def turn(self, j, factor, part):
        self.mean[0] += part * self.mean[j]
        self.mean[j] *= factor
        self.variance[j] = 0.0


class Newton:
    """Second-order logistic or softmax regression on all features, one covariance for all classes."""

    def __init__(self, dimension, columns, prior=3.0):
        self.w, self.S = np.zeros((dimension, columns)), np.zeros((dimension, dimension))
        self.B, self.H, self.scale = np.full(columns, 1 / columns), 1.0, prior
        self.present, self.seen, self.below = 0, 0, False

    def score(self, z):
        return z @ self.w

    def learn(self, z, y, members):
        f = self.score(z)
        self.present, self.seen = self.present + members.sum(), self.seen + 1
        prior = self.scale * self.seen / self.present
        fresh = members & (np.diag(self.S) == 0)
        self.S[fresh, fresh] = prior
        if len(f) == 1:
            p = 1 / (1 + np.exp(-f))
            d = p - y
        else:
            p = np.exp(f - f.max())
            p /= p.sum()
            d = p - (np.arange(len(p)) == y)
        h = np.maximum((p * (1 - p) + d**2) / 2, 1e-3 / len(f))
        v = self.S @ z
        share = self.B / self.H if len(f) > 1 else 1.0
        self.w -= np.outer(v, d / (share + h * (v @ z)))
        self.S -= h.sum() / (1 + h.sum() * (v @ z)) * np.outer(v, v)
        self.S /= 0.999 if self.below else 1.0
        self.below = np.diag(self.S).max() < prior
        self.B, self.H = self.B + h, self.H + h.sum()

    def turn(self, j, factor, part):
        self.w[0] += part * self.w[j]
        self.w[j] *= factor
        self.S[j], self.S[:, j] = 0.0, 0.0


class Mixture:
    """u, by Newton steps with the whole matrix A, which forgets; and shares of it and of each model by itself."""

    def __init__(self, models, end):
        self.u, self.A, self.end = np.full(models, 1 / models), np.eye(models), end
        self.q, self.a, self.C = np.full(models + 1, 1 / (models + 1)), np.ones(models), np.ones(models)

    def learn(self, m, y):
        """The scores of margins m (models,) or (classes, models) before a step: a logit, or logarithms of shares."""
        m = np.clip(m, -self.end, self.end) if m.ndim == 1 else np.maximum(m - m.max(axis=0), -self.end)
        several = m if m.ndim == 2 else np.array([-m / 2, m / 2])
        scores = np.column_stack([several * self.a, several @ self.u])
        p = np.exp(scores - scores.max(axis=0))
        p /= p.sum(axis=0)
        told = np.log(p @ self.q)
        self.q = 0.999 * self.q * p[y] / (self.q @ p[y]) + 0.001 / len(self.q)
        mean = np.sum(p[:, :-1] * several, axis=0)
        curvature = np.sum(p[:, :-1] * (several - mean) ** 2, axis=0)
        self.C = 1 + 0.9995 * (self.C - 1) + np.maximum(curvature, 1e-3)
        self.a -= (mean - several[y]) / self.C
        self._mix(m, p[:, -1], y)
        return told if m.ndim == 2 else told[1] - told[0]

    def _mix(self, m, p, y):
        self.A = 0.9995 * self.A + 0.0005 * np.eye(len(self.u))
        if m.ndim == 1:
            self.A += max(p[0] * p[1], 1e-3) * np.outer(m, m)
            self.u -= np.linalg.solve(self.A, (p[1] - y) * m)
            return
        for share, row in zip(p, m - p @ m, strict=True):
            self.A += max(share, 1e-3) * np.outer(row, row) if share > 1e-4 else 0.0
        self.u -= np.linalg.solve(self.A, p @ m - m[y])


def _logistic(margin, target):
    return -target / (1 + np.exp(target * margin))


def _squared_hinge(margin, target):
    return -target * max(0.0, 1 - target * margin)


def _hinge(margin, target):
    return -target * (target * margin < 1)


class TwoClasses:
    """Margins of a stream of dense rows that hold the constant first."""

    def __init__(self, dimension):
        self.view, self.mixture = View(dimension), Mixture(6, 4.0)
        kinds = ((_logistic, 1.0, True), (_squared_hinge, 0.5, True), (_hinge, 0.5, True), (_hinge, 8.0, False))
        self.first = [AdaGrad(dimension, *kind) for kind in kinds]
        self.arow, self.newton = Arow(dimension, 1), Newton(dimension, 1)

    def learn(self, x, y):
        """The margin of an example of class y (0 or 1) before it is learnt."""
        dense = self.view.dense.copy()
        z = self.view.see(x)
        members = dense | (x != 0)
        m = np.array([*(model.score(z) for model in self.first), self.arow.score(z)[0], self.newton.score(z)[0]])
        for model in self.first:
            model.learn(z, 2.0 * y - 1, np.sqrt(self.view.t / self.view.N))
        self.arow.learn(z, y, 10 * self.view.t / self.view.N, members)
        self.newton.learn(z, y, members)
        margin = self.mixture.learn(m, y)
        for turn in self.view.turns():
            for model in (*self.first, self.arow, self.newton):
                model.turn(*turn)
        return margin


class SeveralClasses:
    """Scores of a stream of dense rows that hold the constant first."""

    def __init__(self, dimension, classes):
        self.view, self.mixture = View(dimension), Mixture(5, 16.0)
        self.softmax, self.bold = Softmax(dimension, classes, 1.0), Bold(dimension, classes, 8.0)
        self.hinge = [AdaGrad(dimension, _hinge, 0.5) for _ in range(classes)]
        self.arow, self.newton = Arow(dimension, classes), Newton(dimension, classes)

    def learn(self, x, y):
        """The scores of an example of class y before it is learnt."""
        dense = self.view.dense.copy()
        z = self.view.see(x)
        members = dense | (x != 0)
        second = np.array([model.score(z) for model in self.hinge])
        m = np.column_stack([model.score(z) for model in (self.softmax, self.bold, self.arow, self.newton)])
        m = np.insert(m, 1, second, axis=1)
        unit = np.sqrt(self.view.t / self.view.N)
        self.softmax.learn(z, y, unit)
        self.bold.learn(z, y, unit)
        for c, model in enumerate(self.hinge):
            model.learn(z, 1.0 if c == y else -1.0, unit)
        self.arow.learn(z, y, 10 * self.view.t / self.view.N, members)
        self.newton.learn(z, y, members)
        scores = self.mixture.learn(m, y)
        for turn in self.view.turns():
            for model in (self.softmax, self.bold, *self.hinge, self.arow, self.newton):
                model.turn(*turn)
        return scores


class Regression:
    """Predictions of a stream of dense rows that hold the constant first."""

    def __init__(self, dimension):
        self.view, self.labels = View(dimension), []
        self.first = [AdaGrad(dimension, lambda f, r: f - r, rate, rate < 1) for rate in (0.5, 8.0)]
        self.more = []  # models of a loss of its own, that turn as the others do
        self.w, self.S = np.zeros(dimension), np.zeros((dimension, dimension))
        self.u, self.A = np.full(3, 1 / 3), np.eye(3)
        self.present, self.below = 0, False

    def learn(self, x, y):
        """The prediction for an example before it is learnt."""
        dense = self.view.dense.copy()
        z = self.view.see(x)
        members = dense | (x != 0)
        mean = np.mean(self.labels) if self.labels else 0.0
        low, high = (min(self.labels), max(self.labels)) if self.labels else (0.0, 0.0)
        f = np.array([*(model.score(z) for model in self.first), self.w @ z])
        m = np.clip(f, low - mean, high - mean)
        prediction = self.predicted(z, y, mean, m, np.clip(mean + self.u @ m, low, high))
        self.labels.append(y)
        self.present += members.sum()
        spread = np.std(self.labels)
        if spread > 0:
            self._learn(z, y - mean, f, m / spread, spread, members)
        for turn in self.view.turns():
            j, factor, part = turn
            for model in (*self.first, *self.more):
                model.turn(*turn)
            self.w[0] += part * self.w[j]
            self.w[j] *= factor
            self.S[j], self.S[:, j] = 0.0, 0.0
        return prediction

    def predicted(self, z, y, mean, m, prediction):
        """What is said of an example, by the prediction of the squared loss and those of its models, less the mean."""
        return prediction

    def _learn(self, z, r, f, m, spread, members):
        for model in self.first:
            model.learn(z, r, spread * np.sqrt(self.view.t / self.view.N))
        prior = 10 * self.view.t / self.present
        fresh = members & (np.diag(self.S) == 0)
        self.S[fresh, fresh] = prior
        v = self.S @ z
        self.w -= (f[2] - r) * v / (1 + v @ z)
        self.S -= np.outer(v, v) / (1 + v @ z)
        self.S /= 0.999 if self.below else 1.0
        self.below = np.diag(self.S).max() < prior
        slope = self.u @ m - r / spread
        self.A = 0.9995 * self.A + 0.0005 * np.eye(len(self.u))
        self.A += np.outer(m, m)
        self.u -= np.linalg.solve(self.A, slope * m)


class Near:
    """Normalised AdaGrad by a loss in steps that do not overshoot, beside a prediction of something else."""

    def __init__(self, dimension, rate):
        self.rate, self.w, self.squares = rate, np.zeros(dimension), np.zeros(dimension)

    def learn(self, z, f, slope_at, unit):
        g = slope_at(f) * z
        self.squares += g**2
        if slope_at(f) != 0:
            root = np.sqrt(np.where(self.squares > 0, self.squares, 1.0))
            push = self.rate * unit * np.sum((z**2 / root)[self.squares > 0])
            share = (f - arrived(lambda p, _: slope_at(p), f, None, push)) / (push * slope_at(f))
            self.w -= share * self.rate * unit * g / root

    def turn(self, j, factor, part):
        self.w[0] += part * self.w[j]
        self.w[j] *= factor


class OtherNumbers(Regression):
    """Margins of a stream of numbers by a loss, given by its value and its slope at a margin."""

    def __init__(self, dimension, value, slope, logarithms=False):
        super().__init__(dimension)
        self.value, self.slope, self.logarithms = value, slope, logarithms
        self.more = [Near(dimension, 0.3), Near(dimension, 0.2)]
        self.c, self.q, self.gaps, self.squares = 0.0, 0.0, np.zeros(2), np.zeros(2)
        self.R, self.V, self.B = np.zeros(8), np.zeros(8), 0.0

    def level(self, number, floor):
        """The margin that stands for a number."""
        if not self.logarithms:
            return number
        t = len(self.labels)
        mean = max(np.mean(self.labels) if t else 0.0, 0.5 / (t + 0.5))
        return np.log(np.maximum(number, floor * mean))

    def predicted(self, z, y, mean, m, prediction):
        t = len(self.labels) + 1
        low, high = (min(self.labels), max(self.labels)) if self.labels else (0.0, 0.0)
        c = self.level(0.0, 1.0) if self.logarithms else self.c
        first = self.level(prediction, 0.05)
        near = [model.w @ z for model in self.more]
        shifted = self.level(prediction, 0.2) + self.q
        experts = np.array([c, first, shifted, c + near[0], first + near[1], *self.level(mean + m, 0.05)])
        experts = np.clip(experts, self.level(low, np.exp(-5)), self.level(high, 1.0))
        ahead = np.sqrt(self.B) * (np.arange(8) == 0)
        p = np.maximum(self.R + ahead, 0) / np.maximum(self.B + self.V, 1e-200)
        f = experts @ p / p.sum() if p.sum() > 0 else experts[0]
        spread = np.std([*self.labels, y])
        if t == 1:
            self.c = y
            return f
        slope = self.slope(f, y)
        r = slope * (f - experts) if slope != 0 else self.value(f, y) - np.array([self.value(e, y) for e in experts])
        self.R, self.V, self.B = self.R + r, self.V + r**2, max(self.B, np.max(r**2))
        self.gaps += np.abs([y - self.c, y - prediction])
        units = np.array([1.0, 1.0]) if self.logarithms else self.gaps / t
        if not self.logarithms:
            self.c = self._moved(0, self.c, experts[0], y, units[0], t)
            self.q = self._moved(1, self.q, experts[2], y, units[1], t)
        for model, e, unit in zip(self.more, experts[3:5], units, strict=True) if spread > 0 else ():
            model.learn(z, e, lambda margin: self.slope(margin, y), unit * np.sqrt(self.view.t / self.view.N))
        return f

    def _moved(self, place, constant, expert, y, unit, t):
        slope, gap = self.slope(expert, y), y - expert
        self.squares[place] += slope**2
        step = 1.5 * unit * slope / np.sqrt(self.squares[place] * t) if slope != 0 else 0.0
        return constant + gap if abs(step) > abs(gap) else constant - step
