"""The default learner in dense, plain algebra: features standardised as they come, models on them, and a mixture."""

import copy

import numpy as np


def arrived(derivative, prediction, target, push, parts=500):
    """Where a prediction ends that goes a push's length down its loss in small steps."""
    for _ in range(parts):
        prediction -= push / parts * derivative(prediction, target)
    return prediction


def _caution(examples):
    return 1 + (12 / examples) ** 2


def _is_end(t):
    """Whether a window ends with example t."""
    return t >= 4 and (t & (t - 1) == 0 if t <= 512 else t % 512 == 0)


class View:
    """What models see of dense rows (d,), the constant first; `models` are told by `turn` where a feature turns."""

    def __init__(self, dimension, turns=True):
        self.columns, self.may_turn = [Column() for _ in range(dimension)], turns
        self.t, self.N, self.row = 0, 0.0, None

    @property
    def dense(self):
        return np.array([column.dense for column in self.columns])

    def reach(self, t):
        """How far rare features reach after t examples."""
        count = np.array([column.count for column in self.columns])
        return np.sqrt(min(1 + t / 10, 49, 1 + count.sum() / max(np.count_nonzero(count), 1)))

    def see(self, x):
        reach = self.reach(self.t)
        z = np.array([column.seen(value, self.t, reach) for column, value in zip(self.columns, x, strict=True)])
        for column, value in zip(self.columns, x, strict=True):
            column.note(value, self.t)
        self.t, self.row = self.t + 1, x
        self.N += z @ z
        return z

    def turns(self):
        """(slot, factor of its weight, part of it that the constant takes), one after the other."""
        for j, column in enumerate(self.columns):
            enough = self.may_turn and self.t >= 2 and column.count >= max(self.t / 2, min(self.t, 3))
            if j > 0 and not column.dense and self.row[j] != 0 and enough:
                unit = column.unit(self.t, self.reach(self.t))
                column.turn_dense(self.t)
                yield j, min(column.spread() / unit, 1.0), np.clip(column.mean / unit, -1.0, 1.0)
        for j, column in enumerate(self.columns):
            if column.dense and column.count < self.t / 4:
                mean, spread = column.mean, column.spread()
                column.turn_rare(self.t)
                unit = column.unit(self.t, self.reach(self.t))
                yield j, unit / spread if spread > 0 else 0.0, -mean / spread if spread > 0 else 0.0


