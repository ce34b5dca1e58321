"""Which format a source has: by its name, else by its first bytes."""

from __future__ import annotations

import re
from pathlib import Path

from ouzel.errors import DataError, OuzelError
from ouzel.streams.logs.databases import is_database
from ouzel.streams.sources.source import Source

FORMATS = ("svmlight", "vw", "csv", "tsv", "parquet", "arrow", "jsonl", "idx")

BY_SUFFIX = {
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".vw": "vw",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".idx": "idx",
}

MAGIC = {
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"\xff\xff\xff\xff": "arrow",
    b"\0\0\x08\x01": "idx",
    b"\0\0\x08\x03": "idx",
}
DELIMITERS = ",\t;|"  # that part the cells of a table, in the order they are looked for
FEATURE = re.compile(r"(\d+|qid):")  # of an svmlight file
BAR = re.compile(r"(^|\s)\|")  # before a namespace of Vowpal Wabbit text


def find_format(source: Source, given: str | None) -> str:
    """The format of a source; `given` if there is one.

    >>> find_format(Source("-"), "vw")
    'vw'
    """
    if given is not None:
        if given in FORMATS:
            return given
        raise OuzelError(f"format must be one of {', '.join(FORMATS)}; got {given!r}")
    if source.remote is not None and is_database(source.remote):
        return "arrow"
    name = source.plain_name
    if "-idx" in name or name.endswith("-ubyte"):
        return "idx"
    found = BY_SUFFIX.get(Path(name).suffix.lower())
    return found or _by_content(source)


def _by_content(source: Source) -> str:
    head = source.peek()
    if not head:
        raise DataError(f"{source.name}: is empty; there is nothing to learn from")
    return told_by(head, source.name)


def told_by(head: bytes, place: str) -> str:
    """The format of what begins with these bytes.

    >>> told_by(b'{"label": 1}', "a")
    'jsonl'
    """
    for magic, name in MAGIC.items():
        if head.startswith(magic):
            return name
    lines = [line for line in head.decode("utf-8", "replace").splitlines() if line.strip() and line[0] != "#"]
    first = lines[0] if lines else ""
    words = first.split()
    if first.lstrip().startswith(("{", "[")):
        return "jsonl"
    if BAR.search(first) or ("|" in first and " " in first and "\t" not in first):
        return "vw"
    if first.isprintable() or "\t" in first:
        if any(FEATURE.match(word) for word in words[:3]):
            return "svmlight"
        if "\t" in first:
            return "tsv"
        if any(delimiter in first for delimiter in DELIMITERS):
            return "csv"
        if len(words) == 1 and len(lines) > 1:  # labels alone
            return "svmlight"
    raise DataError(f"{place}: its format cannot be told; there are {', '.join(FORMATS)}: name it with", format="NAME")
