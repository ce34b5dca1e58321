"""Options that several commands share; `arguments` converts them to keywords of the library."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import typer

from ouzel.streams.formats.catalogue import FORMATS

Files = Annotated[list[str], typer.Argument(metavar="FILE", help="Files in any format, in order; - is standard input.")]
FilesOrSql = Annotated[
    list[str] | None,
    typer.Argument(metavar="[FILE]", show_default=False, help="Files in any format, in order; - is standard input."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
SaveTo = Annotated[
    str | None,
    typer.Option(
        "--save-to",
        metavar="URL#TABLE",
        help="Add the metrics, one row per model, to a table of a database: sqlite:///r.db#runs.",
    ),
]
Plot = Annotated[str | None, typer.Option("--plot", metavar="PNG|SVG", help="Draw the result to this file.")]

Format = Annotated[
    str | None,
    typer.Option(help=f"{', '.join(FORMATS)}; by default detected from the file name or its contents."),
]
Label = Annotated[str | None, typer.Option(help="Column of a table that holds the label.")]
NoIntercept = Annotated[bool, typer.Option("--no-intercept", help="Learn no intercept.")]
RawTargets = Annotated[bool, typer.Option("--raw-targets", help="Do not standardize the target.")]
Standardize = Annotated[bool, typer.Option("--standardize", help="Standardize dense features online, for any learner.")]
Forget = Annotated[
    float | None,
    typer.Option(
        "--half-life",
        metavar="EXAMPLES",
        help="Half-life of what the learner has accumulated, in examples; for streams that change.",
    ),
]
LabelPositive = Annotated[str | None, typer.Option(help="The label that is +1; all others are -1.")]
Group = Annotated[str | None, typer.Option(help="Column with the group that an example is ranked within.")]
Query = Annotated[str | None, typer.Option(metavar="FILE", help="The number of examples of each group, one a line.")]
Task = Annotated[
    str | None,
    typer.Option(
        help="classification, regression, or ranking (pairs within groups); otherwise inferred from labels and loss."
    ),
]
Pairs = Annotated[int | None, typer.Option(help="Pairs sampled from each group to rank (all).")]
Id = Annotated[str | None, typer.Option("--id", help="Column with the names of rows; not a feature.")]
Weight = Annotated[str | None, typer.Option(help="Column with importance weights.")]
Text = Annotated[list[str] | None, typer.Option(metavar="COL", help="Column read as words; may be repeated.")]
Categorical = Annotated[
    list[str] | None,
    typer.Option(metavar="COL", help="Column of categories; may be repeated, a pattern such as 'C*', or all."),
]
Numeric = Annotated[
    list[str] | None, typer.Option(metavar="COL", help="Column of numbers; may be repeated, or a pattern.")
]
Dates = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COL",
        help="Column of dates, read as seconds, month, weekday and hour; may be repeated, or a pattern.",
    ),
]
Ignore = Annotated[
    list[str] | None, typer.Option(metavar="COL", help="Column to ignore; may be repeated, or a pattern.")
]
Keep = Annotated[
    list[str] | None,
    typer.Option(
        "--only-columns", metavar="COL", help="Column to read, ignoring all others; may be repeated, or a pattern."
    ),
]
Crosses = Annotated[
    list[str] | None,
    typer.Option(
        "--cross",
        "--crosses",
        metavar="A*B",
        help="Interactions of columns, or namespaces, such as city*device; '*:*' for all pairs.",
    ),
]
NGrams = Annotated[
    list[str] | None,
    typer.Option(metavar="[COL=]N[+K]", help="N-grams of up to N successive words of texts, or of namespaces."),
]
Skips = Annotated[int | None, typer.Option(metavar="K", help="Words that n-grams may skip (0).")]
Bins = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COL=N", help="Bin the numbers of a column into N categories of equal frequency; may be repeated."
    ),
]
Hinges = Annotated[
    list[str] | None,
    typer.Option(
        "--splines",
        metavar="COL=N",
        help="Linear splines of a column's numbers: N features, how far the number is above each knot; may be "
        "repeated.",
    ),
]
Missing = Annotated[
    str | None, typer.Option(help="What a missing value is: absent, or a feature of its own (indicator).")
]
ColumnNames = Annotated[
    str | None, typer.Option("--column-names", help="Names of the columns of a table without a header: a,b,c.")
]
SkipLines = Annotated[int | None, typer.Option(help="Lines to skip at the start of a table.")]
Delimiter = Annotated[
    str | None, typer.Option(help="Column separator of a CSV file; by default , tab ; or |, detected from its header.")
]
OnError = Annotated[str | None, typer.Option(help="On a bad line: raise, or skip (and count it).")]
Limit = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=SIZE",
        help="Largest size of a piece of a file: line=32MB, word=1MB, label=4KB, unpacked=1GB, batch=1GB; may be "
        "repeated.",
    ),
]
WithKey = Annotated[bool, typer.Option("--with-key", help="Of a log: read the key of a message as a column `key`.")]
WithHeaders = Annotated[
    bool, typer.Option("--with-headers", help="Of a log: read the headers of a message as columns `header:NAME`.")
]
Bits = Annotated[int | None, typer.Option(help="Bits of the hash of feature names (18).")]
Seed = Annotated[int | None, typer.Option(help="Seed of the hash of feature names, and of random orders (0).")]

Loss = Annotated[
    str | None,
    typer.Option(
        help="logistic, hinge, smoothed-hinge, squared-hinge; squared, absolute, quantile, poisson for numbers."
    ),
]
LearningRate = Annotated[str | None, typer.Option(help="Step size.")]
L1 = Annotated[str | None, typer.Option("--l1", help="Strength of the l1 penalty: weights become exactly zero.")]
L2 = Annotated[str | None, typer.Option("--l2", help="Strength of the squared l2 penalty.")]
Budget = Annotated[str | None, typer.Option(help="Memory budget of a learner in bytes, such as 8KB.")]
SketchSize = Annotated[str | None, typer.Option(help="Directions that a sketch keeps.")]
Epsilon = Annotated[
    str | None, typer.Option(help="Of wm: error from which its theorem sizes the sketch, far too large in practice.")
]
Setting = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Any other setting of the learner; may be repeated."),
]


@dataclass(frozen=True)
class Labels:
    """Options of labels and importance weights."""

    label: Label = None
    label_positive: LabelPositive = None
    weight: Weight = None


@dataclass(frozen=True)
class Kinds:
    """Options of the kinds of columns and of features made of them."""

    text: Text = None
    categorical: Categorical = None
    numeric: Numeric = None
    dates: Dates = None
    ignore: Ignore = None
    keep: Keep = None
    crosses: Crosses = None
    ngrams: NGrams = None
    skips: Skips = None
    bins: Bins = None
    hinges: Hinges = None


@dataclass(frozen=True)
class Lines:
    """Options of parsing lines and cells."""

    columns: ColumnNames = None
    skip_lines: SkipLines = None
    delimiter: Delimiter = None
    on_error: OnError = None
    limit: Limit = None


@dataclass(frozen=True)
class Messages:
    """Options of the metadata of messages of a log."""

    with_key: WithKey = False
    with_headers: WithHeaders = False


@dataclass(frozen=True)
class Hashing:
    """Options of feature hashing."""

    bits: Bits = None
    seed: Seed = None


@dataclass(frozen=True)
class Groups:
    """Options of the groups of a ranking."""

    group: Group = None
    query: Query = None


@dataclass(frozen=True)
class Reading(Groups, Hashing, Messages, Lines, Kinds, Labels):
    """All options of reading a stream to learn."""

    id: Id = None
    missing: Missing = None


@dataclass(frozen=True)
class Preparation:
    """Options of the preparation of features and labels, and of the decay of what was learnt."""

    no_intercept: NoIntercept = False
    raw_targets: RawTargets = False
    standardize: Standardize = False
    forget: Forget = None

    @property
    def prepared(self) -> dict[str, Any]:
        """Keywords of the model for these options."""
        return {"scale_targets": not self.raw_targets, "standardize": self.standardize, "forget": self.forget}