class Column:
    """One feature: mean and variance while it is dense, sums while it is rare; outliers count little."""

    def __init__(self):
        self.dense, self.count = False, 0
        self.sum = self.squares = self.largest = 0.0
        self.mean = self.variance = self.bound = 0.0
        self.window, self.out, self.believed = [], 0, False
        self.high = False  # whether the value just seen may be far off
        self.run, self.side = [], 0

    def spread(self):
        return np.sqrt(self.variance) if self.variance > 1e-10 * self.mean**2 else 0.0

    def unit(self, t, reach):
        """By what rare values are divided."""
        return max(np.sqrt(self.squares / t), self.largest / reach)

    def _with(self, x, t):
        """Mean and variance of t examples and x."""
        mean = self.mean + (x - self.mean) / (t + 1)
        return mean, (self.variance * t + (x - self.mean) * (x - mean)) / (t + 1)

    def seen(self, x, t, reach):
        """z of a value after t examples."""
        if self.dense:
            mean, variance = self._with(x, t)
            z = np.clip((x - mean) / np.sqrt(variance), -3, 3) if variance > 1e-10 * mean**2 else 0.0
            self.high = abs(z) > 2.5
            return 0.0 if self.high and self._is_outlier(x, t, 1000) else z
        unit = max(np.sqrt((self.squares + x**2) / (t + 1)), max(abs(x), self.largest) / reach)
        return x / unit if x != 0 else 0.0

    def note(self, x, t):
        """Take note of a value after t examples."""
        if self.dense:
            self._note_dense(x, t)
        elif x != 0:
            self._note_rare(x)

    def _is_outlier(self, x, t, spreads):
        """Whether a dense value is that many spreads off, and none that is believed."""
        known = t >= 8 and self.variance > 1e-10 * self.mean**2 and not self.believed
        return known and abs(x - self.mean) > max(spreads * _caution(t) * np.sqrt(self.variance), self.bound)

    def _note_dense(self, x, t):
        far, counts = abs(x - self.mean), x
        if self.high and far > 20 * _caution(t) * np.sqrt(self.variance):
            if self._is_outlier(x, t, 20):
                self.out, counts = self.out + 1, self.mean + np.sign(x - self.mean) * 3 * np.sqrt(self.variance)
            else:
                self.bound = max(self.bound, 4 * far)
        self.count += x != 0
        self.mean, self.variance = self._with(counts, t)
        t += 1
        self.window.append(counts if t <= 512 or t % 16 == 0 else None)
        if _is_end(t):
            self._review(t)

    def _review(self, t):
        """Look at the scale behind a window."""
        w = t // 2 if t <= 512 else 512
        values, crowded = [value for value in self.window if value is not None], self.out > w / 2
        wide = max(values) - min(values) if values else 0.0
        if t >= 8 and wide > 0 and (self.believed or self.spread() > _caution(self.samples(t, w)) * wide * t / (2 * w)):
            self.mean, self.variance, self.bound = (max(values) + min(values)) / 2, (wide / 4) ** 2, 0.0
            self.believed = False
        self.believed |= crowded
        self.window, self.out = [], 0

    def samples(self, t, w):
        """How many values of a window count in its range."""
        return w if t <= 512 else w / 16

    def _note_rare(self, x):
        size, limit = abs(x), 20 * _caution(self.count) if self.count else np.inf
        side = 1 if self.count >= 8 and size > limit * self.largest else -1 if limit * size < self.largest else 0
        self.run = [*(self.run if side == self.side else []), size] if side else []
        self.side = side
        if side and len(self.run) >= min(max(self.count / 2, 8), 512):
            self.largest = max(self.run)
            if side < 0:
                self.sum = np.clip(self.sum, -self.largest * self.count, self.largest * self.count)
                self.squares = min(self.squares, self.largest**2 * self.count)
        elif side > 0:
            x = np.sign(x) * self.largest
        self.count, self.sum, self.squares = self.count + 1, self.sum + x, self.squares + x**2
        self.largest = max(self.largest, abs(x))

    def turn_dense(self, t):
        self.dense, self.mean = True, self.sum / t
        self.variance = max(self.squares / t - self.mean**2, 0.0)
        self.bound = self.largest + abs(self.mean) if self.count < t else 0.0
        self.window, self.out, self.believed = [], 0, False

    def turn_rare(self, t):
        self.dense, self.sum = False, self.mean * t
        self.squares = (self.variance + self.mean**2) * t
        self.largest, self.run, self.side = np.sqrt(self.squares / self.count), [], 0


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


class PassiveAggressive:
    """PA-I."""

    def __init__(self, dimension):
        self.w = np.zeros(dimension)

    def score(self, z):
        return self.w @ z

    def learn(self, z, target, unit):
        self.w += min(1.0, max(0.0, 1.0 - target * self.score(z)) / (z @ z)) * target * z

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
        kinds = ((_logistic, 1.0), (_squared_hinge, 0.5), (_hinge, 0.5))
        self.first = [*(AdaGrad(dimension, *kind) for kind in kinds), PassiveAggressive(dimension)]
        self.arow, self.newton = Arow(dimension, 1), Newton(dimension, 1)
        self.counts, self.balanced = [1, 1], 3.0  # one more than there are of each class

    def learn(self, x, y):
        """The margin of an example of class y (0 or 1) before it is learnt."""
        dense = self.view.dense.copy()
        z = self.view.see(x)
        members = dense | (x != 0)
        m = np.array([*(model.score(z) for model in self.first), self.arow.score(z)[0], self.newton.score(z)[0]])
        self.counts[int(y)] += 1
        longer = max(1.0, abs(np.log(self.counts[1] / self.counts[0])) / self.balanced)
        for model in self.first:
            model.learn(z, 2.0 * y - 1, longer * np.sqrt(self.view.t / self.view.N))
        self.arow.learn(z, y, 10 * self.view.t / self.view.N, members)
        self.newton.learn(z, y, members)
        margin = self.mixture.learn(m, y)
        for turn in self.view.turns():
            for model in (*self.first, self.arow, self.newton):
                model.turn(*turn)
        return margin


