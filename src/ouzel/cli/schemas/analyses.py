"""JSON schemas of `explain`, `deltoids` and `pmi`."""

from __future__ import annotations

from typing import Any

from ouzel.cli.schemas.words import FIGURE, listed, record

CORRELATIONS: dict[str, tuple[Any, str]] = {
    "correlation": ("number|null", "Pearson's, of estimates with true values, with --exact"),
    "rank_correlation": ("number|null", "Spearman's"),
}
ATTRIBUTE = record(
    {
        "attribute": ("string", "column=value"),
        "weight": ("number", "in the sketch"),
        "risk": (FIGURE, "estimated: how much likelier its rows are outliers than others"),
        "risk_low": (FIGURE, "the true risk is at least this"),
        "risk_high": (FIGURE, "and at most this"),
        "support": ("integer", "rows that had it, counted since it entered the active set"),
        "since": ("integer", "the row from which on they were counted"),
        "missed": ("integer", "at most so many rows before had it; 0 where all is exact"),
    },
    {"true_risk": (FIGURE, "with --exact"), "rows": ("integer", "with it"), "outliers": ("integer", "among them")},
)
EXPLAIN = record(
    {
        "attributes": (listed(ATTRIBUTE), "those that --top and --side select"),
        "rows": ("integer", "in all"),
        "outliers": ("integer", "among them"),
        "left_out": ("integer", "rows for want of what decides"),
        "threshold": ("number|string|null", "of the condition, at the end"),
        "bytes_used": ("integer", "of the sketch"),
        "ranked": ("integer", "attributes counted on at least half of their rows"),
        "unranked": ("integer", "attributes that may not have been"),
    },
    {
        "listed": ("integer", "attributes of the side"),
        **CORRELATIONS,
        "recall": (
            listed(
                record(
                    {
                        "risk": ("number", "true, or its reciprocal, at least"),
                        "attributes": ("integer", "that have it"),
                        "recall": ("number|null", "share of them that is ranked"),
                    }
                )
            ),
            "with --exact",
        ),
    },
)
ITEM = record(
    {
        "item": ("string|integer", "column=value, or its id"),
        "ratio": (FIGURE, "estimated, first to second"),
        "weight": ("number", "its natural logarithm"),
    },
    {
        "first": ("integer", "with --exact"),
        "second": ("integer", "with --exact"),
        "true_ratio": (FIGURE, "with --exact"),
    },
)
RECALL = record({"ratio": ("number", "true, at least"), "items": ("integer", "that have it")}) | {
    "additionalProperties": {"type": ["number", "null"], "description": "share that a method found"}
}
DELTOIDS = record(
    {
        "items": (listed(ITEM), "of the largest ratio, either way"),
        "seen": (listed("integer"), "items in the first and in the second stream"),
        "bytes_used": ("integer", "of the sketch"),
    },
    {"recall": (listed(RECALL), "with --exact")},
)
PAIR = record(
    {
        "first": ("string", ""),
        "second": ("string", ""),
        "pmi": ("number", "estimated, in natural units"),
        "pmi_low": ("number", "the true one is at least this"),
        "pmi_high": ("number", "and at most this, if counts of tokens are right within their margin of error"),
        "count_low": ("integer", "it occurred so often at least"),
        "count_high": ("integer", "and so often at most"),
    },
    {"exact_pmi": ("number", "with --exact"), "count": ("integer", "with --exact")},
)
PMI = record(
    {
        "pairs": (listed(PAIR), "of the largest PMI"),
        "tokens": ("integer", "read"),
        "bytes_used": ("integer", "of the sketch"),
        "least_count": ("integer", "occurrences from which pairs are listed"),
        "complete": ("boolean", "whether every pair of the stream was counted"),
        "complete_above": (
            "number|null",
            "the PMI above which none of these is missing; null if `complete`, or not known",
        ),
    },
    {
        "retrieved": ("integer", "pairs above 0"),
        **CORRELATIONS,
        "recall": (
            listed(
                record(
                    {
                        "pmi": ("number", "true, at least"),
                        "pairs": ("integer", "of `least_count` occurrences or more that have it"),
                        "recall": ("number|null", "share of them that is listed"),
                    }
                )
            ),
            "with --exact",
        ),
    },
)
