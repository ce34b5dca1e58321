"""Metrics of predictions: sums over examples in fixed memory, with the same digits however the stream is cut.

Every sum runs example by example in one order. A prediction is right only if the margin of the true class is strictly
the largest: a tie is a mistake, and so is a margin that is not a number.

Of two classes, the area under the ROC curve and the average precision come from a histogram of the margins, which
says how far they may be off (`ranking`). Precision, recall and F1 are those of the rarer class.
"""

from __future__ import annotations

from math import exp, inf, log, sqrt
from typing import Any

import numpy as np

from ouzel.evaluation.baseline import Baseline, least_loss
from ouzel.evaluation.calibration import Calibration, Coverage
from ouzel.evaluation.ranking import BINS, OF_TWO_CLASSES, RankedBins, Ranks, bin_of
from ouzel.kernels.jit import kernel
from ouzel.model.answers import estimates, is_probabilistic
from ouzel.model.tasks.task import Outcome, Task
from ouzel.terms.losses import Poisson

WEIGHT, MISTAKES, LOSS, LOG_LOSS, SQUARES, ABSOLUTES, TARGETS, TARGET_SQUARES, LEAST_LOSS = range(9)
MISSED, SMALLEST, SUMS = range(9, 12)  # mistakes on the second of two classes, the smallest importance; how many sums
MOST_CONFUSED = 200  # classes up to which a confusion matrix is kept
SMALLEST_PROBABILITY = 1e-15


@kernel
def score_two(margins, targets, importances, losses, sums, confusion, histogram):
    """Add two-class predictions (n,) with targets 0 and 1; `histogram` is (2, BINS)."""
    for i in range(len(margins)):
        target, importance = targets[i], float(importances[i])
        right = margins[i] > 0.0 if target == 1 else margins[i] < 0.0
        sums[WEIGHT] += importance
        sums[LOSS] += importance * losses[i]
        sums[LOG_LOSS] += importance * losses[i]
        if not right:
            sums[MISTAKES] += importance
            sums[MISSED] += importance * target
        if importance > 0.0 and (sums[SMALLEST] == 0.0 or importance < sums[SMALLEST]):
            sums[SMALLEST] = importance
        confusion[target, target if right else 1 - target] += 1
        histogram[target, bin_of(margins[i])] += importance


@kernel
def score_many(margins, targets, importances, losses, sums, confusion, joint):
    """Add predictions (n, classes); a margin of -inf is of a class not known yet, losses of `joint` are log losses."""
    for i in range(len(margins)):
        target, importance = targets[i], float(importances[i])
        right, rival, known, total = True, -1, 0, 0.0
        for k in range(margins.shape[1]):
            if margins[i, k] > -inf:
                known += 1
                total += 1.0 / (1.0 + exp(-margins[i, k]))
            if k != target:
                right = right and margins[i, target] > margins[i, k]
                if rival < 0 or margins[i, k] > margins[i, rival]:
                    rival = k
        sums[WEIGHT] += importance
        sums[LOSS] += importance * losses[i]
        if joint or known <= 2:  # by 2, a binary learner still
            sums[LOG_LOSS] += importance * losses[i]
        else:
            share = 1.0 / (1.0 + exp(-margins[i, target])) / total if total > 0.0 else 1.0 / known
            sums[LOG_LOSS] -= importance * log(max(share, SMALLEST_PROBABILITY))
        if not right:
            sums[MISTAKES] += importance
        if len(confusion):
            confusion[target, target if right else rival] += 1


@kernel
def score_numbers(predictions, targets, importances, losses, sums):
    """Add predicted numbers (n,)."""
    for i in range(len(predictions)):
        importance, gap = float(importances[i]), predictions[i] - targets[i]
        sums[WEIGHT] += importance
        sums[LOSS] += importance * losses[i]
        sums[SQUARES] += importance * gap * gap
        sums[ABSOLUTES] += importance * abs(gap)
        sums[TARGETS] += importance * targets[i]
        sums[TARGET_SQUARES] += importance * targets[i] * targets[i]


@kernel
def score_counts(targets, importances, sums):
    """Add the Poisson losses of predicting targets (n,) by themselves, above which losses are half the deviance."""
    for i in range(len(targets)):
        sums[LEAST_LOSS] += float(importances[i]) * least_loss(targets[i])


