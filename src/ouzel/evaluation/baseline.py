"""Baseline without features: the most frequent class so far, or the best constant under the loss.

Of numbers that is their mean so far, scored by the squared error or the Poisson deviance, or a quantile so far, scored
by the absolute error or the pinball loss. Like a model's own predictions constants are predicted before an example is
learnt, and their sums do not depend on the blocks.
"""

from __future__ import annotations

from math import log, sqrt
from typing import Any

import numpy as np

from ouzel.errors import OuzelError
from ouzel.kernels.jit import force_inline, kernel
from ouzel.layout import allocate
from ouzel.model.tasks.task import Outcome, Task
from ouzel.sketches import running_quantile
from ouzel.terms.losses import Absolute, Poisson, Quantile, probability_of, value

ERRORS, WEIGHT, TOTAL, LEADER = range(4)
DAMAGED = "what the model's file notes of its run is damaged; train it again"
FEW = 10.0  # examples of a class, below which their order says nothing
UNKNOWN = -1 << 53  # how often the class changed, in a run whose beginning did not count it
LEAST = 0.5  # of the sum of counts, in a mean that a logarithm is taken of


@kernel
def follow_classes(targets, importances, sums, counts, log_loss):
    """Predict each target by the class of the largest count, the first to reach it; `counts` is (classes,).

    `log_loss` (1,) takes the sum of the log losses of predicting (n_c + 1/2) / (n + k/2) of each of k classes, where
    n_c and n are sums of importances (Krichevsky & Trofimov, 1981); a class counts from its first example on.
    """
    leader, total, known = int(sums[LEADER]), counts.sum(), 0
    for k in range(len(counts)):
        known += counts[k] > 0.0
    for i in range(len(targets)):
        target, importance = targets[i], float(importances[i])
        if importance > 0.0:
            classes = max(known + (counts[target] == 0.0), 2)
            log_loss[0] -= importance * log((counts[target] + 0.5) / (total + 0.5 * classes))
            known += counts[target] == 0.0
            total += importance
        sums[WEIGHT] += importance
        if target != leader:
            sums[ERRORS] += importance
        counts[target] += importance
        if importance > 0.0 and (leader < 0 or counts[target] > counts[leader]):
            leader = target
    sums[LEADER] = leader


@kernel
def follow_numbers(targets, importances, sums):
    """Predict each target by the mean of those before it, the first by 0."""
    for i in range(len(targets)):
        importance = float(importances[i])
        gap = targets[i] - (sums[TOTAL] / sums[WEIGHT] if sums[WEIGHT] > 0.0 else 0.0)
        sums[ERRORS] += importance * gap * gap
        sums[WEIGHT] += importance
        sums[TOTAL] += importance * targets[i]


@force_inline
def least_loss(count):
    """The Poisson loss of predicting a count by itself."""
    return count - count * log(count) if count > 0.0 else 0.0


@kernel
def follow_counts(targets, importances, sums):
    """Predict each target by the mean of those before it; the errors are half the deviances."""
    for i in range(len(targets)):
        importance, target = float(importances[i]), targets[i]
        rate = max(sums[TOTAL], LEAST) / max(sums[WEIGHT], LEAST)
        sums[ERRORS] += importance * (rate - target * log(rate) - least_loss(target))
        sums[WEIGHT] += importance
        sums[TOTAL] += importance * target


@kernel
def follow_quantiles(loss, targets, importances, sums, seen):
    """Predict each target by the quantile of those before it that the loss wants, the first by 0."""
    for i in range(len(targets)):
        importance = float(importances[i])
        sums[ERRORS] += importance * value(loss, running_quantile.quantile(seen, probability_of(loss)), targets[i])
        sums[WEIGHT] += importance
        if importance > 0.0:
            running_quantile.learn(seen, targets[i], importance)


