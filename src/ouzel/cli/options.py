"""Options that several commands share, each written once; and how they become arguments of the library."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ouzel.cli.groups import values
from ouzel.errors import OuzelError
from ouzel.ranges import COUNT, Range, check
from ouzel.streams.formats.catalogue import FORMATS

if TYPE_CHECKING:
    from ouzel.model.model import Model

TASKS = (None, "classification", "regression", "ranking")
EXAMPLES = {"set": "--set learning_rate=0.1", "limit": "--limit line=1GB"}

Files = Annotated[list[str], typer.Argument(metavar="FILE", help="Files in any format, in order; - is standard input.")]
FilesOrSql = Annotated[
    list[str] | None,
    typer.Argument(metavar="[FILE]", show_default=False, help="Files in any format, in order; - is standard input."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
FiguresTo = Annotated[
    str | None,
    typer.Option("--to", metavar="URL#TABLE", help="Add figures, a row a model, to a database: sqlite:///r.db#runs."),
]
Plot = Annotated[str | None, typer.Option("--plot", metavar="PNG|SVG", help="Draw the result to this file.")]

Format = Annotated[
    str | None,
    typer.Option(help=f"{', '.join(FORMATS)}; by default detected from the file name or its contents."),
]
Label = Annotated[str | None, typer.Option(help="Column of a table that holds the label.")]
NoIntercept = Annotated[bool, typer.Option("--no-intercept", help="Learn no constant feature.")]
RawTargets = Annotated[
    bool, typer.Option("--raw-targets", help="Learn numbers in their own unit, not in that of their spread.")
]
Standardize = Annotated[
    bool, typer.Option("--standardize", help="Centre and scale dense features as they come, for any learner.")
]
Forget = Annotated[
    float | None,
    typer.Option(
        metavar="HALF_LIFE", help="Examples after which what was learnt counts for half; for streams that change."
    ),
]
LabelPositive = Annotated[str | None, typer.Option(help="The label that is +1; all others are -1.")]
Group = Annotated[str | None, typer.Option(help="Column with the group that an example is ranked within.")]
Query = Annotated[str | None, typer.Option(metavar="FILE", help="The number of examples of each group, one a line.")]
Task = Annotated[
    str | None,
    typer.Option(help="classification, regression, or ranking: the pairs of each group. Else labels and loss say."),
]
Pairs = Annotated[int | None, typer.Option(help="Pairs drawn of each group to rank (all).")]
Id = Annotated[str | None, typer.Option("--id", help="Column that says what the rows are called; not a feature.")]
Weight = Annotated[str | None, typer.Option(help="Column with importance weights.")]
Text = Annotated[list[str] | None, typer.Option(metavar="COL", help="Column read as words; may be repeated.")]
Categorical = Annotated[
    list[str] | None,
    typer.Option(metavar="COL", help="Column of categories; may be repeated, a pattern such as 'C*', or all."),
]
Numeric = Annotated[list[str] | None, typer.Option(metavar="COL", help="Column of numbers; the same.")]
Dates = Annotated[
    list[str] | None, typer.Option(metavar="COL", help="Column of dates: seconds, month, weekday and hour; the same.")
]
Ignore = Annotated[list[str] | None, typer.Option(metavar="COL", help="Column to leave out; the same.")]
Keep = Annotated[list[str] | None, typer.Option(metavar="COL", help="Column to take, and no others; the same.")]
Crosses = Annotated[
    list[str] | None,
    typer.Option(
        "--cross",
        "--crosses",
        metavar="A*B",
        help="Multiply the features of columns, or namespaces, such as city*device; '*:*'.",
    ),
]
NGrams = Annotated[
    list[str] | None,
    typer.Option(metavar="[COL=]N[+K]", help="Join up to N words of texts, or of namespaces, that follow each other."),
]
Skips = Annotated[int | None, typer.Option(metavar="K", help="Words that n-grams may leave out (0).")]
Bins = Annotated[
    list[str] | None,
    typer.Option(metavar="COL=N", help="Numbers of a column as N categories, bins of like size; may be repeated."),
]
Hinges = Annotated[
    list[str] | None,
    typer.Option(metavar="COL=N", help="Beside numbers of a column, how far they are above N edges; the same."),
]
Missing = Annotated[str | None, typer.Option(help="A missing value is: absent, or a feature of its own (indicator).")]
ColumnNames = Annotated[
    str | None, typer.Option("--columns", help="Names of the columns of a table without a header: a,b,c.")
]
SkipLines = Annotated[int | None, typer.Option(help="Lines to leave out at the start of a table.")]
Delimiter = Annotated[
    str | None, typer.Option(help="What parts the cells of a CSV file (else , tab ; or |, as in its header).")
]
OnError = Annotated[str | None, typer.Option(help="What to do about a bad line: raise, or skip (and count it).")]
Limit = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=SIZE",
        help="What a piece of a file may take: line=32MB, word=1MB, label=4KB, unpacked=1GB, batch=1GB; may be "
        "repeated.",
    ),
]
WithKey = Annotated[
    bool, typer.Option("--with-key", help="Of a log: the key of a message is a feature, as a column `key` would be.")
]
WithHeaders = Annotated[
    bool, typer.Option("--with-headers", help="Of a log: so are its headers, as columns `header:NAME`.")
]
Bits = Annotated[int | None, typer.Option(help="Names of features hash to so many bits (18).")]
Seed = Annotated[int | None, typer.Option(help="Seed of that hash, and of random orders (0).")]

Loss = Annotated[
    str | None,
    typer.Option(
        help="logistic, hinge, smoothed-hinge, squared-hinge; squared, absolute, quantile, poisson for numbers."
    ),
]
LearningRate = Annotated[str | None, typer.Option(help="Step size.")]
L1 = Annotated[str | None, typer.Option("--l1", help="Strength of the l1 penalty: weights become exactly zero.")]
L2 = Annotated[str | None, typer.Option("--l2", help="Strength of the squared l2 penalty.")]
Budget = Annotated[str | None, typer.Option(help="Bytes a learner may keep, such as 8KB.")]
SketchSize = Annotated[str | None, typer.Option(help="Directions a sketch keeps.")]
Epsilon = Annotated[
    str | None, typer.Option(help="Of wm: error for which its theorem sizes the sketch, far too large in practice.")
]
Setting = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Any other setting of the learner; may be repeated."),
]


@dataclass(frozen=True)
class Labels:
    """Which columns say what is to be learnt, and how much an example counts."""

    label: Label = None
    label_positive: LabelPositive = None
    weight: Weight = None


@dataclass(frozen=True)
class Kinds:
    """What columns hold."""

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
    """How files are taken apart."""

    columns: ColumnNames = None
    skip_lines: SkipLines = None
    delimiter: Delimiter = None
    on_error: OnError = None
    limit: Limit = None


@dataclass(frozen=True)
class Messages:
    """What is read beside the messages of a log."""

    with_key: WithKey = False
    with_headers: WithHeaders = False


@dataclass(frozen=True)
class Hashing:
    """How names of features become numbers."""

    bits: Bits = None
    seed: Seed = None


@dataclass(frozen=True)
class Groups:
    """Which examples are ranked with each other."""

    group: Group = None
    query: Query = None


@dataclass(frozen=True)
class Reading(Groups, Hashing, Messages, Lines, Kinds, Labels):
    """All of how a stream that is learnt is read."""

    id: Id = None
    missing: Missing = None


@dataclass(frozen=True)
class Preparation:
    """What becomes of features and labels before a learner sees them, and of what it learnt as time goes by."""

    no_intercept: NoIntercept = False
    raw_targets: RawTargets = False
    standardize: Standardize = False
    forget: Forget = None

    @property
    def prepared(self) -> dict[str, Any]:
        """How a model is to prepare examples."""
        return {"scale_targets": not self.raw_targets, "standardize": self.standardize, "forget": self.forget}


def reading_as_learnt(
    model: Model, notes: dict[str, Any], given: dict[str, Any], leave: Sequence[str] = ()
) -> dict[str, Any]:
    """The options by which a model's stream was read, as its file notes them, but for those given now."""
    stored = {name: value for name, value in notes.get("reading", {}).items() if name not in leave}
    return {**stored, **given, "space": model.space, "inherited": tuple(set(stored) - set(given))}


