"""What margins and weights say to people: labels, probabilities, losses, numbers, the most important features.

A model keeps classes in the order in which they were met; people are shown them sorted. With two classes there is one
column, positive for the second class met, and shown positive for the second of the sorted labels. `shown` and
`shown_weights` turn the one into the other, and all else here takes what is shown.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import copysign
from typing import Any, NamedTuple, cast

import numpy as np

from ouzel.kernels.jit import kernel, specialise
from ouzel.model.label_encoder import Classes
from ouzel.streams.labels import Label
from ouzel.terms import multiclass_losses
from ouzel.terms.losses import Logistic, link, value

Term = Any  # a loss: any class with a registered value


def effects_of(model: Any) -> Any:
    """The effects of columns of a model that has any, else None."""
    effects = getattr(model.states[0], "effects", None) if model.states else None
    return effects if effects is not None and effects.opened.any() else None


@kernel
def losses_of(loss: Term, margins: np.ndarray, targets: np.ndarray, losses: np.ndarray) -> None:
    """Write the loss of each margin (n,) against its target (n,) to `losses` (n,)."""
    for i in range(len(margins)):
        losses[i] = value(loss, margins[i], targets[i])


@kernel
def one_vs_rest_losses(loss: Term, margins: np.ndarray, positions: np.ndarray, losses: np.ndarray) -> None:
    """Write to `losses` (n,) the sum over classes of the binary losses of `margins` (n, classes)."""
    for i in range(len(margins)):
        total = 0.0
        for k in range(margins.shape[1]):
            total += value(loss, margins[i, k], 1.0 if positions[i] == k else -1.0)
        losses[i] = total


@kernel
def losses_of_leads(loss: Term, scores: np.ndarray, positions: np.ndarray, losses: np.ndarray) -> None:
    """Write to `losses` (n,) the loss of the true class's lead over the best other in `scores` (n, classes)."""
    for i in range(len(scores)):
        best = -np.inf
        for k in range(scores.shape[1]):
            if k != positions[i]:
                best = max(best, scores[i, k])
        losses[i] = value(loss, scores[i, positions[i]] - best, 1.0)


@kernel
def multinomial_losses(scores: np.ndarray, positions: np.ndarray, losses: np.ndarray) -> None:
    """Write to `losses` (n,) -log of the true class's share of exp(scores), of `scores` (n, classes)."""
    for i in range(len(scores)):
        losses[i] = multiclass_losses.value(Logistic(), scores[i], positions[i])


@kernel
def links_of(loss: Term, margins: np.ndarray, linked: np.ndarray) -> None:
    """Write what each of the margins (n,) estimates under the loss to `linked` (n,)."""
    for i in range(len(margins)):
        linked[i] = link(loss, margins[i])


@kernel
def link_of(loss: Term, margin: float) -> float:
    """What one margin estimates under the loss."""
    return link(loss, margin)


@lru_cache(64)
def link_of_one(loss: Term) -> Callable[[Term, float], float]:
    """`link_of` as compiled for a loss, which costs single examples less than finding that out each time."""
    return cast(Callable[[Term, float], float], specialise(link_of, loss, 1.0))


class Feature(NamedTuple):
    """A feature as people are shown it."""

    name: str | int  # its id where the stream had no names
    weight: float
    importance: float | None = None  # |weight| × spread, in units of the margin; None where spreads are not known

    @property
    def effect(self) -> float:
        """Its importance with the sign of its weight; the weight where that is not known."""
        return self.weight if self.importance is None else copysign(self.importance, self.weight)


class Answers(NamedTuple):
    """What a model says of a block, classes in the order shown."""

    labels: np.ndarray | None  # (n,) labels of classes, or predicted numbers; None of a ranking, which has scores
    margins: np.ndarray  # (n, columns)
    probabilities: np.ndarray | None  # (n, classes); None where the loss gives none
    classes: list[Label]

    @property
    def predicted(self) -> np.ndarray:
        """Labels, numbers, or scores (n,)."""
        return self.margins[:, 0] if self.labels is None else self.labels


def shown(classes: Classes, margins: np.ndarray) -> np.ndarray:
    """Margins as shown, of those of a model: (n,), or (n, classes)."""
    if margins.ndim == 1:
        return -margins if classes.reversed_pair() else margins
    return margins[:, classes.order()]


