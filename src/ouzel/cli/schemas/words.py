"""Builders of JSON schemas, and schemas that several commands share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Schema = dict[str, Any]
Members = Mapping[str, tuple[Any, str]]  # a schema, or the names of types, and what it is


def of(kind: str | Schema, about: str = "") -> Schema:
    """Return the schema of a value of some types, such as "number|null".

    >>> of("number|null", "a rate")
    {'type': ['number', 'null'], 'description': 'a rate'}
    """
    if not isinstance(kind, str):
        return {**kind, "description": about} if about else kind
    types = kind.split("|")
    return {"type": types if len(types) > 1 else kind} | ({"description": about} if about else {})


def record(members: Members, sometimes: Mapping[str, tuple[Any, str]] = {}) -> Schema:
    """Return the schema of an object with these members, and optional ones; it has no others."""
    properties = {name: of(kind, about) for name, (kind, about) in {**members, **sometimes}.items()}
    return {"type": "object", "properties": properties, "required": list(members), "additionalProperties": False}


def table(kind: str | Schema) -> Schema:
    """Return the schema of an object whose members have one schema."""
    return {"type": "object", "additionalProperties": of(kind)}


def listed(kind: str | Schema) -> Schema:
    """Return the schema of an array whose entries have one schema."""
    return {"type": "array", "items": of(kind)}


def either(*kinds: str | Schema) -> Schema:
    """Return the schema of one of several alternatives."""
    return {"anyOf": [of(kind) for kind in kinds]}


FIGURE = "number|string"  # a string where it is not finite: "inf", "nan"
LABEL = "string|number|boolean"
FIGURES: dict[str, str] = {
    "error_rate": "share of mistakes, by importance; of pairs, in a ranking",
    "accuracy": "one less the error rate",
    "mean_loss": "mean of the learner's own loss",
    "log_loss": "mean negative logarithm of the probability of the true class",
    "calibration_error": "expected calibration error of the probabilities",
    "auc": "area under the ROC curve",
    "auc_error": "how far that may be off, for it is counted in bins",
    "rmse": "root mean squared error",
    "mae": "mean absolute error",
    "r2": "share of the variance that is explained",
    "deviance": "mean Poisson deviance of counts, by the Poisson loss",
    "average_precision": "of the rarer of two classes; mean over the groups of a ranking",
    "average_precision_error": "how far that of two classes may be off, for it is counted in bins",
    "precision": "of the rarer of two classes: share of the right ones among examples taken for it, by importance",
    "recall": "share of the rarer of two classes that is taken for it",
    "f1": "harmonic mean of these two",
    "rare_share": "share of the rarer of two classes, by importance",
    "precision_at_1": "of the first of a group",
    "precision_at_5": "of the first five",
    "precision_at_10": "of the first ten",
    "baseline": "what knowing no features would have scored: the error rate of the class most frequent so far, or the "
    "RMSE of the mean so far; by other losses the MAE of the median, the mean loss of the quantile, or the deviance",
}
KNOWN: dict[str, tuple[Any, str]] = {name: (FIGURE, about) for name, about in FIGURES.items()}
"""Figures where those that do not apply are left out."""
CONFUSION = either("null", listed(listed("integer")))
CALIBRATION = listed(listed("number"))
EXPLAINED = record(
    {
        "name": ("string", "the feature"),
        "value": ("number", "its value"),
        "weight": ("number", "its weight"),
        "contribution": ("number", "their product, which is added to the margin"),
    }
)
