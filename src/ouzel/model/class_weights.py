"""Weights of classes: what the importances of a classifier's examples are multiplied by before they are learnt.

Given weights are those of labels; a class without one has weight 1. "balanced" gives an example of class c the weight
(n + k) / (k (n_c + 1)), where n and n_c are the sums of the importances of all examples and of those of class c, up to
and including this one, and k is the number of classes among them: scikit-learn's n / (k n_c), of the stream so far and
with one more example of each class, so that the first of a rare class does not outweigh all before it. What is learnt
depends on the order of the examples, not on the blocks that they come in. Counts of workers add up, and fade with all
else that a model forgets.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ouzel.kernels.jit import kernel
from ouzel.model.label_encoder import Classes
from ouzel.model.settings import BALANCED, ClassWeight
from ouzel.streams.labels import Label

LARGEST = float(np.finfo(np.float32).max)  # importance
TOTAL, SEEN, FIRST = range(3)  # places in the counts: of all, the number of classes that have come, the first class


@kernel
def balance(counts, positions, importances, weighed):
    """Count examples (n,) of classes at `positions`, and write their importances times the weight of their class.

    `counts` (2 + classes,) are the sum of all importances, the number of classes that have come, and the sum of each.
    An example of importance 0 is not counted.
    """
    for i in range(len(positions)):
        importance, place = float(importances[i]), FIRST + positions[i]
        if importance > 0.0:
            if counts[place] == 0.0:
                counts[SEEN] += 1.0
            counts[TOTAL] += importance
            counts[place] += importance
            weight = (counts[TOTAL] + counts[SEEN]) / (counts[SEEN] * (counts[place] + 1.0))
            weighed[i] = min(importance * weight, LARGEST)
        else:
            weighed[i] = 0.0


class ClassWeights:
    """The weights of a model's classes: as given, or of the counts so far.

    >>> weights = ClassWeights({"yes": 5.0})
    >>> weights.weigh(Classes(["no", "yes"]), np.array([0, 1]), np.array([1.0, 2.0], np.float32)).tolist()
    [1.0, 10.0]
    >>> weights = ClassWeights("balanced")
    >>> weights.weigh(Classes(["no", "yes"]), np.array([0, 0, 1]), np.ones(3, np.float32)).tolist()
    [1.0, 1.0, 1.25]
    """

    def __init__(self, given: ClassWeight) -> None:
        self.given = given
        self.counts = np.zeros(FIRST)
        self._labels = Classes(given if isinstance(given, dict) else ())
        self._table: tuple[Any, np.ndarray] = None, np.empty(0)  # a list of classes, and their weights

    def weigh(self, classes: Classes, positions: np.ndarray, importances: np.ndarray) -> np.ndarray:
        """Importances (n,) float32 of examples of the classes at `positions`, each times the weight of its class."""
        weighed = np.empty(len(positions), np.float32)
        if self.given == BALANCED:
            self._make_room(len(classes))
            balance(self.counts, positions, importances, weighed)
            return weighed
        products = self._weights_of(classes)[positions] * importances
        return np.minimum(products, LARGEST).astype(np.float32)

    def weigh_one(self, classes: Classes, label: Label, importance: np.float32) -> np.float32:
        """The importance of one example times the weight of its class; OuzelError if the label is one class too many.

        >>> ClassWeights("balanced").weigh_one(Classes(["no", "yes"]), "yes", np.float32(1.0))
        np.float32(1.0)
        """
        label = label.item() if isinstance(label, np.generic) else label
        place = classes.find(label)
        if place < 0:
            classes.check_new(label)
            place = len(classes)
        if self.given != BALANCED:
            return np.float32(min(self._weight_of(label) * float(importance), LARGEST))
        weighed = np.empty(1, np.float32)
        self._make_room(place + 1)
        balance(self.counts, np.array([place]), np.array([importance], np.float32), weighed)
        return np.float32(weighed[0])

    def fade(self, kept: float) -> None:
        """Let the counts be a part of what they were."""
        self.counts *= kept
        self.counts[SEEN] = np.count_nonzero(self.counts[FIRST:])

    def absent(self, classes: Classes) -> list[Label]:
        """The labels with a weight that are no class."""
        return [label for label in self._labels.known if classes.find(label) < 0]

    def copied(self) -> ClassWeights:
        """The same with counts of its own."""
        found = ClassWeights(self.given)
        found.counts = self.counts.copy()
        return found

    def reorder(self, places: list[int]) -> None:
        """Have as class k what was the class at `places[k]`."""
        if self.given == BALANCED:
            self._make_room(1 + max(places, default=-1))
            self.counts = np.concatenate([self.counts[:FIRST], self.counts[FIRST:][places]])

    def gains(self, base: ClassWeights) -> np.ndarray:
        """What a worker has counted beyond its base, whose classes are the same."""
        most = max(len(self.counts), len(base.counts)) - FIRST
        self._make_room(most)
        base._make_room(most)
        return self.counts - base.counts

    def onto(self, gains: np.ndarray) -> None:
        """Count what workers have counted beyond this."""
        self._make_room(len(gains) - FIRST)
        self.counts[: len(gains)] += gains
        self.counts[SEEN] = np.count_nonzero(self.counts[FIRST:])

    def take(self, counts: Any) -> None:
        """Have these sums of importances by class; the first is that of all."""
        total, *each = counts
        self.counts = np.array([total, np.count_nonzero(each), *each], np.float64)

    def sums(self) -> list[float]:
        """The sums of importances that `take` takes."""
        return [float(self.counts[TOTAL]), *self.counts[FIRST:].tolist()]

    def _make_room(self, classes: int) -> None:
        more = FIRST + classes - len(self.counts)
        if more > 0:
            self.counts = np.append(self.counts, np.zeros(more))

    def _weights_of(self, classes: Classes) -> np.ndarray:
        """The weights (classes,) by position."""
        known, table = self._table
        if known is not classes.known or len(table) != len(known):
            table = np.array([self._weight_of(label) for label in classes.known])
            self._table = classes.known, table
        return table

    def _weight_of(self, label: Label) -> float:
        place = self._labels.find(label)
        return 1.0 if place < 0 or not isinstance(self.given, dict) else self.given[self._labels.known[place]]