def shown_weights(classes: Classes, weights: np.ndarray) -> np.ndarray:
    """Weights (columns, d) as shown, of those of a model."""
    if len(weights) == 1:
        return -weights if classes.reversed_pair() else weights
    return weights[classes.order()]


def shown_features(classes: Classes, columns: list[list[Feature]]) -> list[tuple[Label | None, list[Feature]]]:
    """The features of each class, in the order shown, of those of a model's columns.

    Of one column, the class that positive weights speak for, which is None where there are no classes.
    """
    if len(columns) > 1:
        return [(classes.known[k], columns[k]) for k in classes.order()]
    sign = -1.0 if classes.reversed_pair() else 1.0
    label = classes.in_order()[-1] if len(classes) else None
    return [(label, [feature._replace(weight=sign * feature.weight) for feature in columns[0]])]


def labels_of(classes: Classes, margins: np.ndarray) -> np.ndarray:
    """The labels (n,) that shown margins speak for: (n,), or (n, classes)."""
    labels = classes.as_array()
    chosen = margins > 0.0 if margins.ndim == 1 else margins.argmax(axis=1)
    return labels.take(chosen, mode="clip")


def label_of(classes: Classes, margins: list[float]) -> Label | None:
    """The label that the margins of one example, as the model has them, speak for; None if no class is known."""
    order = classes.order()
    if len(margins) > 1:
        return classes.known[max(order, key=margins.__getitem__)]
    if len(order) < 2:
        return classes.known[0] if order else None
    first, second = order
    return classes.known[second if (-margins[0] if first else margins[0]) > 0.0 else first]


def is_probabilistic(loss: Any) -> bool:
    """Whether margins learnt with this loss (a term or a name) estimate probabilities."""
    return isinstance(loss, Logistic) or loss == "logistic"


def estimates(loss: Any, margins: np.ndarray) -> np.ndarray:
    """What each of the margins (any shape) estimates under the loss: a number itself, a rate, a probability."""
    linked = np.empty(margins.size)
    links_of(loss, np.ascontiguousarray(margins).ravel(), linked)
    return linked.reshape(margins.shape)


def probabilities(loss: Any, margins: np.ndarray, joint: bool = False) -> np.ndarray:
    """Probabilities (n, classes) of margins (n,), those of the second of two classes, or (n, classes).

    Scores of classes learnt jointly are logarithms of shares; probabilities of one class against the rest are divided
    by their sum.
    """
    if joint and margins.ndim == 2:
        shares = np.exp(margins - margins.max(axis=1, keepdims=True))
        return shares / shares.sum(axis=1, keepdims=True)
    linked = estimates(loss, margins)
    if margins.ndim == 1:
        return np.column_stack([1.0 - linked, linked])
    total = linked.sum(axis=1, keepdims=True)
    return np.where(total > 0.0, linked / np.where(total > 0.0, total, 1.0), 1.0 / margins.shape[1])


def probabilities_one(loss: Any, classes: Classes, margins: list[float], joint: bool) -> dict[Label, float]:
    """Probability of each class, two at least, of the margins of one example as the model has them."""
    if len(margins) > 1:
        shares = probabilities(loss, shown(classes, np.array([margins])), joint)[0].tolist()
        return dict(zip(classes.in_order(), shares, strict=True))
    first, second = classes.order()
    share = float(link_of_one(loss)(loss, -margins[0] if first else margins[0]))
    return {classes.known[first]: 1.0 - share, classes.known[second]: share}


def important_slots(weights: np.ndarray, spreads: np.ndarray, n: int) -> np.ndarray:
    """Slots of the n features of largest |weight| × spread, ties by weight and slot; weights of 0 are left out."""
    slots = np.flatnonzero(weights)
    size = np.abs(weights[slots])
    importance = size * spreads[slots]
    if n < len(slots):
        least = np.partition(importance, -n)[-n] if n else np.inf
        kept = importance >= least
        slots, size, importance = slots[kept], size[kept], importance[kept]
    return slots[np.lexsort((slots, -size, -importance))][:n]


def heaviest_slots(weights: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Slots and weights of the n largest magnitudes, largest first, ties by slot; zeros are left out."""
    n = min(n, len(weights))
    size = np.abs(weights)
    slots = np.argpartition(-size, n - 1)[:n] if n else np.empty(0, np.int64)
    slots = slots[np.lexsort((slots, -size[slots]))]
    slots = slots[size[slots] > 0]
    return slots, weights[slots]