def check_task(task: str | None) -> None:
    """Refuse a task that is not a word for one."""
    if task not in TASKS:
        raise OuzelError(f"--task takes {', '.join(filter(None, TASKS))}; got {task!r}")


def reading_options(*given: Labels | Kinds | Lines | Messages | Hashing | Reading, **more: Any) -> dict[str, Any]:
    """The options of reading that were given, as the library takes them."""
    options = {name: value for group in given for name, value in values(group).items()} | more
    columns, limits = options.pop("columns", None), options.pop("limit", None)
    read = {name: tuple(value) or None if isinstance(value, list) else value for name, value in options.items()}
    read |= {name: value or None for name, value in read.items() if isinstance(value, bool)}
    read["columns"] = tuple(name.strip() for name in columns.split(",")) if columns else None
    read["limits"] = dict(_pair("limit", pair) for pair in limits) if limits else None
    return {name: value for name, value in read.items() if value is not None}


def settings_given(pairs: list[str] | None, **flags: str | None) -> dict[str, Any]:
    """The settings of a learner that were given, by flags of their own and by --set."""
    given: dict[str, Any] = {name: value for name, value in flags.items() if value is not None}
    if ":" in given.get("loss", ""):
        from ouzel.learners.plugins import loss_named

        given["loss"] = loss_named(given["loss"])
    for pair in pairs or ():
        name, value = _pair("set", pair)
        given[name.replace("-", "_")] = value
    return given


def check_counts(**counts: int | None) -> None:
    """Refuse numbers below 0 given for options that count something."""
    for name, value in counts.items():
        if value is not None:
            check(f"--{name.replace('_', '-')}", COUNT, value)


def check_plot(plot: str | None) -> None:
    """Refuse, before anything is read, a picture that could not be drawn."""
    if plot is not None:
        from ouzel.plotting.axes import check_plot_path

        check_plot_path(plot)


def check_most_classes(most: int | None) -> None:
    """Refuse a number of classes that no model has."""
    if most is not None:
        from ouzel.model.label_encoder import MOST_CLASSES

        check("--most-classes", Range(1, MOST_CLASSES, whole=True), most)


def _pair(flag: str, pair: str) -> tuple[str, str]:
    """The two halves of NAME=VALUE."""
    name, _, value = map(str.strip, pair.partition("="))
    if not name or not value:
        raise OuzelError(f"--{flag} takes NAME=VALUE, such as {EXAMPLES[flag]}; got {pair!r}")
    return name, value
