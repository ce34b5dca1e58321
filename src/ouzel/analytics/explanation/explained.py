"""Reading of files for an explanation, optionally with exact counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ouzel.analytics.exact import ExactCounts, correlation, known, rank_correlation, share_found
from ouzel.analytics.explanation.explainer import StreamingExplainer
from ouzel.analytics.explanation.risks import true_risks
from ouzel.analytics.explanation.rows import Attributes, Rule, rows_of
from ouzel.analytics.sketch import learn_all, pair_slot
from ouzel.kernels.jit import kernel
from ouzel.streams.options import Options
from ouzel.streams.sources.source import Source

THRESHOLDS = (2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 1e3, 1e4, 1e5)  # of true risks, for recall


@kernel
def with_pairs(offsets, slots, outliers, conjunctions):
    """Return the slots of all attributes and pairs of rows, with the class of each occurrence."""
    size = 0
    for i in range(len(outliers)):
        count = offsets[i + 1] - offsets[i]
        size += count + (count * (count - 1) // 2 if conjunctions else 0)
    found, which = np.empty(size, np.uint32), np.empty(size, np.uint8)
    filled = 0
    for i in range(len(outliers)):
        start = filled
        for a in range(offsets[i], offsets[i + 1]):
            found[filled] = slots[a]
            filled += 1
            if conjunctions:
                for b in range(a + 1, offsets[i + 1]):
                    found[filled] = pair_slot(slots[a], slots[b])
                    filled += 1
        which[start:filled] = outliers[i]
    return found, which


class Explained:
    """Reading of files: the explainer, the rule that marks outliers, and optionally exact counts."""

    def __init__(self, explainer: StreamingExplainer, rule: Rule, exact: bool = False) -> None:
        self.explainer = explainer
        self.rule = rule
        self.exact = ExactCounts() if exact else None
        self.interrupted = False

    def over(
        self,
        sources: Sequence[Source],
        format: str | None,
        options: Options,
        attributes: Sequence[str] = (),
        on_progress: Callable[[], None] = lambda: None,
    ) -> None:
        """Learn sources up to their end or an interruption."""
        parts = (rows for source in sources for rows in rows_of(source, format, self.rule, options, attributes))
        self.interrupted = not learn_all(parts, self.learn, on_progress)

    def learn(self, rows: Attributes) -> None:
        """Learn some rows, and count them exactly if `exact`."""
        self.explainer.learn_slots(rows.offsets, rows.slots, rows.outliers, rows.name_of)
        if self.exact is not None:
            order = self.explainer.parameters["order"]
            self.exact.add(*with_pairs(rows.offsets, rows.slots, rows.outliers, order > 1))

    def table(self, top: int, side: str, min_support: int = 1) -> list[dict[str, Any]]:
        """Return the attributes of `StreamingExplainer.top`, with their true counts if known."""
        found = [row._asdict() for row in self.explainer.top(top, side, min_support)]
        if self.exact is not None:
            counts = self.exact.of(self.explainer.found(side, min_support).slots[: len(found)])
            for row, pair, risk in zip(found, counts.tolist(), true_risks(counts, self.explainer.rows), strict=True):
                row |= {"true_risk": float(risk), "rows": sum(pair), "outliers": pair[1]}
        return found

    def risks(self, min_support: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """Return the weights of the ranked attributes, and their true relative risks."""
        found = self.explainer.found("both", min_support)
        assert self.exact is not None
        return found.weights, true_risks(self.exact.of(found.slots), self.explainer.rows)

    def correlation(self, side: str = "both", min_support: int = 1) -> tuple[int, float, float]:
        """Return the number of ranked attributes of a side, and correlations of their log risks with true ones.

        Pearson's correlation and Spearman's, of ranks. Those of both sides together join two clusters far apart, and
        are high whatever the order within either.
        """
        found = self.explainer.found(side, min_support)
        assert self.exact is not None
        shown = np.log(found.risks)
        true = np.log(true_risks(self.exact.of(found.slots), self.explainer.rows))
        return len(found.slots), correlation(shown, true), rank_correlation(shown, true)

    def recalls(self, side: str = "high", min_support: int = 1) -> list[dict[str, Any]]:
        """Return the recall: the share of attributes whose true risk reaches a threshold that is ranked."""
        if self.exact is None:
            return []
        counts, slots = self.exact.counts, self.exact.slots
        often = counts.sum(axis=1) >= min_support
        logs = np.log(true_risks(counts[often], self.explainer.rows))
        sizes = {"high": logs, "low": -logs, "both": np.abs(logs)}[side]
        shares = share_found(self.explainer.found(side, min_support).slots, slots[often], sizes, THRESHOLDS)
        return [
            {"risk": threshold, "attributes": count, "recall": share}
            for threshold, (count, share) in zip(THRESHOLDS, shares, strict=True)
        ]

    def to_json(self, top: int, side: str, min_support: int) -> dict[str, Any]:
        """Return all results as JSON values."""
        inliers, outliers = self.explainer.rows.tolist()
        answer: dict[str, Any] = {
            "attributes": self.table(top, side, min_support),
            "rows": inliers + outliers,
            "outliers": outliers,
            "left_out": self.rule.left_out,
            "near_unique": list(self.rule.near_unique),
            "threshold": None if self.rule.condition is None else self.rule.condition.threshold,
            "bytes_used": self.explainer.bytes_used,
            "ranked": len(self.explainer.found("both", min_support).slots),
            "unranked": self.explainer.unranked(min_support),
        }
        if self.exact is not None:
            kept, r, ranks = self.correlation(side, min_support)
            answer |= {"listed": kept, "correlation": known(r), "rank_correlation": known(ranks)}
            answer |= {"recall": self.recalls(side, min_support)}
        return answer
