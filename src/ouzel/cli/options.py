"""Options that several commands share: files, the reading of a stream, and outputs.

A group is a dataclass, which commands take as a parameter: each option has its name, type, default and help here, and
its heading in the help is the `panel` of its class.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from ouzel.cli.parameters import COLUMN, FILE, argument, choice, option, values
from ouzel.errors import OuzelError
from ouzel.flags import flag_of
from ouzel.ranges import COUNT, check
from ouzel.streams.formats.catalogue import FORMATS

if TYPE_CHECKING:
    from ouzel.model.model import Model

EXAMPLES = {"set": "--set learning_rate=0.1", "limit": "--limit line=1GB"}
ON_ERROR = choice("raise", "skip", checked=False)
FORMAT = choice(*FORMATS, name="FORMAT", checked=False)

Files = Annotated[list[str], argument("Files in any format, in order; - is standard input.", FILE)]
FilesOrSql = Annotated[list[str] | None, argument("Files in any format, in order; - is standard input.", FILE)]
ModelFile = Annotated[str, argument("A model file.", "MODEL")]
Format = Annotated[
    str | None,
    option(
        f"{', '.join(FORMATS)}; by default detected from the file name or its contents.", takes=FORMAT, panel="Files"
    ),
]
Delay = Annotated[
    str | None,
    option(
        "How late labels come: a number of examples, or a time such as 30m, 2h or 1d by the times in --id. Each "
        "example is predicted when it comes, and learnt when its label does.",
        takes="INTEGER|DURATION",
    ),
]
Json = Annotated[bool, option("Print one JSON object and nothing else.", panel="Report")]
SaveTo = Annotated[
    str | None,
    option(
        "Add the metrics, one row per model, to a table of a database: sqlite:///r.db#runs.",
        takes="URL#TABLE",
        panel="Report",
    ),
]
Plot = Annotated[str | None, option("Draw the result to this file.", takes="PNG|SVG", panel="Report")]


@dataclass(frozen=True)
class Labels:
    """Options of labels and importance weights."""

    panel: ClassVar = "Columns"
    label: Annotated[str | None, option("Column of a table that holds the label.", takes=COLUMN)] = None
    label_positive: Annotated[str | None, option("The label that is +1; all others are -1.", takes="LABEL")] = None
    weight: Annotated[str | None, option("Column with importance weights.", takes=COLUMN)] = None


@dataclass(frozen=True)
class Groups:
    """Options of the groups of a ranking."""

    panel: ClassVar = "Columns"
    group: Annotated[str | None, option("Column with the group that an example is ranked within.", takes=COLUMN)] = None
    query: Annotated[str | None, option("The number of examples of each group, one a line.", takes=FILE)] = None


@dataclass(frozen=True)
class Kinds:
    """Options of the kinds of columns."""

    panel: ClassVar = "Columns"
    text: Annotated[list[str] | None, option("Column read as words; may be repeated.", takes=COLUMN)] = None
    categorical: Annotated[
        list[str] | None,
        option("Column of categories; may be repeated, a pattern such as 'C*', or all.", takes=COLUMN),
    ] = None
    numeric: Annotated[list[str] | None, option("Column of numbers; may be repeated, or a pattern.", takes=COLUMN)] = (
        None
    )
    dates: Annotated[
        list[str] | None,
        option(
            "Column of dates, read as seconds, month, weekday and hour; may be repeated, or a pattern.", takes=COLUMN
        ),
    ] = None
    ignore: Annotated[list[str] | None, option("Column to ignore; may be repeated, or a pattern.", takes=COLUMN)] = None
    keep: Annotated[
        list[str] | None,
        option("Column to read, ignoring all others; may be repeated, or a pattern.", takes=COLUMN),
    ] = None


@dataclass(frozen=True)
class Derived:
    """Options of features made of others."""

    panel: ClassVar = "Features"
    crosses: Annotated[
        list[str] | None,
        option(
            "Interactions of columns, or namespaces, such as city*device; '*:*' for all pairs.",
            "--cross",
            "--crosses",
            takes="A*B",
        ),
    ] = None
    ngrams: Annotated[
        list[str] | None,
        option("N-grams of up to N successive words of texts, or of namespaces.", takes="[COL=]N[+K]"),
    ] = None
    skips: Annotated[int | None, option("Words that n-grams may skip (0).")] = None
    bins: Annotated[
        list[str] | None,
        option("Bin the numbers of a column into N categories of equal frequency; may be repeated.", takes="COL=N"),
    ] = None
    hinges: Annotated[
        list[str] | None,
        option(
            "Linear splines of a column's numbers: N features, how far the number is above each knot; may be repeated.",
            takes="COL=N",
        ),
    ] = None


@dataclass(frozen=True)
class Lines:
    """Options of parsing lines and cells."""

    panel: ClassVar = "Files"
    columns: Annotated[
        str | None, option("Names of the columns of a table without a header: a,b,c.", takes="NAMES")
    ] = None
    skip_lines: Annotated[int | None, option("Lines to skip at the start of a table.")] = None
    delimiter: Annotated[
        str | None,
        option("Column separator of a CSV file; by default , tab ; or |, detected from its header.", takes="CHARACTER"),
    ] = None
    on_error: Annotated[str | None, option("On a bad line: raise, or skip (and count it).", takes=ON_ERROR)] = None
    limit: Annotated[
        list[str] | None,
        option(
            "Largest size of a piece of a file: line=32MB, word=1MB, label=4KB, unpacked=1GB, batch=1GB; may be "
            "repeated.",
            takes="NAME=BYTES",
        ),
    ] = None


@dataclass(frozen=True)
class Messages:
    """Options of the metadata of messages of a log."""

    panel: ClassVar = "Logs"
    with_key: Annotated[bool, option("Of a log: read the key of a message as a column `key`.")] = False
    with_headers: Annotated[bool, option("Of a log: read the headers of a message as columns `header:NAME`.")] = False


@dataclass(frozen=True)
class Hashing:
    """Options of feature hashing."""

    panel: ClassVar = "Features"
    bits: Annotated[int | None, option("Bits of the hash of feature names (18).")] = None
    seed: Annotated[int | None, option("Seed of the hash of feature names, and of random orders (0).")] = None


@dataclass(frozen=True)
class Reading(Groups, Hashing, Messages, Lines, Derived, Kinds, Labels):
    """All options of reading a stream; a command that has only some of them takes it `only` with these."""

    panel: ClassVar = "Columns"
    id: Annotated[str | None, option("Column with the names of rows; not a feature.", takes=COLUMN)] = None
    missing: Annotated[
        str | None,
        option(
            "What a missing value is: a feature of its own (indicator), or none (absent).",
            takes=choice("indicator", "absent", checked=False),
        ),
    ] = None

    def keywords(self) -> dict[str, Any]:
        """Return the options that were given as keywords of the library."""
        given = values(self)
        columns, limits = given.pop("columns"), given.pop("limit")
        read = {name: tuple(value) or None if isinstance(value, list) else value for name, value in given.items()}
        read["columns"] = tuple(name.strip() for name in columns.split(",")) if columns else None
        read["limits"] = dict(pair_of("limit", pair) for pair in limits) if limits else None
        return {name: value for name, value in read.items() if value is not None and value is not False}


def reading_as_learnt(
    model: Model, notes: dict[str, Any], given: dict[str, Any], leave: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the reading options in a model file, with those given now in their place."""
    given = {**given, "bits": model.bits, "seed": model.seed}
    stored = {name: value for name, value in notes.get("reading", {}).items() if name not in leave}
    return {**stored, **given, "space": model.space, "inherited": tuple(set(stored) - set(given))}


