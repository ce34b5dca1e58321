"""JSON schema of `ouzel train`."""

from __future__ import annotations

from ouzel.cli.schemas.words import CALIBRATION, CONFUSION, FIGURE, FIGURES, KNOWN, LABEL, listed, record

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
