"""The formats by name. Importing this loads no reader.

Whatever lists formats takes them from here: command line, help texts, documentation, services, logs, learning in
rounds, and the laws that cross every format with every entry point. See `docs/developer/add_a_format.md`.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Mapping
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple

from ouzel.errors import DataError, OuzelError
from ouzel.streams.sources.source import Source

CONTROL = re.compile(r"[\0-\x08\x0e-\x1f\x7f]")  # characters that no text has


class Family(Enum):
    """The kind of reader of a format; `protocol.py` defines the module of each."""

    LINES = "lines of text, each an example, that a kernel parses"
    OBJECTS = "lines of text, each a JSON object"
    DELIMITED = "rows of cells of text, with a header"
    COLUMNAR = "columns of types"
    ARRAYS = "an array"
    RECORDS = "records, each of lines of JSON, parsed rows or Arrow"


class Split(Enum):
    """Positions where a file may be split, so that several processes read it."""

    LINES = "at every newline"
    RECORDS = "at newlines outside of quotation marks, the header before each part"
    ROW_GROUPS = "between row groups"


class Format(NamedTuple):
    """One entry: the name of a format, how it is detected, and the module that reads and writes it."""

    name: str
    title: str  # for people
    family: Family
    module_name: str  # below ouzel.streams
    suffixes: tuple[str, ...]  # of names of files
    example: str  # for the documentation, as the next
    features: str
    pattern: str = ""  # what the beginning of a text of this format matches
    rank: int = 0  # text is compared with the patterns in this order, the narrow ones before the wide ones
    magic: tuple[bytes, ...] = ()  # what a binary file begins with
    file_name: str = ""  # what the name of a file matches, whatever its suffix
    media_types: tuple[str, ...] = ()  # of bodies of requests; the first is the one that is sent
    split: Split | None = None
    namespaces: bool = False  # whether features have namespaces, of which options of columns speak
    in_messages: bool = False  # whether a message of a log may be of it
    comment: bytes = b""  # what a line begins with that is no example
    delimiter: str | None = None  # between cells, if it is always the same

    @property
    def module(self) -> Any:
        """Import its reader, on first use, and return it."""
        return importlib.import_module(f"ouzel.streams.{self.module_name}")

    @property
    def is_lines(self) -> bool:
        """Whether it is text, each line an example."""
        return self.family in (Family.LINES, Family.OBJECTS)

    @property
    def is_table(self) -> bool:
        """Whether rows have columns, which options name."""
        return self.family in (Family.OBJECTS, Family.DELIMITED, Family.COLUMNAR)

    @property
    def takes_columns(self) -> bool:
        """Whether options of columns have a meaning in it."""
        return self.is_table or self.family is Family.RECORDS

    @property
    def is_named(self) -> bool:
        """Whether features have names, made of columns or namespaces."""
        return self.takes_columns or self.namespaces

    @property
    def is_delimited(self) -> bool:
        """Whether it is text of cells."""
        return self.family is Family.DELIMITED

    @property
    def is_columnar(self) -> bool:
        """Whether its columns have types."""
        return self.family is Family.COLUMNAR

    @property
    def is_converted_to(self) -> bool:
        """Whether `convert` writes it."""
        return self.family in (Family.LINES, Family.COLUMNAR)

    @property
    def has_members(self) -> bool:
        """Whether the key and the headers of a message can be columns of what it holds."""
        return self.in_messages and self.is_table


FORMATS: Mapping[str, Format] = {
    format.name: format
    for format in (
        Format(
            "svmlight",
            "svmlight",
            Family.LINES,
            "formats.svmlight",
            (".svm", ".svmlight", ".libsvm"),
            "`+1 qid:3 1:0.5 7:2 # remark`",
            "ids as they are; repeated ids add up",
            pattern=r"[^\S\n]*(\S+[^\S\n]+){0,2}(\d+|qid):| *[-+]?[\d.]+ *\n.| *([^\s,;|]+ *\n *)+\S+ +(\d+|qid):",
            rank=4,
            media_types=("text/x-svmlight",),
            split=Split.LINES,
            in_messages=True,
            comment=b"#",
        ),
        Format(
            "libffm",
            "libffm",
            Family.LINES,
            "formats.libffm",
            (".ffm", ".libffm"),
            "`1 0:3:1 1:1203:0.5`",
            "of `field:id:value` the ids, as they are; a linear model has no use for fields",
            pattern=r"[^\S\n]*(\S+[^\S\n]+)?\d+:\d+:[^\s,;|]+(\s|\Z)",
            rank=3,
            media_types=("text/x-libffm",),
            split=Split.LINES,
            in_messages=True,
            comment=b"#",
        ),
        Format(
            "vw",
            "Vowpal Wabbit",
            Family.LINES,
            "formats.vw",
            (".vw",),
            "`1 2.0 'tag\\|ns:2 price:3 red`",
            "whole numbers in the default namespace are ids, as in svmlight; others hash as `ns^name`",
            pattern=r"(.*[^\S\n])?\||(?=.*\|)(?=.* )[^\t\n]*(\n|\Z)",
            rank=2,
            media_types=("text/x-vw",),
            split=Split.LINES,
            namespaces=True,
            in_messages=True,
        ),
        Format(
            "csv",
            "CSV",
            Family.DELIMITED,
            "formats.csv",
            (".csv",),
            "a header, or `--column-names A,B,C`; cells separated as in the header, by `,` `;` `\\|` or tab",
            "in columns of numbers a number is the value of its column; any other cell is `column=word`",
            pattern=r"[^\t\n]*[,;|][^\t\n]*(\n|\Z)",
            rank=5,
            media_types=("text/csv",),
            split=Split.RECORDS,
        ),
        Format(
            "tsv",
            "TSV",
            Family.DELIMITED,
            "formats.csv",
            (".tsv", ".tab"),
            "the same; cells separated by tabs",
            "the same",
            pattern=r".*\t",
            rank=6,
            media_types=("text/tab-separated-values",),
            split=Split.RECORDS,
            delimiter="\t",
        ),
        Format(
            "parquet",
            "Parquet",
            Family.COLUMNAR,
            "formats.parquet",
            (".parquet", ".pq"),
            "columns of types, or `label`, `indices`, `values`",
            "numbers by column; words as `column=word`; or sparse rows",
            magic=(b"PAR1",),
            split=Split.ROW_GROUPS,
        ),
        Format(
            "arrow",
            "Arrow",
            Family.COLUMNAR,
            "formats.arrow_ipc",
            (".arrow", ".feather", ".ipc"),
            "the same, as a file (Feather) or a stream",
            "the same",
            magic=(b"ARROW1", b"\xff\xff\xff\xff"),
            media_types=("application/vnd.apache.arrow.stream",),
            in_messages=True,
        ),
        Format(
            "jsonl",
            "JSON lines",
            Family.OBJECTS,
            "formats.json_lines",
            (".jsonl", ".ndjson"),
            '`{"label": 1, "price": 2.5, "tags": ["a"]}`',
            "as columns of types; objects inside give `outer.inner`, lists `name=entry`",
            pattern=r"[^\S\n]*[{\[]",
            rank=1,
            media_types=("application/x-ndjson", "application/jsonl", "application/jsonlines"),
            split=Split.LINES,
            in_messages=True,
        ),
        Format(
            "records",
            "Records",
            Family.RECORDS,
            "formats.records",
            (".records",),
            "the log of a service",
            "as in what a service got: JSON lines, svmlight, Vowpal Wabbit, Arrow",
            magic=(b"\x93OUZREC\x01",),
        ),
        Format(
            "idx",
            "idx",
            Family.ARRAYS,
            "formats.idx",
            (".idx",),
            "MNIST's images",
            "pixels between 0 and 1; the file of labels is found by its name",
            magic=(b"\0\0\x08\x01", b"\0\0\x08\x03"),
            file_name=r"-idx|-ubyte$",
        ),
    )
}
"""Every format by name, in the order of the documentation."""


def names_of(wanted: Callable[[Format], bool] = lambda format: True) -> tuple[str, ...]:
    """Return the names of the formats that have a property.

    >>> names_of(lambda format: format.is_columnar)
    ('parquet', 'arrow')
    """
    return tuple(format.name for format in FORMATS.values() if wanted(format))


MESSAGE_FORMATS = names_of(lambda format: format.in_messages)
"""Names of the formats that messages of logs may have."""


def find(name: str) -> Format:
    """Return the format of that name.

    >>> find("vw").title
    'Vowpal Wabbit'
    >>> find("cvs")
    Traceback (most recent call last):
    ouzel.errors.OuzelError: format must be one of svmlight, libffm, vw, ...; got 'cvs'
    """
    if isinstance(name, str) and name in FORMATS:
        return FORMATS[name]
    raise OuzelError(f"must be one of {', '.join(FORMATS)}; got {name!r}", subject="format")


def by_file_name(path: str | Path) -> Format | None:
    """Return the format that the name of a file shows, if any.

    >>> by_file_name("days/monday.ndjson").name, by_file_name("t10k-images-idx3-ubyte").name
    ('jsonl', 'idx')
    """
    path = Path(path)
    for format in FORMATS.values():
        if format.file_name and re.search(format.file_name, path.name):
            return format
    return next((format for format in FORMATS.values() if path.suffix.lower() in format.suffixes), None)


def by_media_type(media_type: str) -> Format | None:
    """Return the format of the body of a request, by its media type.

    >>> by_media_type("text/x-vw").name
    'vw'
    """
    return next((format for format in FORMATS.values() if media_type in format.media_types), None)


def is_model(head: bytes) -> bool:
    """Whether bytes begin a file of safetensors, as models are: the length of its JSON, then that.

    >>> is_model(b"\x1c\x02" + bytes(6) + b'{"__metadata__"'), is_model(b'{"label": 1}')
    (True, False)
    """
    return head[8:9] == b"{" and int.from_bytes(head[:8], "little") < 1 << 40


def by_content(head: bytes, place: str) -> Format:
    """Detect the format of data that begins with these bytes.

    >>> by_content(b'{"label": 1}', "a").name, by_content(b"1 0:3:1 1:1203:0.5", "b").name
    ('jsonl', 'libffm')
    """
    if is_model(head):
        raise DataError(f"{place}: a model, not examples; name a file of examples")
    for format in FORMATS.values():
        if head.startswith(format.magic or (b"\0" * 5,)):
            return format
    lines = [line for line in head.decode("utf-8", "replace").splitlines() if line.strip() and line[0] != "#"]
    text = "\n".join(lines)
    if not CONTROL.search(lines[0] if lines else ""):
        for format in sorted(FORMATS.values(), key=lambda format: format.rank):
            if format.pattern and re.match(format.pattern, text):
                return format
    raise DataError(f"{place}: its format cannot be told; there are {', '.join(FORMATS)}: name it with", format="NAME")


def find_format(source: Source, given: str | None) -> Format:
    """Return the format of a source; `given` if there is one.

    >>> find_format(Source("-"), "vw").name
    'vw'
    """
    known = given if given is not None else source.format
    if known is not None:
        return find(known)
    return by_file_name(source.plain_name) or _by_content(source)


def _by_content(source: Source) -> Format:
    head = source.peek()
    if not head:
        raise DataError.at(source.name, "is empty; there is nothing to learn from")
    return by_content(head, source.name)
