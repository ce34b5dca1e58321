"""Forgetting of what a learner has accumulated: precisions decay towards those that it began with."""

from __future__ import annotations

import numpy as np


def faded_covariance(covariance: np.ndarray, kept: float, prior: float) -> np.ndarray:
    """S' (n, n), whose precision is a part of that of S (n, n), and for the rest that of the prior variance.

    S'^-1 = kept S^-1 + (1 - kept) / prior, taken as S (kept I + (1 - kept) / prior S)^-1: where S is below the prior,
    what is solved by is near the identity, however small some of its variances are.
    """
    found = np.linalg.solve(kept * np.eye(len(covariance)) + (1.0 - kept) / prior * covariance, covariance)
    return 0.5 * (found + found.T)


def faded_variances(variances: np.ndarray, kept: float, prior: float) -> np.ndarray:
    """The same of the diagonal (n,) alone, 0 where there was 0, and the prior to the bit where there was the prior."""
    precisions = np.divide(1.0, variances, out=np.full(variances.shape, np.inf), where=variances > 0.0)
    return np.where(
        variances == variances.dtype.type(prior), variances, 1.0 / (kept * precisions + (1.0 - kept) / prior)
    )
