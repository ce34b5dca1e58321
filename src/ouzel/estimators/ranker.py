"""Named estimators, ranker. Written by `make estimators`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from ouzel.estimators.named import Learners, Named, Term
from ouzel.estimators.ranking import Ranker


@dataclass(kw_only=True, eq=False, repr=False)
class AdaGradRanker(Named, Ranker):
    """AdaGrad on pairs of a group: the more relevant example shall score higher, by the loss of <w, z1 - z2>.

    Parameters
    ----------
    update : mirror descent or dual averaging: see `AdaGradClassifier`; one of "mirror-descent", "dual-averaging"
    loss : the loss of one prediction; one of logistic, hinge, smoothed-hinge, squared-hinge, squared, absolute,
        quantile, poisson, or a term
    l1 : strength of the l1 penalty: weights become exactly zero; a number from 0 to 1e9
    l2 : strength of the ridge; a number from 0 to 1e9
    learning_rate : step size; a number from 1e-30 to 1e9
    damping : added to the root of the sum of squared gradients; a number from 0 to 1e9
    fit_intercept : no intercept is learnt: it cancels
    pairs, standardize, forget, passes, bits, seed : these and columns: see `OnlineRanker`

    Examples
    --------
    >>> X, relevance, query = [[1.0, 0.0], [0.0, 1.0], [2.0, 1.0], [0.0, 3.0]], [1, 0, 1, 0], [7, 7, 8, 8]
    >>> AdaGradRanker().fit(X, relevance, qid=query).score(X, relevance, qid=query)
    1.0
    """

    learner = "adagrad"
    choices = ("update",)
    learners: ClassVar[Learners] = {("mirror-descent",): "adagrad", ("dual-averaging",): "adagrad-rda"}

    update: Literal["mirror-descent", "dual-averaging"] = "mirror-descent"
    loss: Term = "hinge"
    l1: float = 0.0
    l2: float = 0.0
    learning_rate: float = 0.25
    damping: float = 1e-06
    fit_intercept: bool = False
