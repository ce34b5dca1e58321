"""What margins mean: their loss, which progressive validation averages, and what they estimate."""

from __future__ import annotations

from typing import Any

import numpy as np

from ouzel.kernels.jit import kernel
from ouzel.terms import multiclass_losses
from ouzel.terms.losses import Logistic, link, value


@kernel
def losses_of(loss, margins, targets, losses):
    """Write the loss of each margin (n,) against its target (n,) to `losses` (n,)."""
    for i in range(len(margins)):
        losses[i] = value(loss, margins[i], targets[i])


@kernel
def one_vs_rest_losses(loss, margins, positions, losses):
    """Write to `losses` (n,) the sum over classes of the binary losses of `margins` (n, classes)."""
    for i in range(len(margins)):
        total = 0.0
        for k in range(margins.shape[1]):
            total += value(loss, margins[i, k], 1.0 if positions[i] == k else -1.0)
        losses[i] = total


@kernel
def multiclass_hinge_losses(scores, positions, losses):
    """Write to `losses` (n,) max(0, 1 - the lead of the true class over the best other) of `scores` (n, classes)."""
    for i in range(len(scores)):
        best = -np.inf
        for k in range(scores.shape[1]):
            if k != positions[i]:
                best = max(best, scores[i, k])
        losses[i] = max(0.0, 1.0 - (scores[i, positions[i]] - best))


@kernel
def multinomial_losses(scores, positions, losses):
    """Write to `losses` (n,) -log of the true class's share of exp(scores), of `scores` (n, classes)."""
    for i in range(len(scores)):
        losses[i] = multiclass_losses.value(Logistic(), scores[i], positions[i])


@kernel
def links_of(loss, margins, linked):
    """Write what each of the margins (n,) estimates under the loss to `linked` (n,)."""
    for i in range(len(margins)):
        linked[i] = link(loss, margins[i])


def is_probabilistic(loss: Any) -> bool:
    """Whether margins learnt with this loss (a term or a name) estimate probabilities."""
    return loss == "logistic" or isinstance(loss, Logistic)


def probabilities(loss: Any, margins: np.ndarray, joint: bool = False) -> np.ndarray:
    """Probabilities (n, classes) of margins (n,), those of the second of two classes, or (n, classes).

    Scores of classes learnt jointly are logarithms of shares; probabilities of one class against the rest are divided
    by their sum.
    """
    if joint and margins.ndim == 2:
        shares = np.exp(margins - margins.max(axis=1, keepdims=True))
        return shares / shares.sum(axis=1, keepdims=True)
    linked = np.empty(margins.size)
    links_of(loss, np.ascontiguousarray(margins).ravel(), linked)
    if margins.ndim == 1:
        return np.column_stack([1.0 - linked, linked])
    table = linked.reshape(margins.shape)
    total = table.sum(axis=1, keepdims=True)
    return np.where(total > 0.0, table / np.where(total > 0.0, total, 1.0), 1.0 / margins.shape[1])
