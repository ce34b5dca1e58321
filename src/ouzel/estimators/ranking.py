"""Learning to rank by pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ouzel.errors import OuzelError
from ouzel.estimators.base import Estimator, as_numbers
from ouzel.evaluation.ranking import average_precision
from ouzel.model.room import beginning, starting_anew
from ouzel.model.tasks.ranking import groups_of
from ouzel.streams.concatenation import concatenate

GRADES = "numbers, the grades by which to rank"


@dataclass(kw_only=True, eq=False, repr=False)
class Ranker(Estimator):
    """Rank the examples of each group. The intercept cancels, so there is none."""

    task = "ranking"

    pairs: int = 0

    def fit(self, X: Any, y: Any, qid: Any = None) -> Self:
        """Forget everything and learn X (n, features) with relevances y (n,), `passes` times.

        `qid` (n,) numbers or names the groups, each a run of rows; without it all rows are one group.
        """
        with starting_anew(self):
            return self._learn(X, y, qid, self.passes)

    def partial_fit(self, X: Any, y: Any, qid: Any = None) -> Self:
        """Learn more groups."""
        with beginning(self):
            return self._learn(X, y, qid, 1)

    def predict(self, X: Any) -> np.ndarray:
        """Scores (n,): the higher, the better."""
        return self._margins(X)

    def score(self, X: Any, y: Any, qid: Any = None) -> float:
        """Mean average precision of the groups, examples of relevance above the group's least being the relevant."""
        scores, y = self.predict(X), as_numbers(y, GRADES)
        if y.shape != scores.shape:
            raise OuzelError(f"y has the relevance of each example, so {len(scores)} of them; got shape {y.shape}")
        found = [
            average_precision(scores[here], y[here] > y[here].min())
            for here in groups_of(_numbers(qid, len(y)))
            if y[here].max() > y[here].min()
        ]
        return float(np.mean(found)) if found else float("nan")

    def learn_one(self, x: Any, y: Any, w: float = 1.0) -> Self:
        """Refused: one example has no other to be ranked against."""
        raise OuzelError("a ranker learns groups of examples, not single ones; use partial_fit(X, y, qid)")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    @property
    def coef_(self) -> np.ndarray:
        """Weights (features,)."""
        return self._shown_weights()[0, 1:]

    def _model_options(self) -> dict[str, Any]:
        return {**super()._model_options(), "intercept": False, "pairs": self.pairs}

    def _learn(self, X: Any, y: Any, qid: Any, passes: int) -> Self:
        first = not hasattr(self, "model_")
        X, y = self._validated(X, y)
        groups = _numbers(qid, len(y))
        grades = as_numbers(y, GRADES)
        model = self._new_model() if first else self.model_
        block = concatenate([*self._blocks(model, X, None, grades, None)])._replace(groups=groups)
        return self._train(model, [block], passes)


def _numbers(qid: Any, n: int) -> np.ndarray:
    """Group numbers (n,) of ids of any kind."""
    if qid is None:
        return np.zeros(n, np.int64)
    qid = np.asarray(qid)
    if qid.shape != (n,):
        raise OuzelError(f"qid must name the group of each example, so {n} of them; got shape {qid.shape}")
    return np.asarray(np.unique(qid, return_inverse=True)[1], np.int64)
