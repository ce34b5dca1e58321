"""`ouzel.model.coverage` as its papers have it: plain Python, a class a tail, a score at a time."""

from math import exp, inf

STEPS, RATE, SHARE, WORST = (0.005, 0.03, 0.2), 0.1, 0.001, 5.0
DEBT, KNEE, SLOPE, FAR = 10.0, 4.0, 0.03, 0.5


def shift(debt):
    """Slope and, beyond the knee, an exponential, with the sign of the debt."""
    steep = 2.0 * SLOPE * (exp(abs(debt) - KNEE) - 1.0) if abs(debt) > KNEE else 0.0
    return SLOPE * debt + (steep if debt > 0.0 else -steep)


class Size:
    """The running mean of |score|, later ones cut at 4 times it."""

    def __init__(self):
        self.size, self.count = 0.0, 0

    def add(self, score):
        away = abs(score)
        if self.count >= 16 and self.size > 0.0:
            self.size += 0.01 * (min(away, 4.0 * self.size) - self.size)
        else:
            self.size += (away - self.size) / (min(self.count, 16) + 1)
        self.count += 1


class Tail:
    """Trackers of the quantile above which the part `tail` of the scores lies, mixed by their losses."""

    def __init__(self, tail):
        self.tail, self.places, self.shares = tail, [0.0] * 3, [1.0 / 3.0] * 3

    @property
    def mixed(self):
        return sum(share * place for share, place in zip(self.shares, self.places, strict=True))

    def bound(self, size, debt):
        return self.mixed + max(size, FAR * abs(self.mixed)) * shift(debt)

    def learn(self, score, size):
        unit = max(size, FAR * abs(self.mixed))
        weights = []
        for k, step in enumerate(STEPS):
            gap = score - self.places[k]
            loss = gap * (1.0 - self.tail) if gap > 0.0 else -gap * self.tail
            weights.append(self.shares[k] / (1.0 + RATE * min(loss / unit, WORST) / self.tail))
            self.places[k] += step * unit * ((gap > 0.0) - self.tail)
        self.shares = [(1.0 - SHARE) * weight / sum(weights) + SHARE / 3.0 for weight in weights]


class Intervals:
    """Intervals of one level about predictions of 0; without `pays` debts move nothing, which is the planted bug."""

    def __init__(self, level, pays=True):
        self.alpha, self.debt, self.pays = 1.0 - level, 0.0, pays
        self.size, self.above, self.below = Size(), Tail(self.alpha / 2.0), Tail(self.alpha / 2.0)

    def ends(self):
        debt = self.debt if self.pays else 0.0
        if not self.size.count or debt > DEBT - 1.0:
            return -inf, inf
        low, high = -self.below.bound(self.size.size, debt), self.above.bound(self.size.size, debt)
        return (low, high) if low <= high else ((low + high) / 2.0,) * 2

    def learn(self, score):
        low, high = self.ends()
        if not self.size.count:
            self.above.places, self.below.places = [abs(score)] * 3, [abs(score)] * 3
        self.size.add(score)
        self.above.learn(score, self.size.size)
        self.below.learn(-score, self.size.size)
        missed = not low <= score <= high
        self.debt = max(-DEBT, self.debt + missed - self.alpha)
        return missed