class Regrets:
    """Weights of predictions by their regrets, squares of these and the largest: ML-Poly."""

    def __init__(self, experts):
        self.R, self.V, self.B = np.zeros(experts), np.zeros(experts), 0.0

    def weights(self):
        p = np.maximum(self.R, 0.0) / (self.B + self.V) if self.B > 0 else np.zeros(len(self.R))
        return p / p.sum() if p.sum() > 0 else np.arange(len(p)) == 0

    def learn(self, experts, found, loss, derivative, target):
        g = derivative(found, target)
        r = g * (found - experts) if g != 0 else loss(found, target) - np.array([loss(f, target) for f in experts])
        self.R, self.V, self.B = self.R + r, self.V + r**2, max(self.B, np.max(r**2))


class ByLoss:
    """Margins by another loss, given its first two derivatives: half the log odds times a number."""

    def __init__(self, slow, derivative, curvature):
        self.slow, self.terms, self.u, self.A = slow, (derivative, curvature), 1.0, 1.0

    def learn(self, x, y):
        """The margin, or the scores, of an example of class y before it is learnt."""
        scores, u, (derivative, curvature) = self.slow.learn(x, y), self.u, self.terms
        m = ((2 * y - 1) * scores if np.ndim(scores) == 0 else scores[y] - np.delete(scores, y).max()) / 2
        slope = derivative(u * m, 1.0)
        self.A = 1 + 0.9995 * (self.A - 1) + max(max(curvature(u * m, 1.0), slope**2) * m**2, 1e-3)
        self.u = max(u - slope * m / self.A, 1e-3)
        return u * scores / 2


class Ranking:
    """Margins of pairs, dense rows of differences without a constant: the mean of safe models' scores."""

    def __init__(self, dimension):
        self.view, kinds = View(dimension, turns=False), ((_logistic, 1.0), (_squared_hinge, 0.5), (_hinge, 0.5))
        self.first = [AdaGrad(dimension, *kind) for kind in kinds]
        self.arow, self.newton = Arow(dimension, 1), Newton(dimension, 1)

    def learn(self, x):
        """The margin of a pair before it is learnt."""
        reach = self.view.reach(self.view.t)
        units = np.array([column.unit(max(self.view.t, 1), reach) for column in self.view.columns])
        scaled = np.divide(x, units, out=np.zeros(len(x)), where=units > 0)
        models = [*self.first, self.arow, self.newton]
        margin = np.mean([np.ravel(model.score(scaled))[0] for model in models])
        z = self.view.see(x)
        for model in self.first:
            model.learn(z, 1.0, np.sqrt(self.view.t / self.view.N))
        self.arow.learn(z, 1, 10 * self.view.t / self.view.N, x != 0)
        self.newton.learn(z, 1, x != 0)
        return margin