class Baseline:
    """The running score of a prediction that uses no features.

    >>> from ouzel.model.tasks.classification import OneAgainstRest
    >>> baseline = Baseline(OneAgainstRest("logistic"))
    >>> baseline.add(Outcome(np.zeros(4), np.array([1, 1, 0, 1]), np.ones(4, np.float32), np.zeros(4)))
    >>> baseline.score, baseline.about
    (0.5, 'always predicting the class most frequent so far')
    """

    def __init__(self, task: Task) -> None:
        self.task = task
        self.counts_numbers = task.numbers and isinstance(task.loss, Poisson)
        self.orders_numbers = task.numbers and isinstance(task.loss, Absolute | Quantile)
        self.sums = np.array([0.0, 0.0, 0.0, -1.0])
        self.counts = np.zeros(2)
        self.changes, self.last = 0, -1  # examples of another class than the one before, and the class of the last
        self.log_loss_sum = np.zeros(1)  # not a number where an earlier version counted
        self.seen: running_quantile.State = allocate(running_quantile.layout())

    @property
    def score(self) -> float | None:
        """The figure that `about` names; None for a ranking, and before any example."""
        if self.task.groups or not self.sums[WEIGHT] > 0.0:
            return None
        mean = float(self.sums[ERRORS] / self.sums[WEIGHT])
        if self.counts_numbers:
            return 2.0 * mean
        return sqrt(mean) if self.task.numbers and not self.orders_numbers else mean

    @property
    def log_loss(self) -> float | None:
        """Mean log loss of predicting the shares of the classes so far; None for numbers and rankings."""
        known = self.sums[WEIGHT] > 0.0 and self.log_loss_sum[0] > 0.0 and not self.task.numbers
        return float(self.log_loss_sum[0] / self.sums[WEIGHT]) if known else None

    @property
    def sorted_by_class(self) -> bool:
        """Whether all examples of a class came before those of the next; False if an earlier run is not known."""
        counts = self.counts[self.counts > 0.0]
        return self.changes == len(counts) > 1 and bool(counts.min() >= FEW)

    @property
    def about(self) -> str:
        """Kind of score: the error rate, or the named figure of numbers."""
        if not self.task.numbers:
            return "always predicting the class most frequent so far"
        if self.counts_numbers:
            return "deviance of always predicting the mean so far"
        if not self.orders_numbers:
            return "always predicting the mean so far"
        if isinstance(self.task.loss, Absolute):
            return "mae of always predicting the median so far"
        return f"mean loss of always predicting the {self.task.loss.tau:g} quantile so far"

    def add(self, learnt: Outcome) -> None:
        """Score a block's targets, and count them."""
        given = learnt.targets, learnt.importances
        if self.orders_numbers:
            follow_quantiles(self.task.loss, *given, self.sums, self.seen)
        elif self.task.numbers:
            (follow_counts if self.counts_numbers else follow_numbers)(*given, self.sums)
        elif not self.task.groups:
            classes = learnt.margins.shape[1] if learnt.margins.ndim == 2 else 2
            if classes > len(self.counts):
                self.counts = np.pad(self.counts, (0, classes - len(self.counts)))
            follow_classes(*given, self.sums, self.counts, self.log_loss_sum)
            if len(learnt.targets):
                self.changes += int(np.count_nonzero(np.diff(learnt.targets, prepend=self.last)))
                self.last = int(learnt.targets[-1])

    def to_json(self) -> dict[str, Any]:
        """Everything counted so far, exactly, as JSON values."""
        found: dict[str, Any] = {"sums": self.sums.tolist(), "counts": self.counts.tolist()}
        if not self.task.numbers and not self.task.groups:
            found["log_loss"] = float(self.log_loss_sum[0])
            found["order"] = [self.changes, self.last]
        if self.counts_numbers or self.orders_numbers:
            found["of"] = self.about
        if self.orders_numbers:
            used = int(self.seen.used[0])
            found["seen"] = [*(part[:used].tolist() for part in self.seen[:2]), float(self.seen.total[0])]
        return found

    def restore(self, stored: dict[str, Any]) -> None:
        """Go on from what `to_json` gave; begin anew where an earlier version scored another constant."""
        if (self.counts_numbers or self.orders_numbers) and stored.get("of") != self.about:
            return
        sums, counts = np.array(stored["sums"], np.float64), np.array(stored["counts"], np.float64)
        if sums.shape != self.sums.shape or counts.ndim != 1 or not -1.0 <= sums[LEADER] < len(counts) >= 2:
            raise OuzelError(DAMAGED)
        self.sums, self.counts = sums, counts
        self.log_loss_sum[0] = float(stored.get("log_loss", np.nan))
        self.changes, self.last = map(int, stored.get("order", (UNKNOWN, -1)))
        if self.orders_numbers:
            self.seen = _restored(*stored["seen"])


def _restored(centres: list[float], masses: list[float], total: float) -> running_quantile.State:
    """A histogram as it was stored."""
    found: running_quantile.State = allocate(running_quantile.layout())
    used = len(centres)
    finite = np.isfinite([*centres, *masses, total]).all()
    if not (used == len(masses) < running_quantile.BINS and finite and min(masses, default=0.0) >= 0.0 <= total):
        raise OuzelError(DAMAGED)
    found.centres[:used], found.masses[:used], found.total[0], found.used[0] = centres, masses, total, used
    running_quantile.check(found)
    return found
