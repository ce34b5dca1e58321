"""JSON schemas of what commands print with --json: of the whole output, or of each line for `predict`."""

from __future__ import annotations

from typing import Any

from ouzel.cli.schemas.results import DELTOIDS, EXPLAIN, PMI, TRAIN
from ouzel.cli.schemas.words import (
    CALIBRATION,
    CONFUSION,
    EXPLAINED,
    FIGURE,
    KNOWN,
    LABEL,
    Schema,
    either,
    listed,
    of,
    record,
    table,
)

PREDICTION = record(
    {},
    {
        "row": ("integer", "which row of the stream it is, from 1, bad ones counted"),
        "id": ("string|number|null", "what the row is called"),
        "actual": (f"{LABEL}|null", "its label"),
        "label": (LABEL, "the class, or the number, predicted"),
        "margin": ("number", "of two classes above 0 for the second; or of a number"),
        "probability": ("number", "of the second of two classes"),
        "score": ("number", "of a ranking"),
        "why": (listed(EXPLAINED), "with --explain: what adds most to the margin, or to the largest one"),
        "all_else": ("number", "with --explain: what is left of that margin"),
    },
) | {"patternProperties": {"^(margin|probability):": {"type": "number", "description": "of three classes and more"}}}
TEST = table(
    record(
        {
            "learner": ("string", "its name"),
            "task": ("string", "classification, regression or ranking"),
            "examples": ("integer", "predicted"),
            "left_out": ("integer", "examples of classes that the model does not know, or without a label"),
            "figures": (record({}, KNOWN), "those that apply"),
            "rare_class": (either("null", LABEL), "the rarer of two classes"),
            "classes": (listed(LABEL), "in order"),
            "confusion": (CONFUSION, "rows are the true class, columns the predicted"),
            "calibration": (CALIBRATION, "of bins: mean probability, observed frequency"),
        }
    )
)
TOP = listed(
    record(
        {
            "class": (f"{LABEL}|null", "which positive weights speak for"),
            "features": (listed(listed("string|number")), "pairs of name and weight, most important first"),
            "importances": (listed("number|null"), "of the same features: |weight| × standard deviation, where known"),
        },
        {
            "eigenvalues": (listed("number"), "of the sketch, largest first"),
            "condition_number": (FIGURE, "of the metric"),
        },
    )
)
INFO = record(
    {
        "file": ("string", "as it was named"),
        "bytes": ("integer", "of the file"),
        "format": ("integer", "of model files"),
        "version": ("string|null", "of the Ouzel that wrote it; null of older formats"),
        "learner": ("string", "its name"),
        "analysis": ("string|null", "what the model is the sketch of, if it is that of an analysis"),
        "parameters": ("object", "of the analysis, if it is one"),
        "task": ("string", "classification, regression or ranking"),
        "settings": ("object", "of the learner, all"),
        "changed": ("object", "those that are not its defaults"),
        "options": ("object", "intercept, bits, seed, …"),
        "classes": (listed(LABEL), "in order"),
        "classes_closed": ("boolean", "whether no other class is taken"),
        "known_by": ("string|null", "what features are known by: name, number or column"),
        "columns": (table("string"), "of a table, and what each holds"),
        "derived": (table(listed("string")), "features made of others: crosses, ngrams, bins, hinges"),
        "reading": ("object", "how the stream was read"),
        "examples": ("integer", "learnt"),
        "unlabelled": ("integer", "left out for want of a label"),
        "figures": (record({}, KNOWN), "of progressive validation, if the file holds them"),
        "sources": (
            listed(
                record(
                    {
                        "name": ("string", "without folders"),
                        "examples": ("integer", "learnt of it"),
                        "digest": ("string", "of these"),
                    }
                )
            ),
            "that were learnt",
        ),
        "memory": ("integer", "bytes of the states"),
        "slots": ("integer|null", "that the states have room for; null within a byte budget"),
        "touched": ("integer|null", "of these in the file; null if it holds them all"),
    }
)
CHOSEN: dict[str, tuple[Any, str]] = {
    "learner": ("string", "its name"),
    "step": ("number|null", "of --step-sizes"),
    "l1": ("number|null", "of --l1"),
    "budget": ("number|null", "bytes, of --budget"),
    "settings": ("object", "all that were given"),
    "varied": ("object", "those of --grid"),
    "examples": ("integer", "learnt"),
}
ENTRY = record(
    {
        **CHOSEN,
        "nonzeros": ("integer|null", "weights that are not zero"),
        "updates": ("integer", "examples that changed the model"),
        "bytes_used": ("integer|null", "of the model"),
        "seconds": ("number", "learning"),
        "warnings": (listed("string"), "what went wrong, and what to try"),
    },
    {
        **KNOWN,
        "recovery_error": ("number|null", "of the heaviest weights, with --top"),
        "top": ("integer", "how many of them"),
    },
)
OVER_ORDERS = record(
    {"mean": ("number", ""), "sd": ("number", "by n - 1"), "values": (listed("number"), "of each order")}
)
ORDERS = record(
    {
        **CHOSEN,
        "orders": ("integer", "random orders"),
        "error": (OVER_ORDERS, "share of mistakes, or root mean squared error"),
        "updates": (OVER_ORDERS, ""),
        "seconds": (OVER_ORDERS, ""),
    }
)
RESULTS = listed(either(ENTRY, ORDERS))
COMPARE = either(
    RESULTS, listed(record({"file": ("string", "with --per-file"), "results": (RESULTS, "of that file by itself")}))
)
CONVERT = record(
    {
        "examples": ("integer", "written"),
        "skipped": ("integer", "bad lines left out"),
        "bytes": ("integer", "of the file"),
        "output": ("string", "the file"),
        "seconds": ("number", "in all"),
    }
)
EXPORT = record(
    {
        "model": ("string", "the model file"),
        "output": ("string", "the graph"),
        "rule": ("string", "what says how names become ids"),
        "outputs": (listed("string"), "what the graph gives"),
    }
)
COMPILE = record(
    {
        "learners": (listed("string"), "whose kernels were compiled"),
        "folder": ("string|null", "where they are; null for the usual places"),
        "family": ("string|null", "of processors"),
        "seconds": ("number", "in all"),
    },
    {"kernels": ("integer", "in the folder"), "bytes": ("integer", "of them")},
)
SETTING = record({"takes": ("string", "its range"), "about": ("string", "what it is")})
LEARNERS = either(
    record(
        {
            "name": ("string", "of the learner that was named"),
            "summary": ("string", "in a line"),
            "settings": ("object", "their defaults"),
            "ranges": (table(SETTING), "of each setting"),
        }
    ),
    table("string"),
)
SEND = record(
    {
        "learnt": ("integer", "examples"),
        "repeated": ("integer", "that had been learnt before"),
        "refused": ("integer", "lines"),
        "seconds": ("number", "in all"),
        "model": ("object", "what the service tells of it"),
    }
)
DEMO = record(
    {
        "streams": (
            listed(record({"stream": ("string", "its title"), "results": (listed(ENTRY), "the best of each learner")})),
            "in the order shown",
        ),
        "plot": ("string", "the picture drawn"),
        "seconds": ("number", "in all"),
    }
)
EXPERIMENT = record(
    {
        "name": ("string", "as the command takes it"),
        "summary": ("string", "in a line"),
        "report": ("string", "whether there is one, and whether it is of this code"),
    }
)
REPRODUCE = either(
    listed(EXPERIMENT),
    record({"name": ("string", "of an experiment that was run"), "files": (listed("string"), "report and picture")}),
)
SCHEMAS: dict[str, Schema] = {
    "train": TRAIN, "predict": PREDICTION, "test": TEST, "top": TOP, "info": INFO, "compare": COMPARE,
    "convert": CONVERT, "export": EXPORT, "compile": COMPILE, "learners": LEARNERS, "explain": EXPLAIN,
    "deltoids": DELTOIDS, "pmi": PMI, "send": SEND, "demo": DEMO, "reproduce": REPRODUCE,
}  # fmt: skip
OTHERWISE = {
    "serve": "speaks JSON over HTTP, of which `GET /openapi.json` has the schemas; "
    "the command itself prints lines for people, or with `--log json` an object a line: `event`, `level`, `timestamp` "
    "and what the event is about",
    "schema": "prints a JSON schema, which is JSON as it is",
}
"""Commands without --json that have an alternative."""


def schema_of(command: str) -> Schema:
    """Return the schema of what a command prints, ready for a validator.

    >>> schema_of("convert")["title"]
    'ouzel convert --json'
    """
    lines = " (each line)" if command == "predict" else ""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"ouzel {command} --json{lines}",
        **of(SCHEMAS[command]),
    }