class Discriminant:
    """Linear discriminant analysis, by the sum of (z - m)(z - m)' itself and with no more of it than there is."""

    def __init__(self, dimension, classes):
        self.means, self.counts = np.zeros((classes, dimension)), np.zeros(classes)
        self.known, self.below = np.zeros(dimension, bool), False
        self.matrix = 3.0 * np.eye(dimension)

    def score(self, z):
        """The logarithms of densities, but for what is the same for all classes."""
        if not self.counts.any():
            return np.zeros(len(self.counts))
        here = np.ix_(self.known, self.known)
        weights = np.linalg.solve(self.matrix[here] / (self.counts.sum() + 3), self.means[:, self.known].T)
        gaps = np.sum((z[self.known] - 0.5 * self.means[:, self.known]) * weights.T, axis=1)
        gaps[self.counts == 0] = np.average(gaps, weights=self.counts)
        return gaps + np.log(self.counts + 0.5)

    def learn(self, z, y):
        new = (z != 0) & ~self.known & (np.arange(len(z)) > 0)
        self.matrix[new, new], self.known[new] = 3.0, True
        t = np.where(self.known, z - self.means[y], 0.0)
        kept = 0.999 if self.below else 1.0
        self.matrix = kept * (self.matrix + self.counts[y] / (self.counts[y] + 1) * np.outer(t, t))
        if self.known.any():
            self.below = np.diag(np.linalg.inv(self.matrix[np.ix_(self.known, self.known)])).max() < 1 / 3
        step = t / (self.counts[y] + 1)
        self.counts *= kept
        self.counts[y] += 1
        self.means[y] += step

    def turn(self, j, factor, part):
        """Have the means follow z, and know nothing more of products with it."""
        self.means[:, j] = np.where((self.counts > 0) & (factor > 0), (self.means[:, j] - part) / (factor or 1), 0.0)
        self.matrix[j], self.matrix[:, j], self.known[j] = 0.0, 0.0, factor > 0
        self.matrix[j, j] = 3.0


class SeveralClasses:
    """Scores of a stream of dense rows that hold the constant first."""

    def __init__(self, dimension, classes):
        self.view, self.mixture = View(dimension), Mixture(6, 16.0)
        self.discriminant = Discriminant(dimension, classes)
        self.softmax, self.bold = Softmax(dimension, classes, 1.0), Bold(dimension, classes, 8.0)
        self.hinge = [AdaGrad(dimension, _hinge, 0.5) for _ in range(classes)]
        self.arow, self.newton = Arow(dimension, classes), Newton(dimension, classes)

    def learn(self, x, y):
        """The scores of an example of class y before it is learnt."""
        dense = self.view.dense.copy()
        z = self.view.see(x)
        members = dense | (x != 0)
        second = np.array([model.score(z) for model in self.hinge])
        others = (self.softmax, self.bold, self.arow, self.newton, self.discriminant)
        m = np.column_stack([model.score(z) for model in others])
        m = np.insert(m, 1, second, axis=1)
        unit = np.sqrt(self.view.t / self.view.N)
        self.softmax.learn(z, y, unit)
        self.bold.learn(z, y, unit)
        for c, model in enumerate(self.hinge):
            model.learn(z, 1.0 if c == y else -1.0, unit)
        self.arow.learn(z, y, 10 * self.view.t / self.view.N, members)
        self.newton.learn(z, y, members)
        self.discriminant.learn(z, y)
        scores = self.mixture.learn(m, y)
        for turn in self.view.turns():
            for model in (self.softmax, self.bold, *self.hinge, self.arow, self.newton, self.discriminant):
                model.turn(*turn)
        return scores


class Labels(Column):
    """Mean, variance and range of numbers to predict."""

    def __init__(self):
        super().__init__()
        self.t, self.low, self.high = 0, 0.0, 0.0

    def samples(self, t, w):
        return w

    def note(self, y):
        """Take note of a label; the label as it counts."""
        far, counts = abs(y - self.mean), y
        if far > 100 * _caution(max(self.t, 1)) * np.sqrt(self.variance):
            known = self.t >= 8 and self.variance > 1e-10 * self.mean**2
            if known and not self.believed and far > self.bound:
                self.out, counts = self.out + 1, self.mean + np.sign(y - self.mean) * 3 * np.sqrt(self.variance)
            else:
                self.bound = max(self.bound, 4 * far)
        self.low, self.high = (min(self.low, counts), max(self.high, counts)) if self.t else (counts, counts)
        self.mean, self.variance = self._with(counts, self.t)
        self.window.append(y if counts == y else None)
        self.t += 1
        return counts

    def review(self):
        """By what the spread has changed where a window ends."""
        before, values = self.variance, [value for value in self.window if value is not None]
        if _is_end(self.t):
            self._review(self.t)
            if self.variance != before:
                self.low, self.high = min(values), max(values)
        return np.sqrt(self.variance / before) if before > 0 else 1.0


