"""Algorithms 1 and 2 of Tai, Sharan, Bailis & Valiant (2018) and the changes of Theorem 2, dense and one by one."""

import numpy as np


def cells(tables, slot, width):
    """Column and sign of a slot in every row: simple tabulation, the lowest bit the sign."""
    found = []
    for table in tables:
        word = 0
        for byte in range(4):
            word ^= int(table[byte, (int(slot) >> (8 * byte)) & 255])
        found.append(((word >> 1) * width >> 31, 1.0 - 2.0 * (word & 1)))
    return found


class Sketch:
    """z of the paper, times the root of its depth."""

    def __init__(self, width, depth, tables):
        self.z, self.tables = np.zeros((depth, width)), tables

    def said(self, slot):
        """What every row says of a slot."""
        return [s * row[c] for row, (c, s) in zip(self.z, cells(self.tables, slot, self.z.shape[1]), strict=True)]

    def query(self, slot):
        return np.median(self.said(slot))

    def update(self, slot, change):
        for row, (c, s) in zip(self.z, cells(self.tables, slot, self.z.shape[1]), strict=True):
            row[c] += s * change


def logistic_slope(margin, label):
    return -label / (1.0 + np.exp(label * margin))


def inverse_time(first, l2, t):
    return first / (1.0 + l2 * first * t)


class WeightMedian(Sketch):
    """Algorithm 1; with the mean of the iterates that predicted, and a projection on the ball of a radius."""

    def __init__(self, width, depth, tables, rate=0.1, l2=1e-6, radius=np.inf):
        super().__init__(width, depth, tables)
        self.rate, self.l2, self.radius, self.t, self.sum = rate, l2, radius, 0, np.zeros((depth, width))

    def learn(self, slots, values, label):
        self.sum += self.z
        margin = sum(x * np.mean(self.said(i)) for i, x in zip(slots, values, strict=True))
        step = inverse_time(self.rate, self.l2, self.t)
        self.t += 1
        self.z *= 1.0 - self.l2 * step
        for i, x in zip(slots, values, strict=True):
            self.update(i, -step * logistic_slope(margin, label) * x)
        norm = np.linalg.norm(self.z) / np.sqrt(len(self.z))
        self.z *= min(1.0, self.radius / norm) if norm else 1.0
        return margin

    def mean_query(self, slot):
        """The median of what the mean iterate says."""
        mean = Sketch(self.z.shape[1], len(self.z), self.tables)
        mean.z = self.sum / self.t
        return mean.query(slot)


class ActiveSet(Sketch):
    """Algorithm 2, features in the order of the row; `evicted` has ids, last weights and estimates after."""

    def __init__(self, size, width, depth, tables, rate=0.1, l2=1e-6):
        super().__init__(width, depth, tables)
        self.size, self.rate, self.l2, self.t, self.active, self.evicted = size, rate, l2, 0, {}, []

    def learn(self, slots, values, label):
        margin = sum(
            x * (self.active[i] if i in self.active else np.mean(self.said(i)))
            for i, x in zip(slots, values, strict=True)
        )
        step = inverse_time(self.rate, self.l2, self.t)
        self.t += 1
        self.z *= 1.0 - self.l2 * step
        for i in self.active:
            self.active[i] *= 1.0 - self.l2 * step
        for i, x in zip(slots, values, strict=True):
            self.treat(i, -step * logistic_slope(margin, label) * x)
        return margin

    def treat(self, i, change):
        if i in self.active:
            self.active[i] += change
            return
        weight = self.query(i) + change
        if len(self.active) < self.size:
            self.active[i] = weight
            return
        least = min(self.active, key=lambda j: abs(self.active[j]))
        if abs(weight) > abs(self.active[least]):
            last = self.active.pop(least)
            self.active[i] = weight
            self.update(least, last - self.query(least))
            self.evicted.append((least, last, self.query(least)))
        else:
            self.update(i, change)


def soft(number, threshold):
    return np.sign(number) * np.maximum(abs(number) - threshold, 0.0)


class ExtendedWeightMedian(WeightMedian):
    """Algorithm 1 with l1 on z (section 6.1), and steps by the squared gradients in the cells (section 9)."""

    def __init__(self, width, depth, tables, rate=0.1, l2=1e-6, l1=0.0, per_feature=False):
        super().__init__(width, depth, tables, rate, l2)
        self.l1, self.per_feature, self.squares = l1, per_feature, np.zeros((depth, width))

    def sum_of_squares(self, slot, more=0.0):
        """That of a slot with one more square: the least of its cells."""
        places = cells(self.tables, slot, self.z.shape[1])
        for row, (c, _) in zip(self.squares, places, strict=True):
            row[c] += more
        return min(row[c] for row, (c, _) in zip(self.squares, places, strict=True))

    def learn(self, slots, values, label):
        margin = sum(x * np.mean(self.said(i)) for i, x in zip(slots, values, strict=True))
        step = inverse_time(self.rate, self.l2, self.t)
        self.t += 1
        self.z *= 1.0 - self.l2 * step
        for i, x in zip(slots, values, strict=True):
            gradient = logistic_slope(margin, label) * x
            if self.per_feature:
                self.update(i, -self.rate * gradient / (1 + np.sqrt(self.sum_of_squares(i, gradient**2))))
            else:
                self.update(i, -step * gradient)
        self.z = soft(self.z, self.l1 * step)
        return margin


class ExtendedActiveSet(ActiveSet):
    """Algorithm 2 with the same; `sums` are the squared gradients of the active set."""

    def __init__(self, size, width, depth, tables, rate=0.1, l2=1e-6, l1=0.0, per_feature=False):
        super().__init__(size, width, depth, tables, rate, l2)
        self.l1, self.per_feature, self.sums = l1, per_feature, {}
        self.squares = np.zeros((depth, width))

    sum_of_squares = ExtendedWeightMedian.sum_of_squares

    def learn(self, slots, values, label):
        margin = sum(
            x * (self.active[i] if i in self.active else np.mean(self.said(i)))
            for i, x in zip(slots, values, strict=True)
        )
        self.step = inverse_time(self.rate, self.l2, self.t)
        self.t += 1
        decay = 1.0 - self.l2 * self.step
        self.z *= decay
        self.active = {i: decay * weight for i, weight in self.active.items()}
        for i, x in zip(slots, values, strict=True):
            self.treat_gradient(i, logistic_slope(margin, label) * x)
        self.z = soft(self.z, self.l1 * self.step)
        self.active = {i: soft(weight, self.l1 * self.step) for i, weight in self.active.items()}
        return margin

    def treat_gradient(self, i, gradient):
        if not self.per_feature:
            return self.treat(i, -self.step * gradient)
        if i in self.active:
            self.sums[i] += gradient**2
            return self.treat(i, -self.rate * gradient / (1 + np.sqrt(self.sums[i])))
        known = self.sum_of_squares(i, gradient**2)
        before = set(self.active)
        self.treat(i, -self.rate * gradient / (1 + np.sqrt(known)))
        if i in self.active:
            self.sums[i] = known
            for evicted in before - set(self.active):
                for row, (c, _) in zip(self.squares, cells(self.tables, evicted, self.z.shape[1]), strict=True):
                    row[c] = max(row[c], self.sums[evicted])
