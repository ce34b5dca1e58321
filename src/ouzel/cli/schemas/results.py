"""JSON schemas of the reports of `train`, `explain`, `deltoids` and `pmi`."""

from __future__ import annotations

from typing import Any

from ouzel.cli.schemas.words import CALIBRATION, CONFUSION, FIGURE, FIGURES, KNOWN, LABEL, either, listed, record

PASS = record({"examples": ("integer", "examples, or pairs of a ranking")}, KNOWN)
POINT = record({"examples": ("integer", "so far"), "mean_loss": (FIGURE, "so far")}, {"error_rate": (FIGURE, "so far")})
SPREAD = record(
    {
        "rounds": ("integer", "rounds of learning and merging"),
        "merged": ("integer", "states merged"),
        "bytes_moved": ("integer", "between processes"),
        "seconds": ("number", "in all"),
    }
) | {"additionalProperties": {"type": "number"}}
JOINED = record(
    {
        "late_labels": ("integer", "labels whose event was not there, or no longer"),
        "unlabelled_events": ("integer", "events that waited in vain"),
        "waiting_events": ("integer", "events that wait for their label"),
        "waiting_labels": ("integer", "labels that wait for their event"),
    }
)
TRAIN = record(
    {
        "learner": ("string", "its name"),
        "settings": ("object", "as --set takes them"),
        "task": ("string", "classification, regression or ranking"),
        "examples": ("integer", "learnt in the first pass"),
        "pairs": ("integer|null", "of a ranking, whose figures are of pairs"),
        **{name: (f"{FIGURE}|null", about) for name, about in FIGURES.items()},
        "rare_class": (either("null", LABEL), "the rarer of two classes"),
        "baseline_of": ("string|null", "what the baseline predicts, and its figure where it is not the first"),
        "warnings": (listed("string"), "what went wrong, and what to try"),
        "classes": (listed(LABEL), "in order"),
        "confusion": (CONFUSION, "rows are the true class, columns the predicted, in that order"),
        "holdout": (listed(PASS), "figures of examples held out, an entry a pass"),
        "passes": (listed(PASS), "figures of each pass"),
        "nonzeros": ("integer", "values of features learnt"),
        "features": ("integer", "different names, or ids up to the largest"),
        "features_used": ("integer|null", "different features"),
        "unlabelled": ("integer", "examples without a label"),
        "skipped": ("integer", "bad lines left out"),
        "bytes_used": ("integer", "of the model"),
        "seconds_reading": ("number", "waiting for the reader"),
        "seconds_learning": ("number", "learning"),
        "seconds_compiling": ("number", "compiling kernels, which later runs find on disk"),
        "curve": (listed(POINT), "at powers of two, and at regular distances"),
        "calibration": (CALIBRATION, "of bins: mean probability, observed frequency"),
        "model": ("string|null", "the file written"),
    },
    {"spread": (SPREAD, "with --workers or --cluster"), "joined": (JOINED, "with --labels")},
)
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