def check_order(command: str, model: str, files: Sequence[str], advice: str = "name a file of examples") -> None:
    """Refuse models among files of examples before anything is read; {} in the `advice` is such a file."""
    from ouzel.streams.formats.catalogue import is_model

    def begin(name: str) -> bytes:
        if not os.path.isfile(name):
            return b""
        with open(name, "rb") as file:
            return file.read(9)

    for file in files:
        if is_model(begin(file)) and not is_model(begin(model)):
            raise OuzelError(f"{file}: a model, and {model} is none; `ouzel {command} MODEL FILE` has the model first")
        if is_model(begin(file)):
            raise OuzelError(f"{file}: a model, not examples; {advice.format(file)}")


def pair_of(flag: str, pair: str) -> tuple[str, str]:
    """Split NAME=VALUE."""
    name, _, value = map(str.strip, pair.partition("="))
    if not name or not value:
        raise OuzelError(f"--{flag} takes NAME=VALUE, such as {EXAMPLES[flag]}; got {pair!r}")
    return name, value


def check_counts(**counts: int | None) -> None:
    """Refuse a count below 0."""
    for name, value in counts.items():
        if value is not None:
            check(flag_of(name), COUNT, value)


def delay_of(given: str | None) -> int | str:
    """Return a delay of labels: examples, or a time as text; refuse other text before anything is read."""
    if given is None:
        return 0
    from ouzel.evaluation.delay import delay_of as parts_of

    examples, seconds = parts_of(given)
    return given if seconds else examples


def check_plot(plot: str | None) -> None:
    """Refuse a plot that could not be drawn, before anything is read."""
    if plot is not None:
        from ouzel.plotting.axes import check_plot_path

        check_plot_path(plot)
