"""The losses of margins, which progressive validation averages, and what margins estimate: kernels over a block."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, cast

import numpy as np

from ouzel.kernels.jit import kernel, specialise
from ouzel.terms import multiclass_losses
from ouzel.terms.losses import Logistic, link, value

Term = Any  # a loss: any class with a registered value


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
def multiclass_hinge_losses(scores: np.ndarray, positions: np.ndarray, losses: np.ndarray) -> None:
    """Write to `losses` (n,) max(0, 1 - the lead of the true class over the best other) of `scores` (n, classes)."""
    for i in range(len(scores)):
        best = -np.inf
        for k in range(scores.shape[1]):
            if k != positions[i]:
                best = max(best, scores[i, k])
        losses[i] = max(0.0, 1.0 - (scores[i, positions[i]] - best))


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


@lru_cache(64)
def link_of_one(loss: Term) -> Callable[[Term, np.ndarray, np.ndarray], None]:
    """`links_of` as compiled for a loss, which costs single examples less than finding that out each time."""
    return cast(Callable[[Term, np.ndarray, np.ndarray], None], specialise(links_of, loss, np.empty(1), np.empty(1)))