class Regression:
    """Predictions of a stream of dense rows that hold the constant first."""

    def __init__(self, dimension):
        self.view, self.labels = View(dimension), Labels()
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
        mean, low, high = self.labels.mean, self.labels.low, self.labels.high
        f = np.array([*(model.score(z) for model in self.first), self.w @ z])
        m = np.clip(f, low - mean, high - mean)
        before, y = copy.copy(self.labels), self.labels.note(y)
        prediction = self.predicted(z, y, before, m, np.clip(mean + self.u @ m, low, high))
        self.present += members.sum()
        spread = np.sqrt(self.labels.variance)
        if spread > 0:
            self._learn(z, y - mean, f, m / spread, spread, members)
        unit = self.labels.review()
        self.w *= unit
        for model in self.first:
            model.w, model.squares = model.w * unit, model.squares * unit**2
        for turn in self.view.turns():
            j, factor, part = turn
            for model in (*self.first, *self.more):
                model.turn(*turn)
            self.w[0] += part * self.w[j]
            self.w[j] *= factor
            self.S[j], self.S[:, j] = 0.0, 0.0
        return prediction

    def predicted(self, z, y, labels, m, prediction):
        """What is predicted, by the prediction of the squared loss and those of its models, less the mean before."""
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

    def __init__(self, dimension, value, slope, logarithms=False, probability=0.5):
        super().__init__(dimension)
        self.value, self.slope, self.logarithms, self.probability = value, slope, logarithms, probability
        self.more = [Near(dimension, 0.3), Near(dimension, 0.2)]
        self.seen, self.c, self.q, self.gaps, self.squares = [], 0.0, 0.0, np.zeros(2), 0.0
        self.R, self.V, self.B = np.zeros(8), np.zeros(8), 0.0

    def level(self, number, floor, labels):
        """The margin that stands for a number."""
        if not self.logarithms:
            return number
        return np.log(np.maximum(number, floor * max(labels.mean, 0.5 / (labels.t + 0.5))))

    def predicted(self, z, y, labels, m, prediction):
        t = labels.t + 1
        c = self.level(0.0, 1.0, labels) if self.logarithms else self.c
        first = self.level(prediction, 0.05, labels)
        near, p = [model.w @ z for model in self.more], 0.5 if self.logarithms else self.probability
        shifted = self.level(prediction, 0.2, labels) + self.q
        singles = self.level(labels.mean + m, 0.05, labels)
        experts = np.array([c, first, shifted, c + near[0], first + near[1], *singles])
        experts = np.clip(experts, self.level(labels.low, np.exp(-5), labels), self.level(labels.high, 1.0, labels))
        ahead = min(4, 0.5 / min(p, 1 - p)) * np.sqrt(self.B) * (np.arange(8) == 0)
        p = np.maximum(self.R + ahead, 0) / np.maximum(self.B + self.V, 1e-200)
        f = experts @ p / p.sum() if p.sum() > 0 else experts[0]
        spread = np.sqrt(self.labels.variance)
        if t == 1:
            self.seen, self.c = [y], y
            return f
        slope = self.slope(f, y)
        r = slope * (f - experts) if slope != 0 else self.value(f, y) - np.array([self.value(e, y) for e in experts])
        self.R, self.V, self.B = self.R + r, self.V + r**2, max(self.B, np.max(r**2))
        self.gaps += np.abs([y - self.c, y - prediction])
        units = np.array([1.0, 1.0]) if self.logarithms else self.gaps / t
        if not self.logarithms:
            self.seen = sorted([*self.seen, y])
            self.c = np.quantile(self.seen, self.probability, method="averaged_inverted_cdf")
            self.q = self._moved(self.q, experts[2], y, units[1], t)
        for model, e, unit in zip(self.more, experts[3:5], units, strict=True) if spread > 0 else ():
            model.learn(z, e, lambda margin: self.slope(margin, y), unit * np.sqrt(self.view.t / self.view.N))
        return f

    def _moved(self, constant, expert, y, unit, t):
        slope, gap = self.slope(expert, y), y - expert
        self.squares += slope**2
        step = 1.5 * unit * slope / np.sqrt(self.squares * t) if slope != 0 else 0.0
        return constant + gap if abs(step) > abs(gap) else constant - step
