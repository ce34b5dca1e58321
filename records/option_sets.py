"""Sets of options that each format is read with."""

from __future__ import annotations

from typing import Any

from records import tables

Options = dict[str, Any]

EXTRA = ("weight", "query", "name", "amount", "mark")
USUAL: Options = {"label": "label", "ignore": [*EXTRA]}
ROLES = {"label": "label", "weight": "weight", "group": "query", "id": "name", "ignore": ["amount", "mark"]}

OF_TABLES: dict[str, Options] = {
    "usual": {},
    "few bits": {"bits": 8},
    "many bits": {"bits": 28},
    "seed": {"seed": 7},
    "label of numbers": {"label": "mark", "ignore": ["weight", "query", "name", "amount", "label"]},
    "label of amounts": {"label": "amount", "ignore": ["weight", "query", "name", "mark", "label"]},
    "positive label": {"label_positive": "yes"},
    "label by name": {"label": None},
    "no label": {"label": None, "unlabelled": True, "ignore": [*EXTRA, "label"]},
    "roles": ROLES,
    "roles and positive label": {**ROLES, "label_positive": "no"},
    "nothing left out": {"ignore": []},
    "left out by pattern": {"ignore": [*EXTRA, "c*", "m*"]},
    "kept": {"keep": ["price", "c*"], "ignore": []},
    "kept and left out": {"keep": ["*i*"], "ignore": ["weight", "price"]},
    "categorical": {"categorical": ["size"]},
    "all categorical": {"categorical": ["all"]},
    "patterns of kinds": {"categorical": ["*"], "numeric": ["price"], "text": ["rev*"]},
    "numeric codes": {"numeric": ["code"]},
    "text": {"text": ["review"]},
    "two texts": {"text": ["review", "city"]},
    "all text": {"text": ["all"]},
    "american dates": {"dates": ["us"]},
    "dates as words": {"categorical": ["day", "moment"]},
    "dates of numbers": {"dates": ["size"]},
    "indicator": {"missing": "indicator"},
    "indicator of words": {"missing": "indicator", "categorical": ["all"]},
    "cross": {"crosses": ["city*flag"]},
    "cross of numbers": {"crosses": ["price*temp", "price*price"]},
    "cross of three": {"crosses": ["city*code*flag", "size*city"]},
    "cross of patterns": {"crosses": ["c*:flag"]},
    "all pairs": {"crosses": ["*:*"], "keep": ["city", "code", "size"], "ignore": []},
    "cross of hours": {"crosses": ["moment.hour*city"], "dates": ["moment"]},
    "cross of months": {"crosses": ["day.month*flag"]},
    "cross of texts": {"crosses": ["review*city"], "text": ["review"]},
    "cross and indicator": {"crosses": ["temp*city"], "missing": "indicator"},
    "n-grams": {"text": ["review"], "ngrams": ["2"]},
    "n-grams with skips": {"text": ["review"], "ngrams": ["review=3"], "skips": 1},
    "n-grams of two texts": {"text": ["review", "city"], "ngrams": ["review=2+1", "city=2"]},
    "bins": {"bins": ["price=4"]},
    "hinges": {"hinges": ["temp=3"]},
    "bins, hinges and crosses": {"bins": ["size=3"], "hinges": ["price=2"], "crosses": ["size*city"]},
    "everything": {
        "bits": 20,
        "seed": 3,
        "text": ["review"],
        "ngrams": ["2"],
        "crosses": ["city*flag"],
        "bins": ["size=3"],
        "missing": "indicator",
        "dates": ["us"],
        "categorical": ["code"],
    },
    "no sample": {"sample": 0},
    "small sample": {"sample": 3},
    "bad lines skipped": {"on_error": "skip"},
    "short limits": {"limits": {"word": "24", "line": "1MB"}, "on_error": "skip"},
}
OF_DELIMITED: dict[str, Options] = {
    "delimiter": {"delimiter": ";"},
    "columns": {"columns": list(tables.table()[0])},
    "skipped lines": {"skip_lines": 2},
}
OF_VW: dict[str, Options] = {
    "usual": {},
    "few bits": {"bits": 8},
    "many bits": {"bits": 28},
    "seed": {"seed": 7},
    "positive label": {"label_positive": "1"},
    "left out": {"ignore": ["c"]},
    "kept": {"keep": ["n", " "]},
    "categorical": {"categorical": ["n"]},
    "text": {"text": ["t"]},
    "cross": {"crosses": ["n*c"]},
    "cross of three": {"crosses": ["n*c*t"]},
    "cross with itself": {"crosses": ["t*t"]},
    "all pairs": {"crosses": ["*:*"]},
    "n-grams": {"ngrams": ["t=2"]},
    "n-grams with skips": {"ngrams": ["2"], "skips": 2},
    "n-grams and crosses": {"ngrams": ["t=3+1"], "crosses": ["c*t"]},
    "bad lines skipped": {"on_error": "skip"},
    "short limits": {"limits": {"word": "24"}, "on_error": "skip"},
}
OF_NUMBERED: dict[str, Options] = {
    "usual": {},
    "bits": {"bits": 20},
    "positive label": {"label_positive": "1"},
    "bad lines skipped": {"on_error": "skip"},
}


def options_of(format: str) -> dict[str, Options]:
    """The sets of options that a format is read with."""
    kind = format.split()[0]
    if kind == "vw":
        return OF_VW
    if kind in ("svmlight", "libffm", "idx") or format.startswith("lists"):
        return OF_NUMBERED
    if format in ("csv semicolons", "csv without header", "csv behind lines"):
        own = {"csv semicolons": "delimiter", "csv without header": "columns", "csv behind lines": "skipped lines"}[
            format
        ]
        few = ("usual", "roles", "text", "cross", "everything", "bad lines skipped")
        return {name: {**USUAL, **OF_DELIMITED[own], **OF_TABLES[name]} for name in few} | {
            "without the option": USUAL,
        }
    if format in ("csv with CRLF", "csv with a BOM"):
        return {name: {**USUAL, **OF_TABLES[name]} for name in ("usual", "roles", "text", "everything")}
    if format.endswith("bad lines"):
        few = ("usual", "roles", "text", "cross", "everything", "no sample", "bad lines skipped", "short limits")
        return {name: {**USUAL, **OF_TABLES[name]} for name in few} | {
            f"{name}, skipped": {**USUAL, **OF_TABLES[name], "on_error": "skip"} for name in few[1:5]
        }
    return {name: {**USUAL, **options} for name, options in OF_TABLES.items()}