class Scores:
    """The figures of a model's predictions, added up block by block.

    >>> from ouzel.model.tasks.classification import OneAgainstRest
    >>> from ouzel.terms.losses import Logistic
    >>> scores = Scores(OneAgainstRest(Logistic()))
    >>> scores.add(Outcome(np.array([2.0, -1.0, 0.0]), np.array([1, 1, 0]), np.ones(3, np.float32), np.zeros(3)))
    >>> scores.examples, scores.error_rate
    (3, 0.6666666666666666)
    """

    def __init__(self, task: Task) -> None:
        self.task = task
        self.examples, self.sums = 0, np.zeros(SUMS)
        self.confusion: np.ndarray = np.zeros((2, 2), np.int64)  # (classes, classes), rows are true; (0, 0) if too many
        self.histogram = np.zeros((2, 0 if task.numbers else BINS))
        self.calibration, self.before = Calibration(), Calibration()  # `before` it is recalibrated
        self.ranks, self.coverage = Ranks(), Coverage()
        self.constant, self._recalibrated = Baseline(task), False

    def add(self, learnt: Outcome) -> None:
        """Count a block's predictions."""
        self.of_block(learnt)
        for part in self.task.parts(learnt):
            self.follow(part)
            self.score(*part[:4])

    def of_block(self, learnt: Outcome) -> None:
        """Count coverage of intervals and sets, and probabilities before and after recalibration, of a whole block."""
        self.coverage.add(learnt.covered)
        self._recalibrated = learnt.promised is not None
        if learnt.promised is not None:
            self.before.fill(learnt.promised[:, 0], learnt.promised[:, 2], learnt.importances)
            self.calibration.fill(learnt.promised[:, 1], learnt.promised[:, 2], learnt.importances)

    def follow(self, learnt: Outcome) -> None:
        """Count of a part of a block, one of its task's `parts`, what no point of a curve shows."""
        self.constant.add(learnt)
        self.ranks.add(learnt.groups)
        others = self.task.numbers or self.task.groups or self._recalibrated
        if not others and is_probabilistic(self.task.loss):
            self.calibration.add(self.task.loss, *learnt[:3], self.task.joint)

    def score(self, margins: np.ndarray, targets: np.ndarray, importances: np.ndarray, losses: np.ndarray) -> None:
        """Count all else, of a part or of some of its examples."""
        self.examples += len(targets)
        if self.task.numbers:
            score_numbers(estimates(self.task.loss, margins), targets, importances, losses, self.sums)
            if self._of_counts:
                score_counts(targets, importances, self.sums)
        elif margins.ndim == 1:
            score_two(margins, targets, importances, losses, self.sums, self.confusion, self.histogram)
        else:
            self._widen(margins.shape[1])
            margins = np.ascontiguousarray(margins)
            score_many(margins, targets, importances, losses, self.sums, self.confusion, self.task.joint)

    @property
    def error_rate(self) -> float | None:
        """Share of mistakes, by importance: of wrong classes, or of pairs ranked wrongly; None for numbers."""
        return None if self.task.numbers else self._mean(MISTAKES)

    @property
    def accuracy(self) -> float | None:
        """One less the error rate."""
        return None if self.error_rate is None else 1.0 - self.error_rate

    @property
    def mean_loss(self) -> float | None:
        """Mean of the learner's own loss."""
        return self._mean(LOSS)

    @property
    def log_loss(self) -> float | None:
        """Mean negative logarithm of the probability of the true class, for losses that give probabilities."""
        return self._mean(LOG_LOSS) if not self.task.numbers and is_probabilistic(self.task.loss) else None

    @property
    def rmse(self) -> float | None:
        """Root of the mean squared error of numbers."""
        squares = self._mean(SQUARES)
        return None if not self.task.numbers or squares is None else sqrt(squares)

    @property
    def mae(self) -> float | None:
        """Mean absolute error of numbers."""
        return self._mean(ABSOLUTES) if self.task.numbers else None

    @property
    def deviance(self) -> float | None:
        """Mean Poisson deviance of numbers predicted by the Poisson loss, as scikit-learn has it."""
        loss, least = self._mean(LOSS), self._mean(LEAST_LOSS)
        return None if not self._of_counts or loss is None or least is None or least != least else 2.0 * (loss - least)

    @property
    def _of_counts(self) -> bool:
        return self.task.numbers and isinstance(self.task.loss, Poisson)

    @property
    def r2(self) -> float | None:
        """Share of the targets' variance that the predictions explain."""
        weight, total, squares = self.sums[WEIGHT], self.sums[TARGETS], self.sums[TARGET_SQUARES]
        spread = squares - total * total / weight if weight else 0.0
        return float(1.0 - self.sums[SQUARES] / spread) if self.task.numbers and spread > 0 else None

    @property
    def calibration_error(self) -> float | None:
        """Mean difference of probabilities and observed frequencies; None for losses without probabilities."""
        return self.calibration.error

    @property
    def baseline(self) -> float | None:
        """Score of predictions without features, by the measure that `baseline_of` names."""
        return self.constant.score

    @property
    def baseline_of(self) -> str | None:
        """Prediction of the baseline, and the figure that scores it if that is not the first one."""
        return None if self.baseline is None else self.constant.about

    @property
    def rare_class(self) -> int | None:
        """Position of the rarer of two classes, for which average precision, precision, recall and F1 are computed."""
        bins = self._bins()
        return None if bins is None else bins.rarer()

    def of_two_classes(self) -> dict[str, float | None]:
        """Figures by the margins of two classes, by name; None of other tasks, and where one class has not come."""
        bins = self._bins()
        if bins is None:
            return dict.fromkeys(OF_TWO_CLASSES)
        mistakes, missed, smallest = self.sums[[MISTAKES, MISSED, SMALLEST]].tolist()
        at_threshold = bins.at_threshold(mistakes - missed, missed)
        found = (*bins.area(), *bins.average_precision(smallest), *at_threshold)
        return dict(zip(OF_TWO_CLASSES, found, strict=True))

    def figures(self) -> dict[str, float | None]:
        """Every figure that the task has, by name."""
        names = ("error_rate", "accuracy", "mean_loss", "log_loss", "calibration_error")
        found = {name: getattr(self, name) for name in (*names, "rmse", "mae", "r2", "deviance", "baseline")}
        parts = self.ranks.figures(), self.of_two_classes()  # both have an average precision
        return found | (parts[1] | parts[0] if self.task.groups else parts[0] | parts[1])

    def to_json(self) -> dict[str, Any]:
        """Everything counted so far, exactly, as JSON values."""
        places = np.flatnonzero(self.histogram)
        return {
            "examples": self.examples,
            "sums": self.sums.tolist(),
            "confusion": self.confusion.tolist(),
            "baseline": self.constant.to_json(),
            "calibration": self.calibration.bins.tolist(),
            "ranks": self.ranks.sums.tolist(),
            **({"before": self.before.bins.tolist()} if self.before.bins.any() else {}),
            **({"coverage": self.coverage.to_json()} if self.coverage.seen else {}),
            "histogram": [places.tolist(), self.histogram.ravel()[places].tolist()],
        }

    def restore(self, stored: dict[str, Any], classes: int = 2) -> None:
        """Restore the state that `to_json` gave for `classes` classes; raise ValueError if it is not valid."""
        sums, confusion = np.array(stored["sums"], np.float64), np.array(stored["confusion"], np.int64)
        if sums.shape in ((LEAST_LOSS,), (MISSED,)):  # of earlier versions
            sums = np.append(sums, [np.nan] * (SUMS - len(sums)))
        places, counts = stored["histogram"]
        at, in_bins = np.array(places, np.int64), np.array(counts, np.float64)
        square = (max(len(confusion), 2),) * 2 if len(confusion) or classes <= MOST_CONFUSED else (0,)
        if (sums.shape, confusion.shape, in_bins.shape) != (self.sums.shape, square, at.shape) or at.ndim != 1:
            raise ValueError("sums, confusion or histogram of another shape")
        bins = np.array(stored["calibration"], np.float64)
        if bins.shape != self.calibration.bins.shape:
            raise ValueError("a calibration of other bins")
        if len(at) and not 0 <= at.min() <= at.max() < self.histogram.size:
            raise ValueError("a histogram of other bins")
        self.examples, self.sums = int(stored["examples"]), sums
        self.confusion = confusion.reshape(len(confusion), len(confusion))
        self.histogram.ravel()[at] = in_bins
        self.calibration.bins = bins
        self.before.bins = np.array(stored.get("before", self.before.bins), np.float64).reshape(bins.shape)
        self.ranks.restore(stored.get("ranks", self.ranks.sums))
        self.constant.restore(stored["baseline"])
        self.coverage.restore(stored.get("coverage"))

    def _mean(self, which: int) -> float | None:
        return float(self.sums[which] / self.sums[WEIGHT]) if self.sums[WEIGHT] > 0 else None

    def _widen(self, classes: int) -> None:
        room = len(self.confusion)
        if classes > MOST_CONFUSED:
            self.confusion = np.zeros((0, 0), np.int64)
        elif room and classes > room:
            self.confusion = np.pad(self.confusion, (0, classes - room))

    def _bins(self) -> RankedBins | None:
        """The margins of two classes; None of other tasks, and where one class has not come."""
        bins = RankedBins.of(self.histogram) if len(self.confusion) == 2 and not self.task.groups else None
        return bins if bins is not None and bins.complete else None


def confusion_in_order(scores: Scores, order: list[int]) -> list[list[int]] | None:
    """Counts of predicted classes (columns) for each class (rows), in a given order; None without classes."""
    if scores.task.numbers or scores.task.groups or not len(scores.confusion):
        return None
    shown = [place for place in order if place < len(scores.confusion)]
    return scores.confusion[np.ix_(shown, shown)].tolist()
